import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { TransactionType } from '../../src/model/application.ts';
import { applicationScope, type PollOutcome } from '../../src/model/poll-outcome.ts';
import { type Asked, BatchAnswers } from '../../src/nerdgraph/batch-answers.ts';
import type { CountRow, NrqlAnswer } from '../../src/nerdgraph/nrql-answer.ts';
import {
  createRecordedMetrics,
  type RecordedMetrics,
} from '../../src/nerdgraph/recorded-metrics.ts';

const [web, other, heartbeat] = [
  'HttpDispatcher',
  'OtherTransaction/all',
  'Agent/MetricsReported/count',
];

function answerOf(rows: readonly CountRow[], minutes = 5, toMs = 600_000): NrqlAnswer {
  return { rows, isTruncated: false, window: { fromMs: toMs - minutes * 60_000, toMs } };
}

function row(
  metric: string | undefined,
  calls: number,
  host?: string,
  applicationId = '1',
): CountRow {
  return { applicationId, host, metric, calls };
}

interface Bench {
  readonly answers: BatchAnswers;
  readonly recorded: RecordedMetrics;
  readonly outcome: (asked?: Partial<Asked>) => PollOutcome;
}

function aBench(...has: readonly TransactionType[]): Bench {
  const recorded = createRecordedMetrics();
  for (const type of has) recorded.saw('1', type);
  const answers = new BatchAnswers(recorded);
  return {
    answers,
    recorded,
    outcome: (asked) =>
      answers.outcome(
        {
          applicationId: '1',
          application: true,
          hosts: [],
          transactions: ['web', 'other'],
          ...asked,
        },
        undefined,
      ),
  };
}

const everyone = (): boolean => true;
const broken = new ApiError('server', 'it broke', { status: 500 });
const refused = new ApiError('auth', 'refused', { status: 401 });

describe('the values of an application', () => {
  it.each([
    {
      what: 'calls a minute',
      rows: [row(web, 50), row(other, 10)],
      has: [],
      is: { web: 10, other: 2 },
    },
    { what: 'fractions', rows: [row(web, 1)], has: [], is: { web: 0.2 } },
    {
      what: '0 for what it has had before, if it is there',
      rows: [row(heartbeat, 5)],
      has: ['web'],
      is: { web: 0 },
    },
    {
      what: 'nothing for what it never had',
      rows: [row(heartbeat, 5), row(web, 5)],
      has: [],
      is: { web: 1 },
    },
    { what: 'nothing if it is not there', rows: [], has: ['web', 'other'], is: {} },
    { what: 'its calls without a heartbeat', rows: [row(web, 5)], has: ['other'], is: { web: 1 } },
    { what: '0 if New Relic says so', rows: [row(web, 0)], has: [], is: { web: 0 } },
    {
      what: 'nothing of other metrics',
      rows: [row('Custom/x', 5), row(undefined, 5)],
      has: [],
      is: {},
    },
    { what: 'nothing of other applications', rows: [row(web, 5, undefined, '2')], has: [], is: {} },
  ] satisfies readonly { what: string; rows: CountRow[]; has: TransactionType[]; is: unknown }[])(
    'are $what',
    ({ rows, has, is }) => {
      const { answers, outcome } = aBench(...has);
      answers.applications(['1'], answerOf(rows));
      const { reading, failed, error } = outcome();

      expect(Object.fromEntries(reading?.application ?? [])).toEqual(is);
      expect([reading?.windowEndMs, failed.size, error]).toEqual([600_000, 0, undefined]);
    },
  );

  it('are only of the types that are wanted', () => {
    const { answers, outcome } = aBench('other');
    answers.applications(['1'], answerOf([row(web, 5), row(heartbeat, 5)]));

    expect(outcome({ transactions: ['web'] }).reading?.application).toEqual(new Map([['web', 1]]));
  });

  it('are remembered as metrics that it has', () => {
    const { answers, recorded } = aBench();
    answers.applications(['1'], answerOf([row(other, 5)]));
    answers.hosts(['2'], everyone, answerOf([row(web, 5, 'a', '2')]));

    expect([
      recorded.has('1', 'web'),
      recorded.has('1', 'other'),
      recorded.has('2', 'web'),
    ]).toEqual([false, true, true]);
  });

  it('reach to the earliest end of the windows that were answered for', () => {
    const { answers, outcome } = aBench();
    answers.applications(['1'], answerOf([], 5, 600_000));
    answers.hosts(['1'], everyone, answerOf([row(web, 8, 'a')], 4, 540_000));

    expect(outcome({ hosts: ['a'] }).reading).toEqual({
      windowEndMs: 540_000,
      application: new Map(),
      hosts: new Map([['a', new Map([['web', 2]])]]),
    });
  });
});

describe('the values of hosts', () => {
  it('are in the order of the list, with 0 for idle ones and nothing for silent ones', () => {
    const { answers, outcome } = aBench('web');
    answers.applications(['1'], answerOf([]));
    answers.hosts(
      ['1'],
      everyone,
      answerOf([row(web, 5, 'c'), row(heartbeat, 5, 'b'), row(web, 5, 'unlisted')]),
    );
    const hosts = outcome({ hosts: ['a', 'b', 'c'] }).reading?.hosts;

    expect([...(hosts ?? [])]).toEqual([
      ['a', new Map()],
      ['b', new Map([['web', 0]])],
      ['c', new Map([['web', 1]])],
    ]);
  });

  it('come from all parts of a divided query, and fail for those that did not arrive', () => {
    const { answers, outcome } = aBench();
    answers.applications(['1'], answerOf([]));
    answers.hosts(['1'], (name) => name === 'a', answerOf([row(web, 5, 'a')]));
    answers.hosts(['1'], (name) => name === 'b', answerOf([]));
    answers.failed(['1'], broken);
    const { reading, failed, error, askedParts } = outcome({ hosts: ['a', 'b', 'c'] });

    expect([...(reading?.hosts.keys() ?? [])]).toEqual(['a', 'b']);
    expect(failed).toEqual(new Set(['c']));
    expect([error, askedParts]).toEqual([broken, 4]);
  });

  it('are not the calls that belong to no host', () => {
    const { answers, outcome } = aBench();
    answers.hosts(['1'], everyone, answerOf([row(web, 5)]));

    expect(outcome({ application: false, hosts: ['a'] }).reading?.hosts).toEqual(
      new Map([['a', new Map()]]),
    );
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
    const { answers, outcome } = aBench();
    answers.failed(['1'], broken);
    answers.applications(['1'], answerOf([]));

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
    const { answers, outcome } = aBench();
    answers.applications(['1'], answerOf([row(web, 5)]));
    answers.givenUp(deadline);
    const { reading, error, failed } = outcome({ hosts: ['a'] });

    expect(reading?.application.get('web')).toBe(1);
    expect([error, failed]).toEqual([deadline, new Set(['a'])]);
  });
});

describe('an application without a heartbeat', () => {
  it.each([
    { what: 'has calls, but no heartbeat', rows: [row(web, 5)], is: true },
    { what: 'has both', rows: [row(web, 5), row(heartbeat, 5)], is: false },
    { what: 'has nothing at all', rows: [], is: false },
  ])('$what: $is', ({ rows, is }) => {
    const { answers } = aBench();
    answers.applications(['1'], answerOf(rows));

    expect(answers.isWithoutHeartbeat('1')).toBe(is);
    expect(answers.isWithoutHeartbeat('2')).toBe(false);
  });
});
