import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import type { TransactionType } from '../../../src/model/application.ts';
import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import type { Values } from '../../../src/model/polled-series.ts';
import type { Unit } from '../../../src/model/vendor-value.ts';
import {
  type BothValues,
  changeOf,
  comparedValues,
  type PolledTwice,
  type Verdict,
  verdictOf,
} from '../../../src/tools/compare/compare-values.ts';
import { anApplication, anEntry, throughputSeries } from '../../support/builders.ts';

type Rates = Readonly<Partial<Record<TransactionType, number>>>;

function ratesOf({ web, other }: Rates): Values {
  return [web, other];
}

function anOutcome(
  application: Rates,
  hosts: Readonly<Record<string, Rates>> = {},
  overrides: Partial<PollOutcome> = {},
): PollOutcome {
  return {
    reading: {
      windowEndMs: 0,
      series: throughputSeries,
      application: ratesOf(application),
      hosts: new Map(Object.entries(hosts).map(([id, rates]) => [id, ratesOf(rates)])),
    },
    error: undefined,
    failed: new Set(),
    partCount: 1,
    gone: false,
    unauthorized: false,
    hosts: new Map(Object.keys(hosts).map((id) => [id, id])),
    ...overrides,
  };
}

function rowsOf(polled: Partial<PolledTwice>): readonly (string | number | undefined)[][] {
  const values = comparedValues({
    account: 'main',
    application: anApplication(),
    entry: anEntry({ transactions: ['web'] }),
    rest: anOutcome({}),
    nerdgraph: anOutcome({}),
    ...polled,
  });
  return values.map(({ host, series, rest, nerdgraph, verdict }) => [
    host,
    series.transactionType ?? series.gauge.name,
    rest,
    nerdgraph,
    verdict,
  ]);
}

const refused = new ApiError('server', 'status 500');

describe('comparedValues', () => {
  it('compares every gauge, and of hosts with two ids only what can be added', () => {
    const entry = anEntry({
      transactions: ['web'],
      poll: { metrics: ['throughput', 'response_time', 'apdex'] },
    });
    const reading = (values: Values, hosts: ReadonlyMap<string, Values>): Partial<PollOutcome> => ({
      reading: { windowEndMs: 0, series: entry.series, application: values, hosts },
    });
    const two = new Map([
      ['11', [1, 0.2, 0.9]],
      ['12', [2, 0.1, 0.9]],
    ]);
    const one = new Map([['web-1', [3, 0.15, 0.9]]]);
    const hostNames = new Map([
      ['11', 'web-1'],
      ['12', 'web-1'],
    ]);

    const rows = rowsOf({
      entry,
      rest: anOutcome({}, {}, { ...reading([3, 0.15], two), hosts: hostNames }),
      nerdgraph: anOutcome({}, { 'web-1': {} }, reading([3, 0.2, 0.9], one)),
    });

    expect(rows).toEqual([
      [undefined, 'web', 3, 3, 'equal'],
      [undefined, 'web', 0.15, 0.2, 'differs'],
      [undefined, 'newrelic_application_apdex_score', undefined, 0.9, 'only NerdGraph'],
      ['web-1', 'web', 3, 3, 'equal'],
    ]);
  });

  it('compares the application with each transaction type that its entry has', () => {
    const both = anOutcome({ web: 10, other: 20 });

    const rows = ['web', 'other'].map((type) => [undefined, type, type === 'web' ? 10 : 20]);
    const entry = anEntry();
    expect(rowsOf({ entry, rest: both, nerdgraph: both }).map((row) => row.slice(0, 3))).toEqual(
      rows,
    );
    expect(rowsOf({ rest: both, nerdgraph: both })).toEqual([[undefined, 'web', 10, 10, 'equal']]);
  });

  it('joins hosts by name, in the order of the names', () => {
    const rest = anOutcome(
      {},
      { '11': { web: 1 }, '12': { web: 2 } },
      { hosts: new Map(Object.entries({ '11': 'web-2', '12': 'web-1' })) },
    );
    const nerdgraph = anOutcome({}, { 'web-2': { web: 1 }, 'web-1': { web: 2 } });

    expect(rowsOf({ rest, nerdgraph })).toEqual([
      ['web-1', 'web', 2, 2, 'equal'],
      ['web-2', 'web', 1, 1, 'equal'],
    ]);
  });

  it('adds the values of hosts that have one name in REST, and counts their ids', () => {
    const rest = anOutcome(
      {},
      { '11': { web: 1 }, '12': { web: 2 } },
      { hosts: new Map(Object.entries({ '11': 'web', '12': 'web' })) },
    );
    const polled = { rest, nerdgraph: anOutcome({}, { web: { web: 3 } }) };

    expect(rowsOf(polled)).toEqual([['web', 'web', 3, 3, 'equal']]);
    const values = comparedValues({
      account: 'main',
      application: anApplication(),
      entry: anEntry(),
      ...polled,
    });
    expect(values.map(({ hostIds }) => hostIds)).toEqual([2]);
  });

  it('takes the id of a host without a name for its name', () => {
    const names = new Map([['12', 'db']]);
    const rest = anOutcome({}, { '11': { web: 1 }, '12': { web: 2 } }, { hosts: names });
    const nerdgraph = anOutcome({}, { web: { web: 1 }, db: { web: 2 } });

    expect(rowsOf({ rest, nerdgraph })).toEqual([
      ['11', 'web', 1, undefined, 'only REST'],
      ['db', 'web', 2, 2, 'equal'],
      ['web', 'web', undefined, 1, 'only NerdGraph'],
    ]);
  });

  it('says nothing of what neither has, and of what the entry leaves out', () => {
    const silent = anOutcome({}, { web: {} });
    const busy = anOutcome({ web: 1 }, { web: { web: 1 } });

    expect(rowsOf({ rest: silent, nerdgraph: silent })).toEqual([]);
    expect(
      rowsOf({
        entry: anEntry({ application: false, transactions: ['web'] }),
        rest: busy,
        nerdgraph: busy,
      }).map(([host]) => host),
    ).toEqual(['web']);
    expect(
      rowsOf({ entry: anEntry({ hosts: false }), rest: busy, nerdgraph: busy }).map(
        ([host]) => host,
      ),
    ).toEqual([undefined]);
  });

  it('takes 0 in one and nothing in the other for idle', () => {
    expect(rowsOf({ rest: anOutcome({ web: 0 }) })).toEqual([
      [undefined, 'web', 0, undefined, 'idle'],
    ]);
  });
});

describe('a failed call', () => {
  const failures = {
    application: anOutcome({}, {}, { failed: new Set(['application']), error: refused }),
    hosts: anOutcome({}, {}, { failed: new Set(['hosts']), error: refused }),
    host: anOutcome({}, {}, { failed: new Set(['web']), error: refused }),
    names: anOutcome({}, { '11': { web: 1 } }, { hosts: new Map() }),
  };

  it.each<{ what: keyof typeof failures; host: string | undefined; reason: string }>([
    { what: 'application', host: undefined, reason: 'status 500' },
    { what: 'hosts', host: '*', reason: 'status 500' },
    { what: 'host', host: 'web', reason: 'status 500' },
    { what: 'names', host: '*', reason: 'the names of its hosts are not known' },
  ])('for the $what leaves a value unread in either API', ({ what, host, reason }) => {
    const failed = failures[what];
    const other = anOutcome({ web: 1 }, { web: { web: 1 } });
    const common = {
      account: 'main',
      application: anApplication(),
      entry: anEntry({ transactions: ['web'] }),
    };

    const inRest = comparedValues({ ...common, rest: failed, nerdgraph: other });
    const inNerdgraph = comparedValues({ ...common, rest: other, nerdgraph: failed });

    const unread = [...inRest, ...inNerdgraph].filter(({ verdict }) => verdict === 'not read');
    expect(unread.map((value) => [value.host, value.reason])).toEqual([
      [host, `REST: ${reason}`],
      [host, `NerdGraph: ${reason}`],
    ]);
  });
});

type Row = readonly [
  what: string,
  unit: Unit,
  rest: readonly number[],
  nerdgraph: readonly number[],
  verdict: Verdict | undefined,
];

describe('the verdict', () => {
  it.each<Row>([
    ['the same', 'per_minute', [812], [812], 'equal'],
    ['rounded down', 'per_minute', [812], [812.4], 'equal'],
    ['a tie', 'per_minute', [812], [811.5], 'equal'],
    ['beyond a tie', 'per_minute', [812], [812.51], 'differs'],
    ['a power of ten', 'per_minute', [1000], [1004.9], 'equal'],
    ['beyond it', 'per_minute', [1000], [1005.1], 'differs'],
    ['a small value', 'per_minute', [0.0333], [1 / 30], 'equal'],
    ['one call more', 'per_minute', [0.0333], [2 / 30], 'differs'],
    ['a million', 'per_minute', [1_230_000], [1_234_999], 'equal'],
    ['both 0', 'per_minute', [0], [0], 'equal'],
    ['0 and more', 'per_minute', [0], [0.2], 'differs'],
    ['two ids', 'per_minute', [101, 202], [303.9], 'equal'],
    ['two other ids', 'per_minute', [101, 202], [304.1], 'differs'],
    ['idle in REST', 'per_minute', [0], [], 'idle'],
    ['idle in NerdGraph', 'per_minute', [], [0], 'idle'],
    ['absent in NerdGraph', 'per_minute', [1], [], 'only REST'],
    ['absent in REST', 'per_minute', [], [1], 'only NerdGraph'],
    ['absent in both', 'per_minute', [], [], undefined],
    ['seconds', 'seconds', [0.364], [0.3644], 'equal'],
    ['other seconds', 'seconds', [0.364], [0.3646], 'differs'],
    ['a score', 'ratio', [0.93], [0.934], 'equal'],
    ['another score', 'ratio', [0.93], [0.936], 'differs'],
    ['CPU of more than 10 cores', 'ratio', [12.6], [12.5758], 'equal'],
    ['other CPU', 'ratio', [12.6], [12.54], 'differs'],
    ['MiB', 'bytes', [101 * 1024 ** 2], [101.49 * 1024 ** 2], 'equal'],
    ['other MiB', 'bytes', [101 * 1024 ** 2], [101.6 * 1024 ** 2], 'differs'],
  ])('of %s (%s: %j and %j) is %s', (_, unit, rest, nerdgraph, verdict) => {
    expect(verdictOf({ unit, rest, nerdgraph, raw: false })).toBe(verdict);
  });

  it.each([
    { rest: 812.4, nerdgraph: 812.4, verdict: 'equal' },
    { rest: 0.1 + 0.2, nerdgraph: 0.3, verdict: 'equal' },
    { rest: 812, nerdgraph: 812.4, verdict: 'differs' },
  ])('knows no rounding of raw values: $rest and $nerdgraph', ({ rest, nerdgraph, verdict }) => {
    const both: BothValues = {
      unit: 'per_minute',
      rest: [rest],
      nerdgraph: [nerdgraph],
      raw: true,
    };

    expect(verdictOf(both)).toBe(verdict);
  });
});

describe('the change', () => {
  it.each([
    { rest: 100, nerdgraph: 112, change: 0.12 },
    { rest: 100, nerdgraph: 50, change: 0.5 },
    { rest: 0, nerdgraph: 7, change: 1 },
    { rest: undefined, nerdgraph: 7, change: 1 },
    { rest: 7, nerdgraph: undefined, change: 1 },
  ])('from $rest to $nerdgraph is $change', ({ rest, nerdgraph, change }) => {
    expect(changeOf(rest, nerdgraph)).toBeCloseTo(change);
  });
});
