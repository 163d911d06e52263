import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Clock } from '../model/clock.ts';
import { type Answer, errorAnswer } from './answer.ts';
import {
  type AnswerFault,
  type Fault,
  type FixedFault,
  isWireFault,
  type SizeFault,
  type ThrottleHint,
  type WireFault,
} from './fault.ts';
import { isGraphqlFault } from './graphql-fault.ts';
import { withGraphqlFault } from './graphql-fault-effects.ts';
import type { JournalEntry } from './journal.ts';
import { withFirstMetricOnly } from './metric-fault-effects.ts';
import { parseQuery } from './request.ts';
import type { Intercept } from './simulator-options.ts';

/** What an answer depends on besides its fault. */
export interface FaultMoment {
  readonly wallMs: number;
  /** The page that the request asked for. */
  readonly page: number;
}

const json = { 'Content-Type': 'application/json; charset=utf-8' };
const html = { 'Content-Type': 'text/html; charset=utf-8' };
const loginPage =
  '<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n';

const titles: Readonly<Record<number, string>> = {
  401: 'The API key provided is invalid',
  403: 'You are not allowed to perform this action',
  404: 'No Application found with the given ID',
  422: 'The time range must be at least 60 seconds',
  500: 'Internal server error',
  503: 'Service unavailable',
};

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

const fixedAnswers: Readonly<Record<FixedFault['kind'], Answer>> = {
  html: { status: 200, headers: html, body: loginPage },
  empty: ok(''),
  error_object: ok('{"error":{"title":"An unexpected error has occurred"}}'),
  truncated_json: ok('{"applications":[{"id":101,"name":"shop","lang'),
};

function isFixed(fault: AnswerFault): fault is FixedFault {
  return fault.kind in fixedAnswers;
}

/** The answer of a fault that sends a complete one. */
function faultAnswer(fault: AnswerFault, { wallMs, page }: FaultMoment): Answer {
  if (isFixed(fault)) return fixedAnswers[fault.kind];
  switch (fault.kind) {
    case 'status': {
      const answer = errorAnswer(fault.status, titles[fault.status] ?? 'An error occurred');
      if (fault.body === undefined) return answer;
      const headers = fault.body.startsWith('<') ? html : json;
      return { status: fault.status, headers, body: fault.body };
    }
    case 'throttled': {
      const hints = fault.hints.map((hint) => hintHeader(hint, wallMs));
      const headers = { ...json, ...Object.fromEntries(hints) };
      return { status: 429, headers, body: fault.body ?? '{}' };
    }
    case 'redirect':
      return { status: 302, headers: { Location: fault.location }, body: '' };
    case 'document': {
      const { body, link } = fault;
      return ok(paged(body, page), link === undefined ? {} : { Link: paged(link, page) });
    }
  }
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

function sendMuch({ kind, bytes }: SizeFault, response: ServerResponse): void {
  const blanks = Buffer.alloc(bytes, ' ');
  if (kind === 'huge_body') response.writeHead(200, json).end(blanks);
  else if (kind === 'gzip_bomb') {
    response.writeHead(200, { ...json, 'Content-Encoding': 'gzip' }).end(gzipSync(blanks));
  } else {
    response.writeHead(200, { ...json, 'X-Padding': 'x'.repeat(bytes) }).end('{}');
  }
}

/** Breaks the answer on the wire. */
function breakOnTheWire(fault: WireFault, response: ServerResponse, clock: Clock): void {
  const { socket } = response;
  if ('bytes' in fault) {
    sendMuch(fault, response);
    return;
  }
  switch (fault.kind) {
    case 'silence':
      return;
    case 'stall':
      sendPart(response);
      return;
    case 'drip':
      drip(response, fault.everyMs, clock);
      return;
    case 'reset':
      socket?.resetAndDestroy();
      return;
    case 'reset_in_body':
      sendPart(response, () => socket?.resetAndDestroy());
      return;
    case 'close':
    case 'short_body':
    case 'garbage':
      closeInOrder(fault.kind, response);
  }
}

function closeInOrder(kind: 'close' | 'short_body' | 'garbage', response: ServerResponse): void {
  const { socket } = response;
  if (kind === 'close') socket?.end();
  else if (kind === 'garbage') socket?.end('SSH-2.0-OpenSSH_9.2\r\n');
  else sendPart(response, () => socket?.end());
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
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
  if (isGraphqlFault(fault)) {
    return (answer, ask) => withGraphqlFault(fault, request.graphql?.asks ?? [], answer, ask);
  }
  if (isWireFault(fault)) {
    breakOnTheWire(fault, response, clock);
    return 'handled';
  }
  const query = parseQuery(request.query);
  if (fault.kind === 'first_metric_only') {
    return (answer) => withFirstMetricOnly(fault, query.all('values[]'), answer);
  }
  const page = Number(query.last('page') ?? 1);
  send(response, faultAnswer(fault, { wallMs: clock.wallMs(), page }));
  return 'handled';
}
