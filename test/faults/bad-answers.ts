import { expect } from 'vitest';
import type { FailureReason } from '../../src/model/api-error.ts';
import type { AccountSource } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { Fault } from '../../src/simulator/fault.ts';
import { metricDataText, nestedText } from '../support/vendor-documents.ts';
import { withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { publishedOf } from './published-of.ts';
import type { FaultSource } from './sources.ts';

/** A fault and what must become of it, whatever was asked for. */
export interface BadAnswer {
  readonly what: string;
  readonly fault: Fault;
  readonly reason: FailureReason;
  /** Whether it may pass by itself, so that asking once more is worth a call. */
  readonly isRetried: boolean;
}

function bad(what: string, fault: Fault, reason: FailureReason, isRetried = false): BadAnswer {
  return { what, fault, reason, isRetried };
}

// What a cache on the way gives that does not look at the query.
const twoHoursOld = metricDataText(
  '{"requests_per_minute":4242}',
  'HttpDispatcher',
  '"from":"2026-09-01T07:50:00+00:00","to":"2026-09-01T07:55:00+00:00"',
);

const document = (body: string): Fault => ({ kind: 'document', body });

const graphqlText = (nrql: string, results: string): string =>
  `{"data":{"actor":{"account":{"nrql":${nrql}},"entitySearch":{"results":${results}}}}}`;

type BadAnswers = readonly BadAnswer[];

/** Of answers of either API, what differs in its reason or in how it is read. */
const few: BadAnswers = [
  bad('500', { kind: 'status', status: 500 }, 'server', true),
  bad('silence', { kind: 'silence' }, 'timeout', true),
  bad('cut JSON', { kind: 'truncated_json' }, 'not_json'),
  bad('an empty object', document('{}'), 'schema'),
];
/** What is found out before it matters which API was asked. */
const alike: BadAnswers = [
  bad('a redirect', { kind: 'redirect', location: 'http://other.invalid/' }, 'redirect'),
  bad('422', { kind: 'status', status: 422 }, 'client'),
  bad('100,000 arrays in each other', document(nestedText(100_000)), 'schema'),
];
const more: BadAnswers = [
  bad(
    '502 with a page',
    { kind: 'status', status: 502, body: '<p>\u001B[31m</p>' },
    'server',
    true,
  ),
  bad('the login page of a proxy', { kind: 'html' }, 'not_json'),
  bad('NaN in JSON', document('{"metric_data":NaN,"applications":NaN,"data":NaN}'), 'not_json'),
  bad('an array', document('[]'), 'schema'),
];

/** Answers with 200 whose document is none of the API. */
const fewDocuments: Readonly<Record<AccountSource['kind'], BadAnswers>> = {
  rest: [
    bad('an error in a 200', { kind: 'error_object' }, 'server'),
    bad('the data of another window', document(twoHoursOld), 'schema'),
  ],
  nerdgraph: [bad('null without an error', { kind: 'null_nrql' }, 'schema')],
};
const moreDocuments: Readonly<Record<AccountSource['kind'], BadAnswers>> = {
  rest: [
    bad('wrong types', document('{"metric_data":{"metrics":{}},"applications":{}}'), 'schema'),
  ],
  nerdgraph: [
    bad('an error of REST', { kind: 'error_object' }, 'server'),
    bad('data that is null', document('{"data":null}'), 'schema'),
    bad('nothing in the data', document(graphqlText('null', 'null')), 'schema'),
    bad('wrong types', document(graphqlText('{"results":{}}', '{"entities":{}}')), 'schema'),
  ],
};

export function fewBadAnswers({ kind }: AccountSource): readonly BadAnswer[] {
  return [...few, ...(kind === 'rest' ? alike : []), ...fewDocuments[kind]];
}

/** Those whose likes are among the few. */
export function moreBadAnswers({ kind }: AccountSource): readonly BadAnswer[] {
  return [...more, ...(kind === 'rest' ? [] : alike), ...moreDocuments[kind]];
}

/** From the third minute to the end of the seventh. */
const badTime = { fromMs: 2 * minuteMs, untilMs: 7 * minuteMs } as const;
const production = { account: 'production' };
const shop = { ...production, app_id: '101' };
const retried = 'newrelic_exporter_api_request_retries_total';

/** The polls of one application are answered so for five minutes. */
export async function expectValuesHeld(
  source: FaultSource,
  { fault, reason, isRetried }: BadAnswer,
): Promise<void> {
  const success = 'newrelic_application_poll_success';
  const failures = 'newrelic_exporter_api_request_failures_total';
  const failureInfo = 'newrelic_application_poll_failure_info';
  const script = [{ when: { ...source.pollsOf('101'), ...badTime }, fault }];
  const options = { source: source.account, entries: source.apart, script };
  await withTimedFaults(options, async (bench) => {
    await bench.advance(1.9 * minuteMs);
    const before = await bench.scrape();
    await bench.advance(5 * minuteMs);
    const during = await bench.scrape();
    const freshOnes = freshness(during, bench.clock);
    await bench.advance(4 * minuteMs);
    const after = await bench.scrape();

    expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(9);
    expect(during.value(success, shop)).toBe(0);
    expect(during.series(failureInfo)).toMatchObject([{ ...shop, reason }]);
    expect(after.series(failureInfo)).toEqual([]);
    expect(publishedOf(during, shop)).toEqual(publishedOf(before, shop));
    expect(freshOnes).toEqual(['neighbour 101', 'neighbour 102', 'production 102']);
    expect(during.value('newrelic_up', { account: 'production' })).toBe(1);
    expect(freshness(after, bench.clock)).toContain('production 101');
    expect(bench.logs('poll failed')).toMatchObject([{ app_id: '101', error: { reason } }]);
    expect(bench.logs('poll works again')).toMatchObject([{ app_id: '101' }]);
    expect(after.total(retried) > 0).toBe(isRetried);
    const hits = bench.faulty.faults.hits().length;
    expect(after.total(failures, { reason })).toBe(hits);
    expect(after.total(failures)).toBe(hits);
  });
}

/** The lists of applications are answered so for five minutes. */
export async function expectListHeld(
  source: FaultSource,
  { fault, reason, isRetried }: BadAnswer,
): Promise<void> {
  const everyone = ['neighbour 101', 'neighbour 102', 'production 101', 'production 102'];
  const up = 'newrelic_up';
  const script = [{ when: { ...source.lists, ...badTime }, fault }];
  await withTimedFaults({ source: source.account, script }, async (bench) => {
    await bench.advance(6.9 * minuteMs);
    const during = await bench.scrape();
    const duringFresh = freshness(during, bench.clock);
    await bench.advance(3 * minuteMs);
    const after = await bench.scrape();

    expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(3);
    expect(during.value(up, production)).toBe(0);
    expect(during.value(up, { account: 'neighbour' })).toBe(1);
    expect(duringFresh).toEqual(everyone);
    expect(after.value(up, production)).toBe(1);
    expect(freshness(after, bench.clock)).toEqual(everyone);
    expect(bench.logs('discovery failed')).toMatchObject([
      { account: 'production', error: { reason } },
    ]);
    expect(bench.logs('discovery works again')).toHaveLength(1);
    expect(bench.logs('poll failed')).toEqual([]);
    expect(after.total(retried) > 0).toBe(isRetried);
  });
}
