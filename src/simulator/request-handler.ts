import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../model/clock.ts';
import { type Answer, errorAnswer, overQuotaAnswer, withoutBody } from './answer.ts';
import { acceptsJson, type Credentials, readCredentials } from './credentials.ts';
import { type Endpoint, parseEndpoint } from './endpoint.ts';
import type { JournalEntry, JournalWriter } from './journal.ts';
import type { Quota, QuotaVerdict } from './quota.ts';
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
  /** The delay of the next answer. */
  readonly nextLatencyMs: () => number;
}

/** Takes requests from their arrival to the end of their answer. */
export interface RequestHandler {
  handle(incoming: IncomingMessage, response: ServerResponse): void;
  inFlight(): number;
  /** Drops the answers that are still due. */
  cancel(): void;
}

interface ParsedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly endpoint: Endpoint | undefined;
  readonly accept: string | undefined;
  readonly remotePort: number | undefined;
  readonly credentials: Credentials;
}

function parseRequest(incoming: IncomingMessage, apiKeys: readonly string[]): ParsedRequest {
  const target = incoming.url ?? '/';
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  return {
    method: incoming.method ?? 'GET',
    path,
    query: mark < 0 ? '' : target.slice(mark + 1),
    endpoint: parseEndpoint(path),
    accept: incoming.headers.accept,
    remotePort: incoming.socket.remotePort,
    credentials: readCredentials(incoming.headers, apiKeys),
  };
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

/** Node would write the machine's time, which a client compares with the quota's reset. */
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
    const verdict = credentials.kind === 'valid' ? quota.take(credentials.key) : undefined;
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
      // Not at `finish`: a large answer may reach the client, and its next request us, before that.
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
