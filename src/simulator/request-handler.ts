import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../model/clock.ts';
import { type Answer, errorAnswer, overQuotaAnswer, withoutBody } from './answer.ts';
import type { JournalEntry, JournalWriter } from './journal.ts';
import type { Quota, QuotaVerdict } from './quota.ts';
import { acceptsJson, type ParsedRequest, parseRequest } from './request.ts';
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
  /** The latency of the next answer. */
  readonly nextLatencyMs: () => number;
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

function arrivalOf(
  request: ParsedRequest,
  apiKeys: readonly string[],
  clock: Clock,
  inFlight: number,
): Omit<JournalEntry, 'status'> {
  return {
    monotonicMs: clock.monotonicMs(),
    wallMs: clock.wallMs(),
    method: request.method,
    path: withoutKeys(request.path, apiKeys),
    query: withoutKeys(request.query, apiKeys),
    applicationId: request.endpoint?.applicationId,
    hostId: request.endpoint?.hostId,
    remotePort: request.remotePort,
    keyIndex: request.credentials.kind === 'valid' ? request.credentials.index : undefined,
    inFlight,
  };
}

function answerTo(
  request: ParsedRequest,
  verdict: QuotaVerdict | undefined,
  routes: Routes,
): Answer {
  if (request.credentials.kind === 'missing') return errorAnswer(401, 'No API key specified');
  if (verdict === undefined) return errorAnswer(401, 'Invalid API key');
  if (!verdict.allowed) return overQuotaAnswer(verdict);
  if (request.method !== 'GET') return errorAnswer(405, 'Method Not Allowed', { Allow: 'GET' });
  const answer = routes(request.endpoint, request.path, request.query);
  return answer.status === 200 && !acceptsJson(request.accept) ? withoutBody(answer) : answer;
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

export function createRequestHandler(
  options: RequestHandlerOptions,
  dependencies: RequestHandlerDependencies,
): RequestHandler {
  const { apiKeys } = options;
  const { clock, journal, quota, routes } = dependencies;
  const pending = new Set<() => void>();
  let inFlight = 0;

  /** Runs `answer` after the latency, unless the client goes away first. */
  const later = (response: ServerResponse, answer: () => void): void => {
    const delayMs = dependencies.nextLatencyMs();
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
  };

  const handle = (incoming: IncomingMessage, response: ServerResponse): void => {
    const request = parseRequest(incoming, apiKeys);
    inFlight += 1;
    const { entry, answered } = journal.record(arrivalOf(request, apiKeys, clock, inFlight));
    const { credentials } = request;
    const verdict = credentials.kind === 'valid' ? quota.acquire(credentials.key) : undefined;
    let open = true;
    const settle = (): void => {
      if (!open) return;
      open = false;
      inFlight -= 1;
      if (response.headersSent) answered(response.statusCode);
    };
    response.once('finish', settle);
    response.once('close', settle);
    setDate(response, clock);
    if (options.intercept?.(entry, response) === 'handled') return;
    later(response, () => {
      if (response.destroyed) return;
      setDate(response, clock);
      send(response, answerTo(request, verdict, routes));
      // Before `finish`: until then a large answer may have arrived, and the client's next request too.
      settle();
    });
  };

  return {
    handle,
    inFlight: () => inFlight,
    cancel: () => {
      for (const cancel of pending) cancel();
      pending.clear();
    },
  };
}
