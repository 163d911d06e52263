import type { IncomingMessage, ServerResponse } from 'node:http';
import pLimit from 'p-limit';
import type { StatusSource } from '../model/status.ts';
import type { Logger } from '../model/telemetry.ts';
import { toOpenMetrics } from '../publish/open-metrics.ts';
import { gzipMember, type Page } from '../publish/page.ts';
import { type Answer, plainAnswer, send } from './answer.ts';
import { contentTypes, formatFor, prefersGzip } from './negotiation.ts';
import type { Readiness } from './readiness.ts';
import { pathOf } from './request-parts.ts';
import { createStatusRoutes } from './status-routes.ts';
import type { WebGuard } from './web-guard.ts';

export interface HandlerOptions {
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

export interface HandlerDependencies extends MetricsSources {
  /** Reads the configuration again; rejects with the reason if it is wrong. Absent if not allowed. */
  readonly reload?: (() => Promise<void>) | undefined;
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
  /** Stands before all routes; absent if there is no web configuration file. */
  readonly guard?: WebGuard | undefined;
  readonly logger: Logger;
}

export type Route = (
  request: IncomingMessage,
  response: ServerResponse,
) => Answer | Promise<Answer>;

/**
 * Lets routes wait for each other. Each of them goes through all applications, and many browsers may ask
 * at the same moment. So a scrape waits for a part of one answer, not for all of them.
 */
export function createOneAtATime({
  nextTurn,
}: Pick<HandlerDependencies, 'nextTurn'>): (route: Route) => Route {
  const limit = pLimit(1);
  return (route) => async (request, response) =>
    limit(async () => {
      await nextTurn();
      if (request.socket.destroyed) return plainAnswer(503, 'The client did not wait.');
      return route(request, response);
    });
}

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

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
    if (request.socket.destroyed) return plainAnswer(503, 'The client did not wait.');
    if (making.size + waiting.size >= maxRequests) {
      const [oldest] = waiting;
      if (oldest === undefined) {
        return plainAnswer(
          503,
          `Limit of concurrent scrapes reached (${maxRequests}). Try again later, or raise --web.max-requests.`,
        );
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

/**
 * Answers scrapes with the stored page, which is the same in both formats, followed by the exporter's
 * own metrics. Only these are rendered and compressed for each scrape.
 */
export function createMetricsRoute(
  sources: MetricsSources,
): (request: IncomingMessage) => Promise<Answer> {
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
    if (!prefersGzip(acceptEncoding)) return { status: 200, headers, body: [page.identity, own] };
    return {
      status: 200,
      headers: { ...headers, 'Content-Encoding': 'gzip' },
      body: await gzipMember(page, own),
    };
  };
}

/** Answers the liveness probe, which restarts the process after a 503. */
function healthAnswer(stalled: string | undefined): Answer {
  if (stalled === undefined) return plainAnswer(200, 'Healthy.');
  return plainAnswer(
    503,
    `Unhealthy: ${stalled}. It will not recover by itself: restart the exporter, and report its log as a bug.`,
  );
}

function routesOf(
  { telemetryPath, maxRequests }: HandlerOptions,
  dependencies: HandlerDependencies,
  readiness: Readiness,
): ReadonlyMap<string, Route> {
  const { status } = dependencies;
  const oneAtATime = createOneAtATime(dependencies);
  const pages = createStatusRoutes({ telemetryPath }, dependencies);
  return new Map<string, Route>([
    ...[...pages].map(([path, route]): [string, Route] => [path, oneAtATime(route)]),
    ['/-/healthy', () => healthAnswer(dependencies.stalled())],
    ['/-/ready', () => readiness.answer(status.accounts(), status.process().reload)],
    [telemetryPath, limited(maxRequests, createMetricsRoute(dependencies))],
  ]);
}

const reloadPath = '/-/reload';

async function reloadAnswer(
  { method, headers }: IncomingMessage,
  reload: (() => Promise<void>) | undefined,
): Promise<Answer> {
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
    await reload();
    return plainAnswer(200, 'Configuration reloaded.');
  } catch (error) {
    return plainAnswer(500, error instanceof Error ? error.message : String(error));
  }
}

/** Answers every request. A source that fails costs no more than a 500. */
export function createRequestHandler(
  options: HandlerOptions,
  dependencies: HandlerDependencies,
  readiness: Readiness,
): RequestHandler {
  const routes = routesOf(options, dependencies, readiness);

  const answerOf = async (request: IncomingMessage, response: ServerResponse): Promise<Answer> => {
    if (pathOf(request) === reloadPath) return reloadAnswer(request, dependencies.reload);
    const route = routes.get(pathOf(request));
    if (route === undefined) {
      return plainAnswer(404, `Not found. The metrics are at ${options.telemetryPath}.`);
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return plainAnswer(405, 'Method not allowed. Use GET or HEAD.', { Allow: 'GET, HEAD' });
    }
    return route(request, response);
  };

  const guardedAnswerOf = dependencies.guard?.(answerOf) ?? answerOf;

  return async (request, response) => {
    let answer: Answer;
    try {
      answer = await guardedAnswerOf(request, response);
    } catch (error) {
      dependencies.logger.error({ error, path: pathOf(request) }, 'request failed');
      answer = plainAnswer(500, 'Internal error. The log of the exporter has the reason.');
    }
    // After every check that may refuse a request, so that refused scrapes are counted too.
    if (pathOf(request) === options.telemetryPath) dependencies.scraped(answer.status);
    send(request, response, answer);
  };
}
