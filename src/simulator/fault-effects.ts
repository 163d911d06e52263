import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Clock } from '../model/clock.ts';
import { own } from '../model/own.ts';
import { type Answer, documentAnswer, errorAnswer, sendAnswer } from './answer.ts';
import type { Fault, FirstMetricFault, SizeFault, ThrottleHint } from './fault.ts';
import { withGraphqlFault } from './graphql-fault-effects.ts';
import type { JournalEntry } from './journal.ts';
import type { MetricDataDocument } from './metric-data.ts';
import { lastOf } from './request.ts';
import type { Intercept } from './simulator-options.ts';

const json = { 'Content-Type': 'application/json; charset=utf-8' };
const html = { 'Content-Type': 'text/html; charset=utf-8' };
const loginPage =
  '<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n';

function hintHeader(hint: ThrottleHint, wallMs: number): readonly [string, string] {
  if ('text' in hint) return [hint.header, hint.text];
  // The `Date` of the answer has whole seconds.
  const thenSeconds = Math.floor(wallMs / 1000) + hint.inSeconds;
  if (hint.header !== 'Retry-After') return [hint.header, String(thenSeconds)];
  const text =
    hint.form === 'seconds' ? String(hint.inSeconds) : new Date(thenSeconds * 1000).toUTCString();
  return [hint.header, text];
}

function ok(body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status: 200, headers: { ...json, ...headers }, body };
}

function paged(text: string, page: number): string {
  return text.replaceAll('{page}', String(page)).replaceAll('{next}', String(page + 1));
}

const fixedBodies: Readonly<Record<string, string>> = {
  empty: '',
  error_object: '{"error":{"title":"An unexpected error has occurred"}}',
  truncated_json: '{"applications":[{"id":101,"name":"shop","lang',
};

function statusAnswer(status: number, body: string | undefined): Answer {
  const title = status === 401 ? 'The API key provided is invalid' : `An error, ${status}`;
  if (body === undefined) return errorAnswer(status, title);
  return { status, headers: body.startsWith('<') ? html : json, body };
}

/** The complete answer of a fault that sends one. `page` is the one that the request asked for. */
function answerOf(fault: Fault, wallMs: number, page: number): Answer | undefined {
  if (fault.kind === 'html') return { status: 200, headers: html, body: loginPage };
  if (fault.kind === 'status') return statusAnswer(fault.status, fault.body);
  if (fault.kind === 'redirect') {
    return { status: 302, headers: { Location: fault.location }, body: '' };
  }
  if (fault.kind === 'throttled') {
    const hints = fault.hints.map((hint) => hintHeader(hint, wallMs));
    const headers = { ...json, ...Object.fromEntries(hints) };
    return { status: 429, headers, body: fault.body ?? '{}' };
  }
  if (fault.kind === 'document') {
    const { body, link } = fault;
    return ok(paged(body, page), link === undefined ? {} : { Link: paged(link, page) });
  }
  const fixed = own(fixedBodies, fault.kind);
  return fixed === undefined ? undefined : ok(fixed);
}

const partOfBody = '{"applications":[{"id":101,"name":"sh';
const announcedBytes = 1000;

function sendPart(response: ServerResponse, then?: () => void): void {
  response.writeHead(200, { ...json, 'Content-Length': announcedBytes });
  response.write(partOfBody, then);
}

function drip(response: ServerResponse, everyMs: number, clock: Clock): void {
  let cancel: (() => void) | undefined;
  const sendByte = (): void => {
    response.write(' ');
    cancel = clock.after(everyMs, sendByte);
  };
  response.once('close', () => {
    cancel?.();
  });
  response.writeHead(200, json);
  sendByte();
}

/** Breaks the answer on the wire, if the fault is of that kind. */
function breakOnTheWire(fault: Fault, response: ServerResponse, clock: Clock): boolean {
  const { socket } = response;
  const wire = new Map<Fault['kind'], () => unknown>([
    ['silence', () => undefined],
    ['stall', () => sendPart(response)],
    ['reset', () => socket?.resetAndDestroy()],
    ['reset_in_body', () => sendPart(response, () => socket?.resetAndDestroy())],
    ['close', () => socket?.end()],
    ['short_body', () => sendPart(response, () => socket?.end())],
    ['garbage', () => socket?.end('SSH-2.0-OpenSSH_9.2\r\n')],
  ]).get(fault.kind);
  if (wire !== undefined) wire();
  else if (fault.kind === 'drip') drip(response, fault.everyMs, clock);
  else if ('bytes' in fault) sendMuch(fault, response);
  return wire !== undefined || fault.kind === 'drip' || 'bytes' in fault;
}

function sendMuch({ kind, bytes }: SizeFault, response: ServerResponse): void {
  const blanks = Buffer.alloc(bytes, ' ');
  if (kind === 'huge_body') response.writeHead(200, json).end(blanks);
  else if (kind === 'gzip_bomb') {
    response.writeHead(200, { ...json, 'Content-Encoding': 'gzip' }).end(gzipSync(blanks));
  } else {
    response.writeHead(200, { ...json, 'X-Padding': 'x'.repeat(bytes) }).end('{}');
  }
}

type Metric = MetricDataDocument['metric_data']['metrics'][number];

function isMetricData(document: unknown): document is MetricDataDocument {
  return (
    typeof document === 'object' && document !== null && Object.hasOwn(document, 'metric_data')
  );
}

function hasAll({ timeslices }: Metric, values: readonly string[]): boolean {
  return timeslices.every((slice) => values.every((name) => Object.hasOwn(slice.values, name)));
}

function withoutValues({ name, timeslices }: Metric): Metric {
  return { name, timeslices: timeslices.map((slice) => ({ ...slice, values: {} })) };
}

/**
 * Takes the values of all metrics but the first away, if there is a metric that lacks one of the values
 * that were asked for. Other answers stay as they are.
 */
export function withFirstMetricOnly(
  { others }: FirstMetricFault,
  values: readonly string[],
  answer: Answer,
): Answer {
  if (answer.status !== 200 || answer.body === '') return answer;
  const document: unknown = JSON.parse(answer.body);
  if (!isMetricData(document)) return answer;
  const { metric_data: data } = document;
  const [first, ...rest] = data.metrics;
  if (first === undefined || data.metrics.every((metric) => hasAll(metric, values))) return answer;
  return documentAnswer({
    metric_data:
      others === 'without_values'
        ? { ...data, metrics: [first, ...rest.map(withoutValues)] }
        : { ...data, metrics_found: [first.name], metrics: [first] },
  });
}

/**
 * Answers a request with a fault, or tells how the normal answer changes. `clock` is the simulator's.
 */
export function commitFault(
  fault: Fault,
  request: JournalEntry,
  response: ServerResponse,
  clock: Clock,
): ReturnType<Intercept> {
  if (breakOnTheWire(fault, response, clock)) return 'handled';
  const query = new URLSearchParams(request.query);
  const answer = answerOf(fault, clock.wallMs(), Number(lastOf(query, 'page') ?? 1));
  if (answer !== undefined) {
    sendAnswer(response, answer);
    return 'handled';
  }
  return fault.kind === 'first_metric_only'
    ? (normal) => withFirstMetricOnly(fault, query.getAll('values[]'), normal)
    : (normal, ask) => withGraphqlFault(fault, request.graphql?.asks ?? [], normal, ask);
}
