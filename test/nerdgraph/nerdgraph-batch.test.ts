import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { applicationScope } from '../../src/model/poll-outcome.ts';
import type { MetricScope, PolledSeries } from '../../src/model/polled-series.ts';
import { presetNames } from '../../src/model/presets.ts';
import { applicationMetrics } from '../../src/model/snapshot.ts';
import { createRecordedMetrics } from '../../src/nerdgraph/recorded-metrics.ts';
import { anEntry, aSelected } from '../support/builders.ts';
import { neverAborted } from '../transport/fakes.ts';
import {
  aBench,
  apps,
  broken,
  isAbout,
  knowing,
  nothing,
  refused,
  row,
  slow,
  wallMs,
} from './a-batch.ts';

function ofScope(scope: MetricScope): readonly PolledSeries[] {
  return anEntry().series.map((one) => ({ ...one, scope }));
}

const manySeries = anEntry()
  .series.slice(0, 1)
  .flatMap((one) =>
    Array.from({ length: 33 }, (_, index) => ({ ...one, metric: `Custom/${index}` })),
  );

describe('the stages of a batch', () => {
  it.each([
    {
      what: 'applications with hosts',
      batch: apps(3),
      asks: ['application_metrics', 'host_metrics'],
    },
    {
      what: 'applications alone',
      batch: apps(3, 1, { hosts: false }),
      asks: ['application_metrics'],
    },
    { what: 'hosts alone', batch: apps(3, 1, { application: false }), asks: ['host_metrics'] },
    {
      what: 'applications alone if nothing is read of hosts',
      batch: apps(3, 1, { series: ofScope('applications') }),
      asks: ['application_metrics'],
    },
    {
      what: 'hosts alone if nothing is read of applications',
      batch: apps(3, 1, { series: ofScope('hosts') }),
      asks: ['host_metrics'],
    },
    {
      what: 'applications and hosts with all presets',
      batch: apps(3, 1, { poll: { metrics: presetNames } }),
      asks: ['application_metrics', 'host_metrics'],
    },
    {
      what: 'each twice with more columns than a query has',
      batch: apps(3, 1, { series: manySeries }),
      asks: ['application_metrics', 'application_metrics', 'host_metrics', 'host_metrics'],
    },
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
        await call.value({ signal: neverAborted, wallMs: wallMs + late });
      }
    }

    expect(new Set(questions.map(({ window }) => window.toMs)).size).toBe(1);
  });
});

describe('a query that fails', () => {
  it('takes nothing from the others', async () => {
    const { run } = aBench(apps(2, 2), (question) =>
      isAbout('host')(question) ? broken : [row('1', { web: 10 })],
    );
    const { outcomes } = await run();

    expect(outcomes[0]).toMatchObject({
      error: broken,
      failed: new Set(['host-0', 'host-1']),
      askedParts: 3,
      unauthorized: false,
    });
    expect(applicationMetrics(outcomes[0]?.reading).get('web')).toBe(2);
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
});

describe('a refused key', () => {
  it('ends the batch: what was not asked for yet is refused as well', async () => {
    const { batch, questions } = aBench(
      [...apps(1, 1, { application: false }), aSelected({ id: '2', hostIds: [] })],
      () => refused,
    );
    const stage = batch.nextStage();
    for (let call = stage?.calls.next(); call?.done === false; call = stage?.calls.next()) {
      await call.value({ signal: neverAborted, wallMs });
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
      isAbout('host')(question) ? 'truncated' : [row('1', { web: 5 })],
    );
    const stage = batch.nextStage();
    for (let call = stage?.calls.next(); call?.done === false; call = stage?.calls.next()) {
      await call.value({ signal: neverAborted, wallMs });
    }
    batch.giveUp(deadline);
    const [question] = batch.questions;

    expect(batch.nextStage()).toBeUndefined();
    expect(question && batch.outcomeOf(question)).toMatchObject({
      error: deadline,
      failed: new Set(['host-0', 'host-1']),
      extraCalls: 0,
    });
    expect(question && batch.outcomeOf(question).reading?.application).toEqual([1, undefined]);
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
  it('asks for no part of which nothing is read', async () => {
    const ofHosts = aBench(apps(1, 2, { series: ofScope('hosts') }), nothing);
    const ofApplications = aBench(apps(1, 2, { series: ofScope('applications') }), nothing);

    expect((await ofHosts.run()).outcomes[0]).toMatchObject({
      askedParts: 2,
      failed: new Set(),
      reading: { application: [] },
    });
    expect((await ofApplications.run()).outcomes[0]).toMatchObject({
      askedParts: 1,
      failed: new Set(),
      reading: { hosts: new Map() },
    });
  });

  it('has no host that is no longer listed', async () => {
    const { run } = aBench(apps(1, 2), () => [row('1', { web: 5 }, 'host-0')], {
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
    const { run, unexpected } = aBench(apps(2, 0), () => [
      row('1', { web: 5 }),
      row('2', { web: 5, live: 5 }),
    ]);
    await run();

    expect(unexpected.seen).toEqual([{ kind: 'no_heartbeat', detail: { app_id: '1' } }]);
  });
});
