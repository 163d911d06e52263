import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { applicationScope, type PollOutcome } from '../../src/model/poll-outcome.ts';
import type { PolledSeries } from '../../src/model/polled-series.ts';
import { type Asked, BatchAnswers } from '../../src/nerdgraph/batch-answers.ts';
import { type ColumnSet, columnsOf } from '../../src/nerdgraph/column-sets.ts';
import type { FacetRow, NrqlAnswer } from '../../src/nerdgraph/nrql-answer.ts';
import {
  createRecordedMetrics,
  type RecordedMetrics,
} from '../../src/nerdgraph/recorded-metrics.ts';
import { anEntry } from '../support/builders.ts';
import { row } from './a-batch.ts';

const [web, other] = ['HttpDispatcher', 'OtherTransaction/all'];

function answerOf(rows: readonly FacetRow[], minutes = 5, toMs = 600_000): NrqlAnswer {
  return { rows, isTruncated: false, window: { fromMs: toMs - minutes * 60_000, toMs } };
}

interface Bench {
  readonly answers: BatchAnswers;
  readonly applications: readonly ColumnSet[];
  readonly hosts: readonly ColumnSet[];
  /** Answers the only query about application 1. */
  readonly application: (answer: NrqlAnswer, ids?: readonly string[]) => void;
  /** Answers a query about its hosts. */
  readonly hostsAre: (answer: NrqlAnswer, isAsked?: (name: string) => boolean) => void;
  readonly recorded: RecordedMetrics;
  readonly invalid: readonly string[];
  readonly outcome: (asked?: Partial<Asked>) => PollOutcome;
}

/** Application 1 has had these metrics before. */
function aBenchOf(series: readonly PolledSeries[], ...has: readonly string[]): Bench {
  const recorded = createRecordedMetrics();
  for (const metric of has) recorded.saw('1', metric);
  const invalid: string[] = [];
  const columns = columnsOf(series);
  const answers = new BatchAnswers(columns, {
    recorded,
    onInvalid: (reason) => {
      invalid.push(reason);
    },
  });
  const { applications, hosts } = columns;
  return {
    answers,
    applications,
    hosts,
    application: (answer, ids = ['1']) => {
      const [only] = applications;
      if (only !== undefined) answers.applications(ids, only, answer);
    },
    hostsAre: (answer, isAsked = () => true) => {
      const [only] = hosts;
      if (only !== undefined) answers.hosts(['1'], isAsked, only, answer);
    },
    recorded,
    invalid,
    outcome: (asked) =>
      answers.outcome(
        { applicationId: '1', application: true, hosts: [], series, ...asked },
        undefined,
      ),
  };
}

function aBench(...has: readonly string[]): Bench {
  return aBenchOf(anEntry().series, ...has);
}

const broken = new ApiError('server', 'it broke', { status: 500 });
const refused = new ApiError('auth', 'refused', { status: 401 });
const none = [undefined, undefined];

describe('the values of an application', () => {
  it.each([
    { what: 'calls a minute', rows: [row('1', { web: 50, other: 10 })], has: [], is: [10, 2] },
    { what: 'fractions', rows: [row('1', { web: 1 })], has: [], is: [0.2, undefined] },
    {
      what: '0 for what it has had before, if it is there',
      rows: [row('1', { live: 5 })],
      has: [web],
      is: [0, undefined],
    },
    {
      what: 'nothing for what it never had',
      rows: [row('1', { live: 5, web: 5 })],
      has: [],
      is: [1, undefined],
    },
    { what: 'nothing if it is not there', rows: [], has: [web, other], is: none },
    {
      what: 'its calls without a heartbeat',
      rows: [row('1', { web: 5 })],
      has: [other],
      is: [1, undefined],
    },
    {
      what: '0 if New Relic says that there is nothing',
      rows: [{ ...row('1', { live: 5 }), cells: [null, null] }],
      has: [web],
      is: [0, undefined],
    },
    {
      what: 'nothing of what cannot be read',
      rows: [{ ...row('1', { live: 5 }), cells: [undefined, 5] }],
      has: [web],
      is: [undefined, 1],
    },
    { what: 'nothing of other applications', rows: [row('2', { web: 5 })], has: [], is: none },
  ])('are $what', ({ rows, has, is }) => {
    const { application, outcome } = aBench(...has);
    application(answerOf(rows));
    const { reading, failed, error } = outcome();

    expect(reading?.application).toEqual(is);
    expect([reading?.windowEndMs, failed.size, error]).toEqual([600_000, 0, undefined]);
  });

  it('are in the order of the series of each application', () => {
    const { application, outcome } = aBench();
    application(answerOf([row('1', { web: 5, other: 10 })]));
    const series = anEntry().series.toReversed();

    expect(outcome({ series }).reading).toMatchObject({ series, application: [2, 1] });
  });

  it('are multiplied by the scale of each series', () => {
    const { application, outcome } = aBench();
    application(answerOf([row('1', { web: 5, other: 10 })]));
    const series = anEntry().series.map((one, index) => ({ ...one, scale: index === 0 ? 60 : -1 }));

    expect(outcome({ series }).reading?.application).toEqual([60, -2]);
  });

  it('are left out and counted if their scale makes them infinite', () => {
    const { application, outcome, invalid } = aBench();
    application(answerOf([row('1', { web: 5, other: 10 })]));
    const series = anEntry().series.map((one, index) => ({
      ...one,
      scale: index === 0 ? 1 : 1e308,
    }));

    expect(outcome({ series }).reading?.application).toEqual([1, undefined]);
    expect(invalid).toEqual(['not_finite']);
  });

  it('are never below zero, unless the metric has a unit of its own', () => {
    const custom = (value: PolledSeries['value']): readonly PolledSeries[] =>
      anEntry()
        .series.slice(0, 1)
        .map((one) => ({ ...one, metric: 'Custom/balance', value }));
    const series = [...custom('used_mb_by_host'), ...custom('average_value')];
    const { application, outcome, invalid } = aBenchOf(series);
    application(answerOf([{ ...row('1', { live: 5 }), cells: [-3] }]));

    expect(outcome().reading?.application).toEqual([undefined, -3]);
    expect(invalid).toEqual(['negative']);
  });

  it('are remembered as metrics that it has', () => {
    const { application, answers, hosts, recorded } = aBench();
    application(answerOf([row('1', { other: 5 })]));
    for (const set of hosts)
      answers.hosts(['2'], () => true, set, answerOf([row('2', { web: 5 }, 'a')]));

    expect([recorded.has('1', web), recorded.has('1', other), recorded.has('2', web)]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('reach to the earliest end of the windows that were answered for', () => {
    const { application, hostsAre, outcome } = aBench();
    application(answerOf([], 5, 600_000));
    hostsAre(answerOf([row('1', { web: 8 }, 'a')], 4, 540_000));

    expect(outcome({ hosts: ['a'] }).reading).toEqual({
      windowEndMs: 540_000,
      series: anEntry().series,
      application: none,
      hosts: new Map([['a', [2, undefined]]]),
    });
  });
});

describe('the values of hosts', () => {
  it('are in the order of the list, with 0 for idle ones and nothing for silent ones', () => {
    const { application, hostsAre, outcome } = aBench(web);
    application(answerOf([]));
    hostsAre(
      answerOf([
        row('1', { web: 5 }, 'c'),
        row('1', { live: 5 }, 'b'),
        row('1', { web: 5 }, 'unlisted'),
      ]),
    );
    const hosts = outcome({ hosts: ['a', 'b', 'c'] }).reading?.hosts;

    expect([...(hosts ?? [])]).toEqual([
      ['a', []],
      ['b', [0, undefined]],
      ['c', [1, undefined]],
    ]);
  });

  it('come from all parts of a divided query, and fail for those that did not arrive', () => {
    const { answers, application, hostsAre, outcome } = aBench();
    application(answerOf([]));
    hostsAre(answerOf([row('1', { web: 5 }, 'a')]), (name) => name === 'a');
    hostsAre(answerOf([]), (name) => name === 'b');
    answers.failed(['1'], broken);
    const { reading, failed, error, askedParts } = outcome({ hosts: ['a', 'b', 'c'] });

    expect([...(reading?.hosts.keys() ?? [])]).toEqual(['a', 'b']);
    expect(failed).toEqual(new Set(['c']));
    expect([error, askedParts]).toEqual([broken, 4]);
  });

  it('are not the calls that belong to no host', () => {
    const { hostsAre, outcome } = aBench();
    hostsAre(answerOf([row('1', { web: 5 })]));

    expect(outcome({ application: false, hosts: ['a'] }).reading?.hosts).toEqual(
      new Map([['a', []]]),
    );
  });
});

describe('values that are only read of some', () => {
  const [ofWeb, ofOther] = anEntry().series;
  const series: readonly PolledSeries[] =
    ofWeb && ofOther
      ? [
          { ...ofWeb, scope: 'hosts' },
          { ...ofOther, scope: 'applications' },
        ]
      : [];

  it('are absent of the others', () => {
    const { application, hostsAre, outcome } = aBenchOf(series, web, other);
    application(answerOf([{ ...row('1', { live: 5 }), cells: [5] }]));
    hostsAre(answerOf([{ ...row('1', { live: 5 }, 'a'), cells: [10] }]));

    expect(outcome({ hosts: ['a'] }).reading).toMatchObject({
      application: [undefined, 1],
      hosts: new Map([['a', [2, undefined]]]),
    });
  });
});

describe('values of several queries', () => {
  const [first] = anEntry().series;
  const series = Array.from({ length: 40 }, (_, index) => ({
    ...(first as PolledSeries),
    metric: `Custom/${index + 10}`,
  }));
  const cells = (value: number): readonly number[] => Array.from({ length: 40 }, () => value);

  it('come together', () => {
    const { answers, applications, hosts, outcome } = aBenchOf(series);
    for (const [index, set] of applications.entries()) {
      answers.applications(
        ['1'],
        set,
        answerOf([{ ...row('1', {}), cells: cells(5 * (index + 1)) }]),
      );
    }
    for (const [index, set] of hosts.entries()) {
      const hostRow = { ...row('1', {}, 'a'), cells: cells(10 * (index + 1)) };
      answers.hosts(['1'], () => true, set, answerOf([hostRow]));
    }
    const { reading, failed } = outcome({ hosts: ['a'] });

    expect([applications.length, hosts.length, failed.size]).toEqual([2, 2, 0]);
    expect(reading?.application).toEqual([...cells(1).slice(0, 32), ...cells(2).slice(0, 8)]);
    expect(reading?.hosts.get('a')).toEqual([...cells(2).slice(0, 32), ...cells(4).slice(0, 8)]);
  });

  it('have failed if one of the queries has', () => {
    const { answers, applications, hosts, outcome } = aBenchOf(series);
    for (const set of applications.slice(0, 1)) answers.applications(['1'], set, answerOf([]));
    for (const set of hosts.slice(1)) answers.hosts(['1'], () => true, set, answerOf([]));
    answers.failed(['1'], broken);

    expect(outcome({ hosts: ['a'] })).toMatchObject({
      reading: undefined,
      error: broken,
      failed: new Set([applicationScope, 'a']),
    });
  });
});

describe('what did not arrive', () => {
  it('is the application, with the first of its failures', () => {
    const { answers, outcome } = aBench();
    answers.failed(['1'], broken);
    answers.failed(['1'], new ApiError('timeout', 'later'));

    expect(outcome()).toMatchObject({
      reading: undefined,
      error: broken,
      failed: new Set([applicationScope]),
      unauthorized: false,
    });
  });

  it('is no failure if nothing was to be asked', () => {
    const { answers, outcome } = aBench();
    answers.failed(['1'], broken);

    expect(outcome({ application: false })).toMatchObject({
      reading: undefined,
      error: undefined,
      askedParts: 0,
      failed: new Set(),
    });
  });

  it('is no failure if only the look for recorded metrics failed', () => {
    const { answers, application, outcome } = aBench();
    answers.failed(['1'], broken);
    application(answerOf([]));

    expect(outcome()).toMatchObject({ error: undefined, failed: new Set() });
  });

  it('is unauthorized if the key was refused, whatever failed before', () => {
    const { answers, outcome } = aBench();
    answers.failed(['1'], broken);
    answers.failed(['1'], refused);

    expect(outcome()).toMatchObject({ error: refused, unauthorized: true });
  });

  it('failed for the deadline if nothing else is known', () => {
    const deadline = new ApiError('timeout', 'time is over');
    const { answers, application, outcome } = aBench();
    application(answerOf([row('1', { web: 5 })]));
    answers.givenUp(deadline);
    const { reading, error, failed } = outcome({ hosts: ['a'] });

    expect(reading?.application).toEqual([1, undefined]);
    expect([error, failed]).toEqual([deadline, new Set(['a'])]);
  });
});

describe('an application without a heartbeat', () => {
  it.each([
    { what: 'has calls, but no heartbeat', rows: [row('1', { web: 5 })], is: true },
    { what: 'has both', rows: [row('1', { web: 5, live: 5 })], is: false },
    { what: 'has nothing at all', rows: [], is: false },
  ])('$what: $is', ({ rows, is }) => {
    const { answers, application } = aBench();
    application(answerOf(rows));

    expect(answers.isWithoutHeartbeat('1')).toBe(is);
    expect(answers.isWithoutHeartbeat('2')).toBe(false);
  });
});
