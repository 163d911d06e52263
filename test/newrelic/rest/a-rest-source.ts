import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Clock } from '../../../src/model/clock.ts';
import type { Selector } from '../../../src/model/config.ts';
import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import type { ApplicationQuestion, Discovery, Source } from '../../../src/model/source.ts';
import type { InvalidSampleReason, UnexpectedAnswer } from '../../../src/model/telemetry.ts';
import type { AccountCalls } from '../../../src/newrelic/calls/account-calls.ts';
import type { ApiResponse, Transport } from '../../../src/newrelic/calls/transport.ts';
import type { RestClient } from '../../../src/newrelic/rest/poll.ts';
import { createRestClient, createRestSource } from '../../../src/newrelic/rest/rest-source.ts';
import { aQuestion } from '../../support/builders.ts';
import { aJob, callsAtOnce } from '../../support/calls-at-once.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import {
  answerOf,
  createFakeTransport,
  type ScriptedAnswer,
} from '../../support/fake-transport.ts';
import { neverAborted } from '../calls/fakes.ts';

/** The real source over a transport, with a record of what it reports to its observers. */
export interface SourceUnderTest {
  readonly source: Source;
  readonly client: RestClient;
  readonly invalidSamples: readonly InvalidSampleReason[];
  /** Such as `list_applications schema`. */
  readonly failures: readonly string[];
  readonly unexpected: readonly UnexpectedAnswer[];
  readonly logged: readonly Readonly<Record<string, unknown>>[];
}

export function aRestSource(
  send: Transport,
  {
    clock = createFakeClock(),
    calls = callsAtOnce({ clock }),
  }: { readonly clock?: Clock; readonly calls?: AccountCalls } = {},
): SourceUnderTest {
  const invalidSamples: InvalidSampleReason[] = [];
  const failures: string[] = [];
  const unexpected: UnexpectedAnswer[] = [];
  const logged: Readonly<Record<string, unknown>>[] = [];
  const log = (fields: Readonly<Record<string, unknown>>): void => void logged.push(fields);
  const observer = {
    invalidSample: (reason: InvalidSampleReason): void => void invalidSamples.push(reason),
    failed: (operation: string, reason: string): void =>
      void failures.push(`${operation} ${reason}`),
    unexpected: (kind: UnexpectedAnswer, count: number): void =>
      void unexpected.push(...Array<UnexpectedAnswer>(count).fill(kind)),
  };
  const logger = { debug: log, info: log, warn: log, error: log };
  const client = createRestClient({ send, clock, observer, logger });
  const vendorClock = { wallMs: () => clock.wallMs(), skewSeconds: () => undefined };
  const shared = { client, calls, vendorClock, clock, observer, logger };
  const source = createRestSource('main', shared);
  return { source, client, invalidSamples, failures, unexpected, logged };
}

/** A recorded document of the vendor. */
export function sampleText(name: string): string {
  return readFileSync(new URL(`../../samples/${name}`, import.meta.url), 'utf8');
}

export const everything: Selector = { kind: 'match', pattern: /./u };

export function byIds(...ids: readonly string[]): readonly Selector[] {
  return ids.map((id) => ({ kind: 'id', id }));
}

/** So many ids, counted up. */
export function idsFrom(first: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => String(first + index));
}

/** The header of a page that names another one as the next. */
export function nextPage(page: number | string): ApiResponse['headers'] {
  return { link: `<https://elsewhere.example/list.json?page=${page}>; rel="next"` };
}

/** A page of the list of applications: each is called `app` and its id. */
export function appsOf(ids: readonly string[], headers: ApiResponse['headers'] = {}): ApiResponse {
  const applications = ids.map((id) => ({ id: Number(id), name: `app ${id}` }));
  return answerOf({ applications }, { headers });
}

export const notFound: ApiResponse = answerOf('{}', { status: 404 });
export const serverError: ApiResponse = answerOf('', { status: 500 });

/** Answers by what is asked for: `list`, `list 2` for its second page, and ids such as `1,2`. */
export type ListScript = Readonly<Record<string, ScriptedAnswer>>;

function targetOf(asked: string): string {
  if (asked === 'list') return '/v2/applications.json';
  const isPage = asked.startsWith('list ');
  return `/v2/applications.json?${isPage ? `page=${asked.slice(5)}` : `filter[ids]=${asked}`}`;
}

/** One discovery and what it reported. */
export interface Discovered extends Discovery {
  readonly ids: readonly string[];
  readonly names: readonly string[];
  readonly reported: SourceUnderTest;
}

/** Makes one discovery by a script. Expects that the whole script was used and every call counted. */
export async function discover(
  selectors: readonly Selector[],
  script: ListScript,
  knownIds: readonly string[] = [],
): Promise<Discovered> {
  const transport = createFakeTransport(
    Object.fromEntries(Object.entries(script).map(([asked, answer]) => [targetOf(asked), answer])),
  );
  const reported = aRestSource(transport.send);

  const discovery = await reported.source.discover({ selectors }, knownIds, neverAborted);

  expect(transport.unused()).toEqual([]);
  expect(discovery.calls).toBe(transport.calls.length);
  const { applications, complete, error } = discovery;
  expect(complete).toBe(error === undefined);
  const [ids, names] = [applications.map(({ id }) => id), applications.map(({ name }) => name)];
  return { ...discovery, ids, names, reported };
}

/** Polls the applications together, all calls of a stage at once. @param wallMs when that is */
export async function polled(
  source: Source,
  applications: readonly SelectedApplication[],
  asked: Partial<ApplicationQuestion> = {},
  wallMs: number = Date.UTC(2026, 8, 1, 10, 0, 30),
): Promise<readonly PollOutcome[]> {
  const questions = applications.map((one) => aQuestion(one, asked));
  const options = { job: aJob, signal: neverAborted, windowsAtMs: wallMs };
  const groups = source.groups(questions, []).map(async (group) => {
    const outcomes: PollOutcome[] = [];
    for await (const one of source.poll(() => group, options)) {
      if (one.kind === 'application') outcomes.push(one.outcome);
    }
    return outcomes;
  });
  return (await Promise.all(groups)).flat();
}

/** Polls one application in the same way. */
export async function polledOne(
  source: Source,
  selected: SelectedApplication,
  asked?: Partial<ApplicationQuestion>,
  wallMs?: number,
): Promise<PollOutcome> {
  const [outcome, ...others] = await polled(source, [selected], asked, wallMs);
  if (outcome === undefined || others.length > 0) throw new Error('one outcome was expected');
  return outcome;
}
