import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import type { Query } from '../../../src/model/config.ts';
import { applicationScope } from '../../../src/model/poll-outcome.ts';
import type { PollCalls, Polled, Question } from '../../../src/model/source.ts';
import type { TimeWindow } from '../../../src/model/window.ts';
import type { NrqlQuestion } from '../../../src/newrelic/nerdgraph/graphql-client.ts';
import { type PollContext, pollGroup } from '../../../src/newrelic/nerdgraph/poll.ts';
import { aQuery } from '../../support/builders.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { neverAborted } from '../calls/fakes.ts';
import {
  aBench,
  aContext,
  apps,
  broken,
  isAbout,
  nothing,
  otherTime,
  refused,
  row,
  wallMs,
} from './a-poll.ts';
import { aQuestion } from './some-fleet.ts';

/** Makes the calls one after the other, each so much later than the one before. */
function oneByOne(lateMs = 0): PollCalls {
  return {
    run: async (_, calls) => {
      let ms = wallMs;
      for (let call = calls.next(); call.done !== true; call = calls.next()) {
        await call.value({ signal: neverAborted, wallMs: ms });
        ms += lateMs;
      }
    },
  };
}

async function outcomesOf(polled: AsyncIterable<Polled>): Promise<readonly Polled['outcome'][]> {
  const outcomes: Polled['outcome'][] = [];
  for await (const { outcome } of polled) outcomes.push(outcome);
  return outcomes;
}

describe('a poll', () => {
  it('makes all of its queries at once, and no others', async () => {
    const { run, questions } = aBench(apps(3), nothing);
    const { calls } = await run();

    expect(questions.map(({ operation }) => operation)).toEqual([
      'application_metrics',
      'host_metrics',
    ]);
    expect(calls).toBe(2);
    expect(questions[0]).toMatchObject({
      facets: ['appId'],
      applicationIds: ['1', '2', '3'],
      columns: [{ name: 'c1' }, { name: 'c2' }],
    });
    expect(questions[1]?.facets).toEqual(['appId', 'host']);
  });

  it('asks about the group as it is when its first call is taken', async () => {
    const group: Question[] = [];
    const questions: string[] = [];
    const client = {
      nrql: async ({ applicationIds }: NrqlQuestion): Promise<never> => {
        questions.push(applicationIds.join(' '));
        throw broken;
      },
    };
    const calls: PollCalls = {
      run: async (...asked) => {
        group.push(...apps(2).map((one) => aQuestion(one)));
        await oneByOne().run(...asked);
      },
    };
    const polled = pollGroup(() => group, calls, neverAborted, aContext({ client }));

    expect(await outcomesOf(polled)).toHaveLength(2);
    expect(questions).toEqual(['1 2', '1 2']);
  });

  it.each([
    { window: { kind: 'range', lengthMs: 60_000 }, minutes: 1 },
    { window: { kind: 'vendor_default' }, minutes: 30 },
  ] as const)(
    'asks about $minutes minutes that end before its first call began',
    async ({ window, minutes }) => {
      const { poll, questions } = aBench(apps(1, 1, { poll: { window } }), nothing);
      await outcomesOf(poll(oneByOne(600_000)));
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

    expect(questions[1]?.condition).toBe("host IN ('me')");
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

describe('a query of a poll that fails', () => {
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

    expect(outcomes.size).toBe(2);
    for (const { error, failed, reading } of outcomes.values()) {
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

    expect(outcomes.get('1')).toMatchObject({
      failed: new Set(['host-0']),
      error: otherTime,
      reading: { application: [2, undefined], hosts: new Map() },
    });
  });
});

describe('a refused key', () => {
  it('ends the poll: what was not asked for yet is refused as well', async () => {
    const { poll, questions } = aBench(apps(2), () => refused);
    const outcomes = await outcomesOf(poll(oneByOne()));

    expect(questions).toHaveLength(1);
    expect(outcomes).toHaveLength(2);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        error: refused,
        unauthorized: true,
        failed: new Set([applicationScope, 'host-0']),
      });
    }
  });
});

const deadline = new ApiError('timeout', 'time is over');

/** Makes the calls one after the other; aborts with this reason after the first, and waits no longer. */
function abortedAfterFirst(reason: Error) {
  const stop = new AbortController();
  const later: Promise<void>[] = [];
  const calls: PollCalls = {
    run: async (_, all) => {
      const context = { signal: stop.signal, wallMs };
      const [first, ...others] = { [Symbol.iterator]: () => all };
      await first?.(context);
      stop.abort(reason);
      later.push(...others.map(async (call) => call(context)));
      await Promise.all(later);
    },
  };
  return { calls, signal: stop.signal };
}

describe('a deadline', () => {
  it('keeps what has arrived, and divides nothing that was cut off', async () => {
    const { poll, sizes } = aBench(apps(8, 2), (question) =>
      isAbout('host')(question) ? deadline : [row('1', { web: 5 })],
    );
    const { calls, signal } = abortedAfterFirst(deadline);
    const [outcome] = await outcomesOf(poll(calls, signal));

    expect(outcome).toMatchObject({
      error: deadline,
      failed: new Set(['host-0', 'host-1']),
      reading: { application: [1, undefined] },
      extraCalls: 0,
    });
    expect(sizes.divisionOf('hosts', '1').together).toBe(200);
  });

  it('is why an answer that comes later has failed', async () => {
    const { poll } = aBench(apps(1), (question) => [
      row('1', { web: 5 }, isAbout('host')(question) ? 'host-0' : undefined),
    ]);
    const { calls, signal } = abortedAfterFirst(deadline);
    const [outcome] = await outcomesOf(poll(calls, signal));

    expect(outcome).toMatchObject({ error: deadline, failed: new Set(['host-0']) });
  });

  it('is the only abort that leaves outcomes', async () => {
    const { poll, sizes } = aBench(apps(8), () => broken);
    const { calls, signal } = abortedAfterFirst(new Error('nobody wants it'));

    expect(await outcomesOf(poll(calls, signal))).toEqual([]);
    expect(sizes.changes).toBe(0);
  });
});

describe('a poll of a query', () => {
  const reading = { windowEndMs: 0, series: [], rows: 0, leftOut: 0, unusable: new Map() };
  const group = [{ kind: 'query', query: aQuery }] as const;

  it('is one call, for a window by the clock of New Relic', async () => {
    const windows: TimeWindow[] = [];
    const client = {
      query: async (_: Query, window: TimeWindow) => {
        windows.push(window);
        return reading;
      },
    };
    const polled = pollGroup(() => group, oneByOne(), neverAborted, aContext({ client }));

    expect(await outcomesOf(polled)).toMatchObject([{ reading, error: undefined }]);
    expect(windows).toHaveLength(1);
    expect(windows[0]?.toMs).toBeLessThan(createFakeClock().wallMs());
  });

  it('asks again while the clock of New Relic is in doubt', async () => {
    let asked = 0;
    const client = {
      query: async () => {
        asked += 1;
        return reading;
      },
    };
    const vendorClock: PollContext['vendorClock'] = {
      wallMs: () => wallMs,
      whileInDoubt: async (mostMore, ask) => {
        for (let left = mostMore; left > 0; left -= 1) await ask();
        return ask();
      },
    };
    const context = aContext({ client, vendorClock });
    await outcomesOf(pollGroup(() => group, oneByOne(), neverAborted, context));

    expect(asked).toBe(4);
  });

  it.each([
    { what: 'for the reason that it has', error: refused, reason: refused, unauthorized: true },
    { what: 'because of the deadline', error: undefined, reason: deadline, unauthorized: false },
    { what: 'if it was never asked', error: undefined, reason: undefined, unauthorized: false },
  ])('has failed $what', async ({ error, reason, unauthorized }) => {
    const stop = new AbortController();
    const client = {
      query: async () => {
        if (error !== undefined) throw error;
        stop.abort(deadline);
        return reading;
      },
    };
    const calls = reason === undefined ? { run: async () => undefined } : oneByOne();
    const polled = pollGroup(() => group, calls, stop.signal, aContext({ client }));
    const [outcome] = await outcomesOf(polled);

    expect(outcome).toMatchObject({ reading: undefined, unauthorized });
    expect(outcome?.error?.message).toBe(reason?.message ?? 'it was not asked.');
  });
});
