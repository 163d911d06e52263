import { describe, expect, it } from 'vitest';
import { applicationScope, type PollOutcome } from '../../src/model/poll-outcome.ts';
import type { Job, ScheduledCall } from '../../src/newrelic/calls/account-calls.ts';
import type { RestClient } from '../../src/newrelic/rest/rest-client.ts';
import { createRestSource } from '../../src/newrelic/rest/rest-source.ts';
import { BatchPoll, type PollRequest } from '../../src/poll/batch-poll.ts';
import { aSelected } from '../support/builders.ts';
import { inBatches } from '../support/fake-batch-source.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import { createFakeSource, type FakeSource, unobserved, webOf } from '../support/fake-source.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly source: FakeSource;
  readonly poll: BatchPoll;
  readonly request: PollRequest;
  readonly outcomes: PollOutcome[];
  /** The applications whose outcomes those are. */
  readonly told: string[];
  readonly endedAtMs: number[];
  /** Starts this many of the calls, or all of them. */
  readonly start: (count?: number) => void;
  readonly isCancelled: () => boolean;
}

const never = async (): Promise<never> => new Promise(() => undefined);

function aRequest(id: string, overrides: Partial<PollRequest> = {}): PollRequest {
  return {
    selected: aSelected({ id, hostIds: [`${id}1`, `${id}2`] }),
    dueMs: 0,
    periodMs: 60_000,
    deadlineMs: 120_000,
    hasFailed: false,
    askHostNames: false,
    hostNames: new Map(),
    isListed: () => true,
    ...overrides,
  };
}

/** The jobs of one poll, whose calls start when the test says so. */
class HeldJobs {
  #job: Job | undefined;
  #end = (): void => undefined;
  #underWay = 0;
  isCancelled = false;

  async run(job: Job, signal: AbortSignal): Promise<void> {
    this.#job = job;
    await new Promise<void>((resolve) => {
      this.#end = resolve;
      signal.addEventListener('abort', () => {
        this.isCancelled = true;
        resolve();
      });
    });
  }

  start(count = Infinity): void {
    for (let index = 0; index < count; index += 1) {
      const { value: call, done } = this.#job?.calls.next() ?? { done: true, value: undefined };
      if (done === true) break;
      void this.#make(call);
    }
  }

  async #make(call: ScheduledCall): Promise<void> {
    this.#underWay += 1;
    const permit = { apiKey: 'key-1', throttled: () => undefined, release: () => undefined };
    await call({ next: async () => permit });
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#end();
  }
}

interface BenchOptions {
  readonly client?: Partial<RestClient>;
  readonly vendorAheadMs?: number;
  /** What is polled as well, once the poll begins. */
  readonly joining?: readonly PollRequest[];
}

function aPoll(overrides: Partial<PollRequest> = {}, options: BenchOptions = {}): Bench {
  const { vendorAheadMs = 0, joining = [] } = options;
  const clock = createFakeClock();
  const source = createFakeSource();
  const jobs = new HeldJobs();
  const outcomes: PollOutcome[] = [];
  const told: string[] = [];
  const endedAtMs: number[] = [];
  const request = aRequest('1', overrides);
  for (const id of ['1', ...joining.map(({ selected }) => selected.application.id)]) {
    for (const subject of [id, `${id}/${id}1`, `${id}/${id}2`]) source.answer(subject, webOf(1));
  }
  const client = { ...source.client, ...options.client };
  const [batch] = createRestSource('main', { client, clock, ...unobserved }).batches([request], []);
  if (batch === undefined) throw new Error('there is no batch');
  const poll = new BatchPoll(
    batch,
    { clock, vendorWallMs: () => clock.wallMs() + vendorAheadMs, calls: jobs },
    {
      begins: (wanted) =>
        joining.length > 0 ? inBatches(source, clock).batches(wanted, joining)[0] : undefined,
      ended: ({ selected }, outcome) => {
        told.push(selected.application.id);
        outcomes.push(outcome);
        endedAtMs.push(clock.monotonicMs());
      },
    },
  );
  return {
    clock,
    source,
    poll,
    request,
    outcomes,
    told,
    endedAtMs,
    start: (count) => jobs.start(count),
    isCancelled: () => jobs.isCancelled,
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

  it('asks with its first call for what may be asked for together, and reports all of it', async () => {
    const joining = [aRequest('2')];
    const bench = aPoll({}, { joining });
    const before = bench.poll.hasBegun;

    bench.start();
    await settle();

    expect([before, bench.poll.hasBegun]).toEqual([false, true]);
    expect(bench.told).toEqual(['1', '2']);
    expect(bench.outcomes.map(({ reading }) => reading?.hosts.size)).toEqual([2, 2]);
    expect(bench.clock.pendingTimers()).toBe(0);
  });

  it.each([{ hasFailed: false }, { hasFailed: true }])(
    'says of its requests whether it is the retry of one that failed: $hasFailed',
    async ({ hasFailed }) => {
      const repeated: unknown[] = [];
      const client: Partial<RestClient> = {
        metrics: async (_id, _host, _query, { isRepeated }) => {
          repeated.push(isRepeated);
          return { values: webOf(1), windowEndMs: undefined };
        },
      };
      const bench = aPoll({ hasFailed }, { client });

      bench.start();
      await settle();

      expect(repeated).toEqual([hasFailed, hasFailed, hasFailed]);
    },
  );
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
