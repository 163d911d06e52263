import { type Answer, errorAnswer } from './answer.ts';
import type { AnswerFault, FixedFault, ThrottleHint } from './fault.ts';

/** What an answer depends on beyond its fault. */
export interface FaultMoment {
  readonly wallMs: number;
  /** The page that the request asked for. */
  readonly page: number;
}

const json = { 'Content-Type': 'application/json; charset=utf-8' };
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
  html: { status: 200, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: loginPage },
  empty: ok(''),
  error_object: ok('{"error":{"title":"An unexpected error has occurred"}}'),
  truncated_json: ok('{"applications":[{"id":101,"name":"shop","lang'),
};

function isFixed(fault: AnswerFault): fault is FixedFault {
  return fault.kind in fixedAnswers;
}

/** The answer of a fault that is a complete one. */
export function faultAnswer(fault: AnswerFault, { wallMs, page }: FaultMoment): Answer {
  if (isFixed(fault)) return fixedAnswers[fault.kind];
  switch (fault.kind) {
    case 'status': {
      const answer = errorAnswer(fault.status, titles[fault.status] ?? 'An error occurred');
      return { ...answer, body: fault.body ?? answer.body };
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
