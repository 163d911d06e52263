import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import { applicationScope } from '../../../src/model/poll-outcome.ts';
import type { Batch, Call } from '../../../src/model/source.ts';
import { neverAborted } from '../calls/fakes.ts';
import {
  aBench,
  apps,
  broken,
  isAbout,
  nothing,
  otherTime,
  refused,
  row,
  wallMs,
} from './a-batch.ts';

/** Makes the calls of the next stage, one after the other. */
async function runStage(batch: Batch, lateMs = 0): Promise<void> {
  for (const [index, call] of callsOf(batch).entries()) {
    await call({ signal: neverAborted, wallMs: wallMs + index * lateMs });
  }
}

function callsOf(batch: Batch): readonly Call[] {
  const calls: Call[] = [];
  const stage = batch.nextStage();
  for (let call = stage?.calls.next(); call?.done === false; call = stage?.calls.next()) {
    calls.push(call.value);
  }
  return calls;
}

describe('a batch', () => {
  it('makes all of its queries at once, and no others', async () => {
    const { run, questions } = aBench(apps(3), nothing);
    const { stages } = await run();

    expect(questions.map(({ operation }) => operation)).toEqual([
      'application_metrics',
      'host_metrics',
    ]);
    expect(stages).toEqual([2]);
    expect(questions[0]).toMatchObject({
      facets: ['appId'],
      applicationIds: ['1', '2', '3'],
      columns: ['c1', 'c2'],
    });
    expect(questions[1]?.nrql).toContain('FACET appId, host');
  });

  it.each([
    { window: { kind: 'range', lengthMs: 60_000 }, minutes: 1 },
    { window: { kind: 'vendor_default' }, minutes: 30 },
  ] as const)(
    'asks about $minutes minutes that end before its first call began',
    async ({ window, minutes }) => {
      const { batch, questions } = aBench(apps(1, 1, { poll: { window } }), nothing);
      await runStage(batch, 600_000);
      const toMs = Date.UTC(2026, 8, 1, 9, 57);

      expect(questions.map((question) => question.window)).toEqual(
        questions.map(() => ({ fromMs: toMs - minutes * 60_000, toMs })),
      );
    },
  );

  it('asks for the host of this process only, and says so', async () => {
    const { run, questions } = aBench(
      apps(1, 2, { hosts: { kind: 'self', names: ['me'] } }),
      nothing,
    );
    await run();

    expect(questions[1]?.nrql).toContain("AND host IN ('me') FACET");
    expect(['ME', 'you'].map((name) => questions[1]?.asksFor(name))).toEqual([true, false]);
  });

  it('tells of an application that has calls, but no heartbeat', async () => {
    const { run, unexpected } = aBench(apps(2, 0), (question) =>
      isAbout('host')(question) ? [] : [row('1', { web: 5 }), row('2', { web: 5, live: 5 })],
    );
    await run();

    expect(unexpected.seen).toEqual([{ kind: 'no_heartbeat', detail: { app_id: '1' } }]);
  });
});

describe('a query of a batch that fails', () => {
  it.each([
    { about: 'host', failed: ['host-0'], application: [2, undefined], hosts: 0 },
    { about: 'application', failed: [applicationScope], application: [], hosts: 1 },
  ] as const)('about each $about takes nothing from the other', async (one) => {
    const { run } = aBench(apps(2), (question) => {
      if (isAbout(one.about)(question)) return broken;
      const host = isAbout('host')(question) ? 'host-0' : undefined;
      return ['1', '2'].map((id) => row(id, { web: 10 }, host));
    });
    const { outcomes } = await run();

    expect(outcomes).toHaveLength(2);
    for (const { error, failed, reading } of outcomes) {
      expect([error, failed]).toEqual([broken, new Set(one.failed)]);
      expect([reading?.application, reading?.hosts.size]).toEqual([one.application, one.hosts]);
    }
  });

  it('because its answer is about another time than the first one', async () => {
    const { run } = aBench(apps(1), (question) => {
      if (isAbout('application')(question)) return [row('1', { web: 10 })];
      const { fromMs, toMs } = question.window;
      return { rows: [row('1', {}, 'host-0')], window: { fromMs: fromMs - 60_000, toMs } };
    });
    const { outcomes } = await run();

    expect(outcomes[0]).toMatchObject({
      failed: new Set(['host-0']),
      error: otherTime,
      reading: { application: [2, undefined], hosts: new Map() },
    });
  });
});

describe('a refused key', () => {
  it('ends the batch: what was not asked for yet is refused as well', async () => {
    const { batch, questions } = aBench(apps(2), () => refused);
    await runStage(batch);

    expect(questions).toHaveLength(1);
    expect(batch.nextStage()).toBeUndefined();
    for (const question of batch.questions) {
      expect(batch.outcomeOf(question)).toMatchObject({
        error: refused,
        unauthorized: true,
        failed: new Set([applicationScope, 'host-0']),
      });
    }
  });
});

describe('giving up', () => {
  const deadline = new ApiError('timeout', 'time is over');

  it('keeps what has arrived, and does not divide what was cut off', async () => {
    const { batch, sizes } = aBench(apps(8, 2), (question) =>
      isAbout('host')(question) ? deadline : [row('1', { web: 5 })],
    );
    const [ofApplications, ofHosts] = callsOf(batch);
    const context = { signal: neverAborted, wallMs };
    await ofApplications?.(context);
    batch.giveUp(deadline);
    await ofHosts?.(context);
    const [question] = batch.questions;

    expect(question && batch.outcomeOf(question)).toMatchObject({
      error: deadline,
      failed: new Set(['host-0', 'host-1']),
      reading: { application: [1, undefined] },
      extraCalls: 0,
    });
    expect(sizes.divisionOf('1').together).toBe(200);
  });
});
