import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { applicationScope, type PollOutcome } from '../../src/model/poll-outcome.ts';
import type { SelectedApplication } from '../../src/model/selected-application.ts';
import type { Batch, Question } from '../../src/model/source.ts';
import type { NrqlQuestion } from '../../src/nerdgraph/graphql-client.ts';
import { createNerdGraphBatch } from '../../src/nerdgraph/nerdgraph-batch.ts';
import type { CountRow, NrqlAnswer } from '../../src/nerdgraph/nrql-answer.ts';
import { createQuerySizes, type QuerySizes } from '../../src/nerdgraph/query-sizes.ts';
import {
  createRecordedMetrics,
  type RecordedMetrics,
} from '../../src/nerdgraph/recorded-metrics.ts';
import { aSelected } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { neverAborted } from '../transport/fakes.ts';
import { runBatches } from './a-nerdgraph-source.ts';
import { createRecordingSurprises, type RecordingSurprises } from './recording-surprises.ts';
import { aQuestion, hostsNamed } from './some-fleet.ts';

const wallMs = Date.UTC(2026, 8, 1, 10, 0, 30);

/** Answers a query with rows, with `truncated`, or fails. */
type Answer = (question: NrqlQuestion) => readonly CountRow[] | 'truncated' | Error;

interface Bench {
  readonly batch: Batch;
  readonly questions: readonly NrqlQuestion[];
  readonly sizes: QuerySizes;
  readonly surprises: RecordingSurprises;
  readonly run: () => Promise<{
    readonly outcomes: readonly PollOutcome[];
    readonly stages: readonly number[];
  }>;
}

interface BenchOptions {
  readonly recorded?: RecordedMetrics;
  readonly ask?: Partial<Question>;
}

function aBench(
  applications: readonly SelectedApplication[],
  answer: Answer,
  { recorded = knowing(applications), ask = {} }: BenchOptions = {},
): Bench {
  const questions: NrqlQuestion[] = [];
  const sizes = createQuerySizes({ clock: createFakeClock() });
  const surprises = createRecordingSurprises();
  const client = {
    nrql: async (question: NrqlQuestion): Promise<NrqlAnswer> => {
      questions.push(question);
      const given = answer(question);
      if (given instanceof Error) throw given;
      const isTruncated = given === 'truncated';
      return {
        rows: given === 'truncated' ? [row('1', 'HttpDispatcher', 999)] : given,
        isTruncated,
        window: question.window,
      };
    },
  };
  const selectedOf = ({ selected }: Question): SelectedApplication => selected;
  const batch = createNerdGraphBatch(
    applications.map((one) => aQuestion(one, ask)),
    { client, sizes, recorded, surprises, selectedOf },
  );
  return {
    batch,
    questions,
    sizes,
    surprises,
    run: async () => {
      const { outcomes, stages } = await runBatches([batch], wallMs);
      return { outcomes: [...outcomes.values()], stages };
    },
  };
}

/** New Relic was asked for the metrics of these applications before. */
function knowing(applications: readonly SelectedApplication[]): RecordedMetrics {
  const recorded = createRecordedMetrics();
  recorded.known(applications.map(({ application }) => application.id));
  return recorded;
}

function row(applicationId: string, metric: string, calls: number, host?: string): CountRow {
  return { applicationId, metric, calls, host };
}

function apps(
  count: number,
  hosts = 1,
  entry: Parameters<typeof aSelected>[1] = {},
): readonly SelectedApplication[] {
  return Array.from({ length: count }, (_, index) =>
    aSelected({ id: `${index + 1}`, hostIds: hostsNamed(hosts) }, entry),
  );
}

const nothing = (): readonly CountRow[] => [];
const slow = new ApiError('too_large', 'slow', { status: 413 });
const broken = new ApiError('server', 'it broke', { status: 500 });
const refused = new ApiError('auth', 'refused', { status: 401 });

function isAbout(operation: 'application' | 'host'): (question: NrqlQuestion) => boolean {
  return (question) => question.operation === `${operation}_throughput`;
}

describe('the stages of a batch', () => {
  it.each([
    {
      what: 'applications with hosts',
      batch: apps(3),
      asks: ['application_throughput', 'host_throughput'],
    },
    {
      what: 'applications alone',
      batch: apps(3, 1, { hosts: false }),
      asks: ['application_throughput'],
    },
    { what: 'hosts alone', batch: apps(3, 1, { application: false }), asks: ['host_throughput'] },
    { what: 'hosts of which there are none', batch: apps(1, 0, { application: false }), asks: [] },
  ])('ask for $what', async ({ batch, asks }) => {
    const { run, questions } = aBench(batch, nothing);
    const { stages } = await run();

    expect(questions.map(({ operation }) => operation)).toEqual(asks);
    expect(stages).toEqual(asks.length === 0 ? [] : [asks.length]);
  });

  it('ask first for the metrics of applications that are not known yet, and only of those', async () => {
    const { run, questions } = aBench(apps(3), nothing, { recorded: knowing(apps(1)) });
    const { stages, outcomes } = await run();

    expect(stages).toEqual([3]);
    expect(questions[0]).toMatchObject({ applications: 2, mayShift: true });
    expect(outcomes.map(({ extraCalls }) => extraCalls)).toEqual([1, 0, 0]);
  });

  it('have the key of the first application', () => {
    expect(aBench(apps(2), nothing).batch.key).toBe('1');
  });

  it('have the window that was cut when the first call began', async () => {
    const { batch, questions } = aBench(apps(1), ({ applications }) =>
      applications > 0 ? slow : [],
    );
    for (
      let stage = batch.nextStage(), late = 0;
      stage !== undefined;
      stage = batch.nextStage(), late += 60_000
    ) {
      for (let call = stage.calls.next(); call.done !== true; call = stage.calls.next()) {
        await call.value({ signal: neverAborted, onWire: () => undefined, wallMs: wallMs + late });
      }
    }

    expect(new Set(questions.map(({ window }) => window.toMs)).size).toBe(1);
  });
});

describe('a query that is too large', () => {
  it.each([
    { what: 'truncated', failing: 'truncated' as const },
    { what: 'slow', failing: slow },
  ])('because it is $what is asked in two parts in the next stage', async ({ failing }) => {
    const { run, questions, sizes } = aBench(
      apps(40, 1, { hosts: false }),
      ({ applications, nrql }) =>
        applications === 40
          ? failing
          : [row(nrql.includes('(1,2,') ? '1' : '21', 'HttpDispatcher', 5)],
    );
    const { stages, outcomes } = await run();

    expect(stages).toEqual([1, 2]);
    expect(questions.map(({ applications }) => applications)).toEqual([40, 20, 20]);
    expect(outcomes.filter(({ failed }) => failed.size > 0)).toEqual([]);
    expect([0, 1, 20, 21].map((index) => outcomes[index]?.reading?.application.get('web'))).toEqual(
      [1, undefined, 1, undefined],
    );
    expect(outcomes.map(({ extraCalls }) => extraCalls).filter((calls) => calls > 0)).toEqual([2]);
    expect(sizes.current().applications).toBe(100);
  });

  it('is not divided because it is slow if it is small: then it is not the query', async () => {
    const { run } = aBench(apps(25, 1, { hosts: false }), () => slow);
    const { stages, outcomes } = await run();

    expect(stages).toEqual([1]);
    expect(new Set(outcomes.map(({ error }) => error))).toEqual(new Set([slow]));
  });

  it('is divided until every part is answered, however often it is truncated', async () => {
    const { run } = aBench(apps(64, 1, { hosts: false }), ({ applications }) =>
      applications > 1 ? 'truncated' : [],
    );
    const { stages, outcomes } = await run();

    expect(stages).toEqual([1, 2, 4, 8, 16, 32, 64]);
    expect(outcomes.every(({ failed }) => failed.size === 0)).toBe(true);
    expect(outcomes.reduce((sum, { extraCalls }) => sum + extraCalls, 0)).toBe(126);
  });

  it('is divided twice while New Relic is slow, and no more', async () => {
    const { run, sizes } = aBench(apps(64, 1, { hosts: false }), () => slow);
    const { stages, outcomes } = await run();

    expect(stages).toEqual([1, 2, 4]);
    expect(outcomes.every(({ error }) => error === slow)).toBe(true);
    expect(sizes.current().applications).toBeLessThan(100);
  });

  it('is never used in part: what stays truncated has failed, and says so', async () => {
    const { run } = aBench(apps(1, 1), () => 'truncated');
    const { outcomes } = await run();

    expect(outcomes[0]).toMatchObject({
      reading: undefined,
      failed: new Set([applicationScope, 'host-0']),
    });
    expect(outcomes[0]?.error?.message).toContain(
      'throughput of 1 application: the answer has more rows than New Relic returns, however it is divided. The query takes too long or returns too much',
    );
  });

  it('brings all hosts of an application, each from one part', async () => {
    const most = 20;
    const hosts = hostsNamed(150).map((name) => `${name}.example.com`);
    const { run } = aBench([aSelected({ hostIds: hosts })], (question) => {
      const rows = hosts
        .filter((name) => isIn(question.nrql, name))
        .map((name) => row('1', 'HttpDispatcher', 5, name));
      return isAbout('host')(question) && rows.length > most ? 'truncated' : rows;
    });
    const { outcomes } = await run();

    expect(outcomes[0]?.reading?.hosts.size).toBe(150);
    expect(
      [...(outcomes[0]?.reading?.hosts.values() ?? [])].every((values) => values.get('web') === 1),
    ).toBe(true);
  });

  it('costs no more than two calls for each host, even if nothing is ever whole', async () => {
    const { run, questions } = aBench(apps(1, 50, { application: false }), () => 'truncated');
    await run();

    expect(questions.length).toBeLessThanOrEqual(100);
  });

  it('about recorded metrics leaves the size of others alone', async () => {
    const { run, sizes } = aBench(
      apps(4, 1, { hosts: false }),
      ({ mayShift, applications }) => (mayShift && applications > 1 ? slow : []),
      { recorded: createRecordedMetrics() },
    );
    const { stages, outcomes } = await run();

    expect(stages).toEqual([2, 2, 4]);
    expect(sizes.current().applications).toBe(200);
    expect(outcomes[0]?.extraCalls).toBe(7);
  });
});

/** Whether the host meets the conditions on hosts in a query. */
function isIn(nrql: string, name: string): boolean {
  const conditions = [...nrql.matchAll(/host (NOT )?RLIKE r'(.*?)'/gu)];
  return conditions.every(
    ([, not, pattern]) =>
      new RegExp(`^(?:${pattern ?? ''})$`, 'u').test(name) === (not === undefined),
  );
}

describe('a query that fails', () => {
  it('takes nothing from the others', async () => {
    const { run } = aBench(apps(2, 2), (question) =>
      isAbout('host')(question) ? broken : [row('1', 'HttpDispatcher', 10)],
    );
    const { outcomes } = await run();

    expect(outcomes[0]).toMatchObject({
      error: broken,
      failed: new Set(['host-0', 'host-1']),
      askedParts: 3,
      unauthorized: false,
    });
    expect(outcomes[0]?.reading?.application.get('web')).toBe(2);
  });

  it('about recorded metrics does no harm, and is asked again by the next batch', async () => {
    const recorded = createRecordedMetrics();
    const failing = aBench(apps(1), ({ mayShift }) => (mayShift ? broken : []), { recorded });
    const { outcomes } = await failing.run();
    const next = aBench(apps(1), nothing, { recorded });
    await next.run();

    expect(outcomes[0]).toMatchObject({ error: undefined, failed: new Set() });
    expect(next.questions).toHaveLength(3);
  });

  it('because of a fault of the program fails like any other', async () => {
    const { run } = aBench(apps(1, 0), () => new TypeError('x is not a function'));
    const { outcomes } = await run();

    expect(outcomes[0]?.error).toMatchObject({
      reason: 'client',
      message: 'the call failed because of an error in this program',
    });
  });

  it.each([
    { what: 'an answer, even a bad one', error: broken, is: true },
    { what: 'none', error: new ApiError('reset', 'broken'), is: false },
    { what: 'a refusal', error: refused, is: true },
  ])('tells that there was $what', async ({ error, is }) => {
    const { batch } = aBench(apps(1, 0), () => error);
    const call = batch.nextStage()?.calls.next().value;

    expect(await call?.({ signal: neverAborted, onWire: () => undefined, wallMs })).toBe(is);
  });
});

describe('a refused key', () => {
  it('ends the batch: what was not asked for yet is refused as well', async () => {
    const { batch, questions } = aBench(
      [...apps(1, 1, { application: false }), aSelected({ id: '2', hostIds: [] })],
      () => refused,
    );
    const stage = batch.nextStage();
    for (let call = stage?.calls.next(); call?.done === false; call = stage?.calls.next()) {
      await call.value({ signal: neverAborted, onWire: () => undefined, wallMs });
    }

    expect(questions).toHaveLength(1);
    expect(batch.nextStage()).toBeUndefined();
    for (const question of batch.questions) {
      expect(batch.outcomeOf(question)).toMatchObject({ error: refused, unauthorized: true });
    }
  });
});

describe('giving up', () => {
  const deadline = new ApiError('timeout', 'time is over');

  it('keeps what has arrived, and asks for nothing more', async () => {
    const { batch } = aBench(apps(1, 2), (question) =>
      isAbout('host')(question) ? 'truncated' : [row('1', 'HttpDispatcher', 5)],
    );
    const stage = batch.nextStage();
    for (let call = stage?.calls.next(); call?.done === false; call = stage?.calls.next()) {
      await call.value({ signal: neverAborted, onWire: () => undefined, wallMs });
    }
    batch.giveUp(deadline);
    const [question] = batch.questions;

    expect(batch.nextStage()).toBeUndefined();
    expect(question && batch.outcomeOf(question)).toMatchObject({
      error: deadline,
      failed: new Set(['host-0', 'host-1']),
      extraCalls: 0,
    });
    expect(question && batch.outcomeOf(question).reading?.application.get('web')).toBe(1);
  });

  it('before anything was asked fails with everything', () => {
    const { batch } = aBench(apps(1, 1), nothing);
    batch.giveUp(deadline);
    const [question] = batch.questions;

    expect(question && batch.outcomeOf(question)).toMatchObject({
      reading: undefined,
      error: deadline,
      failed: new Set([applicationScope, 'host-0']),
    });
  });
});

describe('the outcome', () => {
  it('has no host that is no longer listed', async () => {
    const { run } = aBench(apps(1, 2), () => [row('1', 'HttpDispatcher', 5, 'host-0')], {
      ask: { isListed: (name) => name === 'host-1' },
    });
    const { outcomes } = await run();

    expect([...(outcomes[0]?.reading?.hosts.keys() ?? [])]).toEqual(['host-1']);
    expect(outcomes[0]).toMatchObject({ askedParts: 2, failed: new Set() });
  });

  it.each([
    {
      askHostNames: true,
      names: new Map([
        ['host-0', 'host-0'],
        ['host-1', 'host-1'],
      ]),
    },
    { askHostNames: false, names: undefined },
  ])(
    'has the names of hosts if they are asked for: $askHostNames',
    async ({ askHostNames, names }) => {
      const { outcomes } = await aBench(apps(1, 2), nothing, { ask: { askHostNames } }).run();

      expect(outcomes[0]?.hostNames).toEqual(names);
    },
  );

  it('tells of an application that has calls, but no heartbeat', async () => {
    const { run, surprises } = aBench(apps(2, 0), () => [
      row('1', 'HttpDispatcher', 5),
      row('2', 'HttpDispatcher', 5),
      row('2', 'Agent/MetricsReported/count', 5),
    ]);
    await run();

    expect(surprises.seen).toEqual([{ kind: 'no_heartbeat', detail: { applicationId: '1' } }]);
  });
});
