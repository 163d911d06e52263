import type { IncomingMessage, ServerResponse } from 'node:http';
import pLimit from 'p-limit';
import type { Clock } from '../model/clock.ts';
import type { AccountDetails, ReloadStatus, StatusSource } from '../model/status.ts';
import type { Logger } from '../model/telemetry.ts';
import { gzipMember, type Page, toOpenMetrics } from '../publish/page.ts';
import {
  compressed,
  contentTypes,
  formatFor,
  jsonAnswer,
  paramsOf,
  pathOf,
  plainAnswer,
  prefersGzip,
  type Route,
  send,
  textAnswer,
  type WebAnswer,
} from './answer.ts';
import { applicationPage, unknownApplicationPage } from './status/application-page.ts';
import { refreshScript, scriptPath } from './status/refresh-script.ts';
import { configPage, statusPage } from './status/status-page.ts';
import { styleSource } from './status/style.ts';
import { targetsJson, targetsQueryOf } from './status/targets-json.ts';
import { type Access, guarded } from './web-guard.ts';

export interface RouteOptions {
  /** The path of the metrics, such as `/metrics`. */
  readonly telemetryPath: string;
  /** The limit of scrapes at a time; above it, the answer that has waited longest is cut off. */
  readonly maxRequests: number;
}

export interface MetricsSources {
  /** New Relic's series, rendered and compressed. */
  page(): Promise<Page>;
  /** The exporter's own metrics, in text format 0.0.4. */
  selfMetrics(): Promise<string>;
}

/** The daemon as its server sees it. */
export interface ServerContext extends MetricsSources {
  /** Reads the configuration again; rejects with the reason if it is wrong. Absent if not allowed. */
  readonly reload?: (() => Promise<string | undefined>) | undefined;
  /** Called for each request for the metrics, whatever became of it, with the status of the answer. */
  scraped(status: number): void;
  readonly status: StatusSource;
  /** Resolves after other work of the process has had its turn. */
  readonly nextTurn: () => Promise<void>;
  /**
   * Which part of this process hangs, and since when, such as "polling has stood still since
   * 2026-01-31T10:00:00.000Z"; `undefined` while nothing hangs. It never tells New Relic's state.
   */
  stalled(): string | undefined;
  /** Absent if there is no web configuration file. */
  readonly access?: Access | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Routes = readonly (readonly [path: string, route: Route])[];

const noClient = plainAnswer(503, 'The client did not wait.');

/**
 * Answers scrapes with the stored page, which is the same in both formats, followed by the exporter's
 * own metrics. Only these are rendered and compressed for each scrape.
 */
export function createMetricsRoute(
  sources: MetricsSources,
): (request: IncomingMessage) => Promise<WebAnswer> {
  return async (request) => {
    const { accept, 'accept-encoding': acceptEncoding } = request.headers;
    const format = formatFor(accept);
    const [page, text] = await Promise.all([sources.page(), sources.selfMetrics()]);
    const own = Buffer.from(format === 'openmetrics' ? toOpenMetrics(text) : text);
    const headers = {
      'Content-Type': contentTypes[format],
      'Cache-Control': 'no-store',
      Vary: 'Accept, Accept-Encoding',
    };
    if (!prefersGzip(acceptEncoding))
      return { status: 200, headers, body: [...page.identity, own] };
    const body = await gzipMember(page, own);
    return { status: 200, headers: { ...headers, 'Content-Encoding': 'gzip' }, body };
  };
}

/**
 * Limits the concurrent scrapes. A scrape ends when its last byte has left. When there is one too many,
 * the answer that has waited longest for its reader is cut off: readers that stall keep nobody out. The
 * new one is refused only while all answers are still being made.
 */
function limited(maxRequests: number, route: Route): Route {
  const making = new Set<ServerResponse>();
  // Sets iterate in the order of insertion.
  const waiting = new Set<ServerResponse>();
  return async (request, response) => {
    // A response that is closed already would never leave the sets.
    if (request.socket.destroyed) return noClient;
    if (making.size + waiting.size >= maxRequests) {
      const [oldest] = waiting;
      if (oldest === undefined) {
        const limit = `Limit of concurrent scrapes reached (${maxRequests}).`;
        return plainAnswer(503, `${limit} Try again later, or raise --web.max-requests.`);
      }
      // Before its `close` event: more requests may come until then.
      waiting.delete(oldest);
      oldest.req.socket.destroy();
    }
    making.add(response);
    response.once('close', () => {
      making.delete(response);
      waiting.delete(response);
    });
    try {
      return await route(request, response);
    } finally {
      if (making.delete(response)) waiting.add(response);
    }
  };
}

/** Browsers say that they want HTML; `?format=yaml` says otherwise. */
function wantsHtml(request: IncomingMessage): boolean {
  return (
    paramsOf(request).get('format') !== 'yaml' && /text\/html/i.test(request.headers.accept ?? '')
  );
}

/** The pages for people and the answers for programs, by their paths. */
function statusRoutes(
  { telemetryPath }: RouteOptions,
  { status: source, nextTurn }: ServerContext,
): Routes {
  const context = { telemetryPath };
  // The style has a hash, and the script an address of its own: nothing else is styled or run.
  const policy = `default-src 'none'; style-src ${styleSource()}; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
  const headers = { 'Content-Security-Policy': policy };
  const pageAnswer = (text: string, status = 200): WebAnswer =>
    textAnswer(status, 'text/html; charset=utf-8', text, headers);

  return [
    ['/', (request) => pageAnswer(statusPage(source, paramsOf(request), context))],
    [
      '/config',
      (request) => {
        if (wantsHtml(request)) return pageAnswer(configPage(source, context));
        const text = source.effectiveConfig();
        return text === undefined
          ? plainAnswer(503, 'There is no usable configuration yet. The status page says why.')
          : textAnswer(200, 'text/yaml; charset=utf-8', text);
      },
    ],
    [
      '/applications',
      (request) => {
        const params = paramsOf(request);
        const page = applicationPage(source, params, context);
        return page === undefined
          ? pageAnswer(unknownApplicationPage(params, context), 404)
          : pageAnswer(page);
      },
    ],
    [scriptPath, () => textAnswer(200, 'text/javascript; charset=utf-8', refreshScript)],
    [
      '/api/v1/targets',
      async (request) => {
        const query = targetsQueryOf(paramsOf(request));
        if ('problem' in query) {
          return jsonAnswer(400, { status: 'error', errorType: 'bad_data', error: query.problem });
        }
        const body: Buffer[] = [];
        for (const part of targetsJson(source, query)) {
          body.push(Buffer.from(part));
          await nextTurn();
        }
        return { ...textAnswer(200, 'application/json', ''), body };
      },
    ],
  ];
}

/**
 * Lets routes wait for each other. Each of them goes through all applications, and many browsers may ask
 * at the same moment. So a scrape waits for a part of one answer, not for all of them.
 */
function oneAtATime(routes: Routes, nextTurn: () => Promise<void>): Routes {
  const limit = pLimit(1);
  return routes.map(([path, route]) => [
    path,
    async (request, response) =>
      limit(async () => {
        await nextTurn();
        if (request.socket.destroyed) return noClient;
        return compressed(request, await route(request, response));
      }),
  ]);
}

/** Answers the liveness probe, which restarts the process after a 503. */
function healthAnswer(stalled: string | undefined): WebAnswer {
  if (stalled === undefined) return plainAnswer(200, 'Healthy.');
  return plainAnswer(
    503,
    `Unhealthy: ${stalled}. It will not recover by itself: restart the exporter, and report its log as a bug.`,
  );
}

function readinessPhase(account: AccountDetails): 'discovering' | 'polling' | 'ready' {
  if (account.firstCycleEnded) return 'ready';
  return account.up === true || account.applications > 0 ? 'polling' : 'discovering';
}

/**
 * Ready once the first cycle of every account has ended, well or badly, and ever after: an account
 * that a reload adds must not take the others' series away from Prometheus.
 */
export class Readiness {
  #hasBeenReady = false;
  #isEnding = false;

  /** From now on the answer is 503. */
  endService(): void {
    this.#isEnding = true;
  }

  /** Without a configuration in force there are no accounts. */
  answer(
    accounts: readonly AccountDetails[],
    { inForceSinceMs, problem }: Pick<ReloadStatus, 'inForceSinceMs' | 'problem'>,
  ): WebAnswer {
    const isInForce = inForceSinceMs !== undefined;
    this.#hasBeenReady ||= isInForce && accounts.every(({ firstCycleEnded }) => firstCycleEnded);
    const isReady = this.#hasBeenReady && !this.#isEnding;
    return jsonAnswer(isReady ? 200 : 503, {
      ready: isReady,
      shutting_down: this.#isEnding,
      config: problem ?? (isInForce ? null : 'the configuration is being read'),
      accounts: accounts.map((account) => ({
        name: account.name,
        phase: readinessPhase(account),
        up: account.up ?? null,
        applications: account.applications,
        polled: account.polledApplications,
        hosts: account.hosts,
        error: account.error ?? null,
      })),
    });
  }
}

const reloadPath = '/-/reload';

async function reloadAnswer(
  { method, headers }: IncomingMessage,
  reload: ServerContext['reload'],
): Promise<WebAnswer> {
  if (method !== 'POST') {
    return plainAnswer(405, 'A reload changes something: use POST for it.', { Allow: 'POST' });
  }
  if (reload === undefined) {
    return plainAnswer(
      403,
      'Reloading over HTTP is off. Start with --web.enable-lifecycle for it.',
    );
  }
  // Browsers send one of these with each POST, programs such as curl send neither. Which site a page comes
  // from cannot be told: its name may lead here, too (DNS rebinding). No page of ours asks for a reload.
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) {
    return plainAnswer(
      403,
      'A reload that a page in a browser asks for is refused. Use curl -X POST for it.',
    );
  }
  try {
    const problem = await reload();
    return problem === undefined
      ? plainAnswer(200, 'Configuration reloaded.')
      : plainAnswer(500, problem);
  } catch (error) {
    return plainAnswer(500, error instanceof Error ? error.message : String(error));
  }
}

/** Answers every request. A source that fails costs no more than a 500. */
export function createRequestHandler(
  options: RouteOptions,
  context: ServerContext,
  readiness: Readiness,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { telemetryPath, maxRequests } = options;
  const { status, access, logger } = context;
  const routes = new Map<string, Route>([
    ...oneAtATime(statusRoutes(options, context), context.nextTurn),
    ['/-/healthy', () => healthAnswer(context.stalled())],
    ['/-/ready', () => readiness.answer(status.accounts(), status.process().reload)],
    [telemetryPath, limited(maxRequests, createMetricsRoute(context))],
  ]);

  const routed: Route = async (request, response) => {
    if (pathOf(request) === reloadPath) return reloadAnswer(request, context.reload);
    const route = routes.get(pathOf(request));
    if (route === undefined) {
      return plainAnswer(404, `Not found. The metrics are at ${telemetryPath}.`);
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return plainAnswer(405, 'Method not allowed. Use GET or HEAD.', { Allow: 'GET, HEAD' });
    }
    return route(request, response);
  };
  const answerOf = access === undefined ? routed : guarded(access, logger, routed);

  return async (request, response) => {
    let answer: WebAnswer;
    try {
      answer = await answerOf(request, response);
    } catch (error) {
      logger.error({ error, path: pathOf(request) }, 'request failed');
      answer = plainAnswer(500, 'Internal error. The log of the exporter has the reason.');
    }
    // After every check that may refuse a request, so that refused scrapes are counted too.
    if (pathOf(request) === telemetryPath) context.scraped(answer.status);
    send(request, response, answer);
  };
}
