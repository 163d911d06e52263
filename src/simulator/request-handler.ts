import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../model/clock.ts';
import { createAdmission } from './admission.ts';
import type { Answer } from './answer.ts';
import type { GraphqlAsked } from './graphql-asks.ts';
import type { GraphqlRoutes } from './graphql-routes.ts';
import type { JournalEntry, JournalWriter } from './journal.ts';
import type { Quota } from './quota.ts';
import { isGraphql, type ParsedRequest, parseRequest } from './request.ts';
import { readBody } from './request-body.ts';
import type { Routes } from './routes.ts';
import type { Intercept } from './simulator-options.ts';

export interface RequestHandlerOptions {
  readonly apiKeys: readonly string[];
  readonly intercept: Intercept | undefined;
}

export interface RequestHandlerDependencies {
  readonly clock: Clock;
  readonly journal: JournalWriter;
  readonly quota: Quota;
  readonly routes: Routes;
  readonly graphql: GraphqlRoutes;
  /** The latency of the next answer. */
  readonly nextLatencyMs: (request: ParsedRequest) => number;
}

/** Takes requests from their arrival to the end of their answer. */
export interface RequestHandler {
  handle(incoming: IncomingMessage, response: ServerResponse): void;
  inFlight(): number;
  /** Drops the answers that were not sent yet. */
  cancel(): void;
}

function withoutKeys(text: string, apiKeys: readonly string[]): string {
  return apiKeys.reduce((rest, key) => (key === '' ? rest : rest.replaceAll(key, '[key]')), text);
}

/** More than the vendor's own limits let a useful query be. */
const mostBodyBytes = 1_048_576;

interface Arrival {
  readonly request: ParsedRequest;
  readonly asked: GraphqlAsked | undefined;
  /** Requests in flight, this one included. */
  readonly inFlight: number;
}

function entryOf(
  { request, asked, inFlight }: Arrival,
  hide: (text: string) => string,
  clock: Clock,
): Omit<JournalEntry, 'status'> {
  return {
    monotonicMs: clock.monotonicMs(),
    wallMs: clock.wallMs(),
    method: request.method,
    path: hide(request.path),
    query: hide(request.query),
    graphql: asked,
    applicationId: request.endpoint?.applicationId,
    hostId: request.endpoint?.hostId,
    remotePort: request.remotePort,
    keyIndex: request.credentials.kind === 'valid' ? request.credentials.index : undefined,
    inFlight,
  };
}

/** Node would write the machine's time, but a client compares `Date` with the quota's reset. */
function setDate(response: ServerResponse, clock: Clock): void {
  response.sendDate = false;
  response.setHeader('Date', new Date(clock.wallMs()).toUTCString());
}

function send(response: ServerResponse, answer: Answer): void {
  const contentLength = Buffer.byteLength(answer.body);
  response.writeHead(answer.status, { ...answer.headers, 'Content-Length': contentLength });
  response.end(answer.body);
}

/** Counts requests from their arrival to the end of their answer. */
interface Flights {
  /** The returned function counts the request out, once. */
  enter(request: ParsedRequest): () => void;
  /** Of both APIs. */
  all(): number;
  ofGraphql(): number;
}

function createFlights(): Flights {
  let all = 0;
  let ofGraphql = 0;
  return {
    enter: (request) => {
      const more = isGraphql(request) ? 1 : 0;
      let open = true;
      all += 1;
      ofGraphql += more;
      return () => {
        if (!open) return;
        open = false;
        all -= 1;
        ofGraphql -= more;
      };
    },
    all: () => all,
    ofGraphql: () => ofGraphql,
  };
}

/** Answers that wait for their latency. */
interface Delays {
  /** Runs `answer` after the latency, unless the client goes away first. */
  later(latencyMs: number, response: ServerResponse, answer: () => void): void;
  /** Drops all answers that wait. */
  cancel(): void;
}

function createDelays(clock: Clock): Delays {
  const pending = new Set<() => void>();
  return {
    later: (delayMs, response, answer) => {
      if (delayMs <= 0) {
        answer();
        return;
      }
      const cancel = clock.after(delayMs, () => {
        pending.delete(cancel);
        answer();
      });
      pending.add(cancel);
      response.once('close', () => {
        cancel();
        pending.delete(cancel);
      });
    },
    cancel: () => {
      for (const cancel of pending) cancel();
      pending.clear();
    },
  };
}

export function createRequestHandler(
  options: RequestHandlerOptions,
  dependencies: RequestHandlerDependencies,
): RequestHandler {
  const { apiKeys } = options;
  const { clock, journal } = dependencies;
  const hide = (text: string): string => withoutKeys(text, apiKeys);
  const admit = createAdmission({ ...dependencies, hide });
  const flights = createFlights();
  const delays = createDelays(clock);

  const serve = (
    request: ParsedRequest,
    body: string | undefined,
    response: ServerResponse,
  ): void => {
    const leave = flights.enter(request);
    const { asked, answer } = admit(request, body, flights.ofGraphql());
    const arrival = { request, asked, inFlight: flights.all() };
    const { entry, answered } = journal.record(entryOf(arrival, hide, clock));
    const settle = (): void => {
      leave();
      if (entry.status === undefined && response.headersSent) answered(response.statusCode);
    };
    response.once('finish', settle);
    response.once('close', settle);
    setDate(response, clock);
    const verdict = options.intercept?.(entry, response) ?? 'pass';
    if (verdict === 'handled') return;
    delays.later(dependencies.nextLatencyMs(request), response, () => {
      if (response.destroyed) return;
      setDate(response, clock);
      send(response, verdict === 'pass' ? answer() : verdict(answer(), answer));
      // Before `finish`: until then a large answer may have arrived, and the client's next request too.
      settle();
    });
  };

  return {
    handle: (incoming, response) => {
      const request = parseRequest(incoming, apiKeys);
      if (!isGraphql(request) || request.method !== 'POST') {
        serve(request, '', response);
        return;
      }
      readBody(incoming, mostBodyBytes, (body) => {
        serve(request, body, response);
      });
    },
    inFlight: () => flights.all(),
    cancel: () => {
      delays.cancel();
    },
  };
}
