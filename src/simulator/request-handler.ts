import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../model/clock.ts';
import { type Answer, errorAnswer, overQuotaAnswer, sendAnswer } from './answer.ts';
import {
  askedOf,
  asksOf,
  type GraphqlAsked,
  graphqlRefusal,
  parseGraphqlRequest,
} from './graphql.ts';
import type { GraphqlRoutes, Rewrite } from './graphql-routes.ts';
import type { Journal, JournalEntry } from './journal.ts';
import { MinuteCounter } from './minute-counter.ts';
import { createRandom, type Random } from './random.ts';
import {
  acceptsJson,
  isGraphql,
  listsMetricNames,
  type ParsedRequest,
  parseRequest,
  readBody,
} from './request.ts';
import type { RestRoutes } from './rest-routes.ts';
import { demoApiKey, type SimulatorOptions } from './simulator-options.ts';

/** A request that was counted. */
interface Admitted {
  /** What it asks NerdGraph for; `undefined` for the REST API, and if it cannot be read. */
  readonly asked?: GraphqlAsked | undefined;
  /** Works out the answer; to be called when the latency is over. Only NerdGraph knows `rewrite`. */
  readonly answer: (rewrite?: Rewrite) => Answer;
}

/** Takes requests from their arrival to the end of their answer. */
export class RequestHandler {
  readonly #options: SimulatorOptions;
  readonly #apiKeys: readonly string[];
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #journal: Journal;
  readonly #rest: RestRoutes;
  readonly #graphql: GraphqlRoutes;
  readonly #quota: MinuteCounter;
  /** Those of answers that wait for their latency. */
  readonly #cancels = new Set<() => void>();
  #overQuota = 0;
  #inFlight = 0;
  #graphqlInFlight = 0;

  constructor(
    options: SimulatorOptions,
    clock: Clock,
    journal: Journal,
    apis: { readonly rest: RestRoutes; readonly graphql: GraphqlRoutes },
  ) {
    this.#options = options;
    this.#apiKeys = options.apiKeys ?? [demoApiKey];
    this.#random = createRandom(options.fleet?.seed ?? 1);
    this.#clock = clock;
    this.#journal = journal;
    this.#rest = apis.rest;
    this.#graphql = apis.graphql;
    this.#quota = new MinuteCounter(clock, options.quotaPhaseMs);
  }

  /** The requests of both APIs. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Those over a limit of either API. */
  get violations(): number {
    return this.#overQuota + this.#graphql.violations;
  }

  handle(incoming: IncomingMessage, response: ServerResponse): void {
    const request = parseRequest(incoming, this.#apiKeys);
    if (!isGraphql(request) || request.method !== 'POST') this.#serve(request, '', response);
    else {
      readBody(incoming, (body) => {
        this.#serve(request, body, response);
      });
    }
  }

  /** Drops the answers that were not sent yet. */
  cancel(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
  }

  #serve(request: ParsedRequest, body: string | undefined, response: ServerResponse): void {
    const leave = this.#enter(request);
    const { asked, answer } = isGraphql(request)
      ? this.#admitToGraphql(request, body)
      : this.#admitToRest(request);
    const entry = this.#journal.record(this.#entryOf(request, asked));
    const settle = (): void => {
      leave();
      if (response.headersSent) entry.status ??= response.statusCode;
    };
    response.once('finish', settle);
    response.once('close', settle);
    this.#setDate(response);
    const verdict = this.#options.intercept?.(entry, response) ?? 'pass';
    if (verdict === 'handled') return;
    this.#later(this.#latencyMs(request), response, () => {
      if (response.destroyed) return;
      this.#setDate(response);
      sendAnswer(response, verdict === 'pass' ? answer() : verdict(answer(), answer));
      // Before `finish`: until then a large answer may have arrived, and the client's next request too.
      settle();
    });
  }

  /** The returned function counts the request out, once. */
  #enter(request: ParsedRequest): () => void {
    const more = isGraphql(request) ? 1 : 0;
    let open = true;
    this.#inFlight += 1;
    this.#graphqlInFlight += more;
    return () => {
      if (!open) return;
      open = false;
      this.#inFlight -= 1;
      this.#graphqlInFlight -= more;
    };
  }

  #admitToRest({ credentials, method, endpoint, path, query, accept }: ParsedRequest): Admitted {
    if (credentials.kind !== 'valid') {
      const problem = credentials.kind === 'missing' ? 'No API key specified' : 'Invalid API key';
      return { answer: () => errorAnswer(401, problem) };
    }
    const { quotaPerMinute = 1000 } = this.#options;
    // Throttled requests count as well.
    if (this.#quota.add(credentials.key) > quotaPerMinute) {
      this.#overQuota += 1;
      const answer = overQuotaAnswer(quotaPerMinute, this.#quota.endSeconds());
      return { answer: () => answer };
    }
    if (method !== 'GET') {
      return { answer: () => errorAnswer(405, 'Method Not Allowed', { Allow: 'GET' }) };
    }
    return {
      answer: () => {
        const answer = this.#rest.answer(endpoint, path, query);
        // Who does not accept JSON gets the status without the document.
        return answer.status === 200 && !acceptsJson(accept) ? { ...answer, body: '' } : answer;
      },
    };
  }

  #admitToGraphql({ method, credentials }: ParsedRequest, body: string | undefined): Admitted {
    if (method !== 'POST') {
      return { answer: () => errorAnswer(405, 'Method Not Allowed', { Allow: 'POST' }) };
    }
    if (body === undefined)
      return { answer: () => graphqlRefusal(413, 'The request is too large') };
    const parsed = parseGraphqlRequest(body);
    const asks = parsed === undefined ? [] : asksOf(parsed);
    const asked =
      parsed === undefined ? undefined : askedOf(parsed, asks, (text) => this.#hide(text));
    if (credentials.kind !== 'valid') return { asked, answer: () => this.#graphql.refuse() };
    if (parsed === undefined) {
      return { answer: () => graphqlRefusal(400, 'The body is not a GraphQL request') };
    }
    return { asked, answer: this.#graphql.accept(parsed, asks, this.#graphqlInFlight) };
  }

  #entryOf(
    { method, path, query, endpoint, remotePort, credentials }: ParsedRequest,
    asked: GraphqlAsked | undefined,
  ): Omit<JournalEntry, 'status'> {
    return {
      monotonicMs: this.#clock.monotonicMs(),
      wallMs: this.#clock.wallMs(),
      method,
      path: this.#hide(path),
      query: this.#hide(query),
      graphql: asked,
      applicationId: endpoint?.applicationId,
      hostId: endpoint?.hostId,
      remotePort,
      keyIndex: credentials.kind === 'valid' ? credentials.index : undefined,
      inFlight: this.#inFlight,
    };
  }

  #hide(text: string): string {
    const keys = this.#apiKeys.filter((key) => key !== '');
    return keys.reduce((rest, key) => rest.replaceAll(key, '[key]'), text);
  }

  /** Node would write the machine's time, but a client compares `Date` with the quota's reset. */
  #setDate(response: ServerResponse): void {
    response.sendDate = false;
    response.setHeader('Date', new Date(this.#clock.wallMs()).toUTCString());
  }

  #latencyMs({ endpoint }: ParsedRequest): number {
    const { latencyMs = 0, metricNamesLatencyMs = 0 } = this.#options;
    const more = listsMetricNames(endpoint) ? metricNamesLatencyMs : 0;
    if (typeof latencyMs === 'number') return latencyMs + more;
    const [minMs, maxMs] = latencyMs;
    return minMs + this.#random.next() * (maxMs - minMs) + more;
  }

  /** Runs `answer` after the latency, unless the client goes away first. */
  #later(latencyMs: number, response: ServerResponse, answer: () => void): void {
    if (latencyMs <= 0) {
      answer();
      return;
    }
    const cancel = this.#clock.after(latencyMs, () => {
      this.#cancels.delete(cancel);
      answer();
    });
    this.#cancels.add(cancel);
    response.once('close', () => {
      cancel();
      this.#cancels.delete(cancel);
    });
  }
}
