import { describe, expect, it } from 'vitest';
import { applicationScope, type PollOutcome } from '../../src/model/poll-outcome.ts';
import { BatchPoll, type PollRequest } from '../../src/poller/batch-poll.ts';
import type { Job, ScheduledCall } from '../../src/rate-limit/call-scheduler.ts';
import type { RestClient } from '../../src/rest/rest-client.ts';
import { createRestSource } from '../../src/rest/rest-source.ts';
import { aSelected } from '../support/builders.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import { createFakeSource, type FakeSource, unobserved, webOf } from '../support/fake-source.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly source: FakeSource;
  readonly poll: BatchPoll;
  readonly request: PollRequest;
  readonly outcomes: PollOutcome[];
  readonly endedAtMs: number[];
  /** Starts this many of the calls, or all of them. Returns how those that have ended did. */
  readonly start: (count?: number) => boolean[];
  readonly isCancelled: () => boolean;
  readonly unlisted: Set<string>;
}

const never = async (): Promise<never> => new Promise(() => undefined);

/** A poll whose calls start when the test says so. */
function aPoll(
  overrides: Partial<PollRequest> = {},
  options: { readonly client?: Partial<RestClient>; readonly vendorAheadMs?: number } = {},
): Bench {
  const clock = createFakeClock();
  const source = createFakeSource();
  const jobs: Job[] = [];
  const cancelled: Job[] = [];
  const outcomes: PollOutcome[] = [];
  const endedAtMs: number[] = [];
  const unlisted = new Set<string>();
  const request: PollRequest = {
    selected: aSelected({ id: '1', hostIds: ['11', '12'] }),
    dueMs: 0,
    overdueMs: 0,
    periodMs: 60_000,
    deadlineMs: 120_000,
    askHostNames: false,
    hostNames: new Map(),
    isListed: (hostId) => !unlisted.has(hostId),
    ...overrides,
  };
  for (const id of [
    '1',
    ...(request.selected.application.hostIds ?? []).map((host) => `1/${host}`),
  ]) {
    source.answer(id, webOf(1));
  }
  const client = { ...source.client, ...options.client };
  const [batch] = createRestSource('main', { client, clock, ...unobserved }).batches([request], []);
  if (batch === undefined) throw new Error('there is no batch');
  const poll = new BatchPoll(
    batch,
    {
      clock,
      vendorWallMs: () => clock.wallMs() + (options.vendorAheadMs ?? 0),
      scheduler: {
        add: (job) => jobs.push(job),
        cancel: (job) => cancelled.push(job),
        stop: () => undefined,
      },
    },
    (_request, outcome) => {
      outcomes.push(outcome);
      endedAtMs.push(clock.monotonicMs());
    },
  );
  let underWay = 0;
  let isExhausted = false;
  const endIfDone = (): void => {
    if (isExhausted && underWay === 0 && cancelled.length === 0) jobs[0]?.ended();
  };
  const start = (count = Infinity): boolean[] => {
    const answered: boolean[] = [];
    const run = async (call: ScheduledCall): Promise<void> => {
      underWay += 1;
      const release = (isAnswered: boolean): void => {
        answered.push(isAnswered);
      };
      await call({ next: async () => ({ apiKey: 'key-1', throttled: () => undefined, release }) });
      underWay -= 1;
      endIfDone();
    };
    for (let index = 0; index < count && !isExhausted; index += 1) {
      const { value: call, done } = jobs[0]?.calls.next() ?? { done: true, value: undefined };
      if (done === true) isExhausted = true;
      else void run(call);
    }
    endIfDone();
    return answered;
  };
  return {
    clock,
    source,
    poll,
    request,
    outcomes,
    endedAtMs,
    start,
    isCancelled: () => cancelled.length > 0,
    unlisted,
  };
}

describe('a poll', () => {
  it("asks for the window by the vendor's time at its first call", async () => {
    const bench = aPoll({}, { vendorAheadMs: 3_600_000 });
    await bench.clock.advance(10 * 60_000);

    bench.start(1);
    await bench.clock.advance(2 * 60_000);
    bench.start();
    await settle();

    // 10:10:30 here is 11:10:30 at the vendor. The window ends three minutes earlier.
    const toMs = Date.UTC(2026, 8, 1, 11, 7);
    expect(bench.source.queries.map(({ window }) => window?.toMs)).toEqual([toMs, toMs, toMs]);
    bench.poll.drop(bench.request, new Error('test over'));
  });

  it('reports an error that does not come from the vendor as one of this program, and goes on', async () => {
    const fault = new TypeError('x is not a function');
    const bench = aPoll(
      {},
      {
        client: {
          metrics: async (_id, hostId) =>
            hostId === undefined
              ? Promise.reject(fault)
              : { values: webOf(1), windowEndMs: undefined },
        },
      },
    );

    bench.start();
    await settle();

    const [outcome] = bench.outcomes;
    expect([...(outcome?.failed ?? [])]).toEqual([applicationScope]);
    expect(outcome?.error).toMatchObject({ reason: 'client', cause: fault });
    expect(outcome?.reading?.hosts.size).toBe(2);
  });
});

describe('the deadline of a poll', () => {
  it('counts from its first call, however long that waits', async () => {
    const bench = aPoll();

    await bench.clock.advance(10 * 60_000);
    const waiting = bench.clock.pendingTimers();
    bench.source.answer('1/12', never());
    bench.start();
    await bench.clock.advance(10 * 60_000);

    expect(waiting).toBe(0);
    expect(bench.endedAtMs).toEqual([10 * 60_000 + 120_000]);
    expect(bench.outcomes[0]).toMatchObject({
      failed: new Set(['12']),
      error: { reason: 'timeout' },
    });
    expect(bench.outcomes[0]?.error?.message).toContain('did not end within 120 s');
    expect(bench.outcomes[0]?.reading?.hosts.size).toBe(1);
    expect(bench.isCancelled()).toBe(true);
    expect(bench.clock.pendingTimers()).toBe(0);
  });

  it('ends the poll even if its calls never settle, and aborts them', async () => {
    const signals: AbortSignal[] = [];
    const bench = aPoll(
      { askHostNames: true },
      {
        client: {
          hostNames: (_id, { signal }) => (signals.push(signal), never()),
          metrics: (_id, _host, _query, { signal }) => (signals.push(signal), never()),
        },
      },
    );

    bench.start();
    await bench.clock.advance(119_999);
    const before = bench.outcomes.length;
    await bench.clock.advance(1);

    expect([before, bench.outcomes.length]).toEqual([0, 1]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true, true]);
    expect(signals.every(({ reason }) => reason === bench.outcomes[0]?.error)).toBe(true);
    expect(bench.outcomes[0]?.failed).toEqual(new Set([applicationScope, '11', '12']));
    expect(bench.clock.pendingTimers()).toBe(0);
  });
});

describe('the list of host names', () => {
  const names = new Map([['11', 'a']]);
  const later = async (clock: FakeClock, ms: number): Promise<void> =>
    new Promise((resolve) => {
      clock.after(ms, resolve);
    });

  it.each([
    {
      what: 'is not waited for if the values take longer',
      namesMs: 3000,
      valuesMs: 5000,
      endsAtMs: 5000,
      named: true,
    },
    {
      what: 'comes with the values',
      namesMs: 40_000,
      valuesMs: 5000,
      endsAtMs: 40_000,
      named: true,
    },
    {
      what: 'is not waited for after the deadline, which is no failure',
      namesMs: 130_000,
      valuesMs: 5000,
      endsAtMs: 120_000,
      named: false,
    },
  ])('$what', async ({ namesMs, valuesMs, endsAtMs, named }) => {
    const client: Partial<RestClient> = {
      hostNames: async (_id, { signal }) => {
        const broken = new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason);
          });
        });
        await Promise.race([later(bench.clock, namesMs), broken]);
        return { names, error: undefined, calls: 1 };
      },
      metrics: async (_id, _host, query) => {
        await later(bench.clock, valuesMs);
        return { values: webOf(1), windowEndMs: query.window?.toMs };
      },
    };
    const bench = aPoll({ askHostNames: true }, { client });

    bench.start();
    await bench.clock.advance(121_000);

    expect(bench.endedAtMs).toEqual([endsAtMs]);
    expect(bench.outcomes[0]?.failed.size).toBe(0);
    expect(bench.outcomes[0]?.hostNames).toEqual(named ? names : undefined);
    expect(bench.outcomes[0]?.hostNamesError).toBeUndefined();
  });
});
