import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/model/clock.ts';
import type { PollOutcome } from '../../src/model/poll-outcome.ts';
import type { ApplicationQuestion, Call, CallContext } from '../../src/model/source.ts';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import type { RestClient } from '../../src/newrelic/rest/poll.ts';
import { createRestSource } from '../../src/newrelic/rest/rest-source.ts';
import { GroupPoll } from '../../src/poll/group-poll.ts';
import type { PollRequest } from '../../src/poll/poll-request.ts';
import type { PollTimes } from '../../src/poll/schedule.ts';
import { accountCalls, aThrottled } from '../newrelic/calls/call-fakes.ts';
import { aContext } from '../support/a-context.ts';
import { aSelected } from '../support/builders.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import { createFakeSource, inTurn, unobserved, webOf } from '../support/fake-source.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly group: GroupPoll;
  readonly requests: readonly PollRequest[];
  /** Lets no call go before then. */
  readonly wait: (untilMs: number) => void;
}

const withNames = {
  selected: aSelected({ id: '1', hostIds: ['11', '12'] }, { poll: { hostNames: true } }),
};

/** An application with two hosts. */
function aRequest(overrides: Partial<ApplicationQuestion & PollTimes> = {}): PollRequest {
  return {
    kind: 'application',
    id: '1',
    selected: aSelected({ id: '1', hostIds: ['11', '12'] }),
    dueMs: 0,
    periodMs: minuteMs,
    hasFailed: false,
    queuedMs: 0,
    ...overrides,
  };
}

/** The vendor's clock is an hour ahead. */
function aGroup(...requests: readonly PollRequest[]): Bench {
  const clock = createFakeClock();
  const calls = accountCalls(clock, { requestsPerMinute: 100_000 });
  const { vendorClock } = aContext();
  const ahead = { ...vendorClock, wallMs: () => clock.wallMs() + hourMs };
  const group = new GroupPoll(requests, aContext({ clock, calls, vendorClock: ahead }));
  return { clock, group, requests, wait: (untilMs) => calls.key.throttled(aThrottled(untilMs)) };
}

const never = async (): Promise<never> => new Promise(() => undefined);

/** Calls that note what they are given, and are answered at once. */
function recording(count: number, contexts: CallContext[]): Iterator<Call, undefined> {
  const call: Call = async (context) => inTurn(context, async () => void contexts.push(context));
  return Array.from({ length: count }, () => call).values();
}

describe('a poll', () => {
  it("begins with its first call: the vendor's time then is that of all its calls", async () => {
    const { clock, group, wait } = aGroup(aRequest());
    const contexts: CallContext[] = [];
    const startMs = clock.wallMs();
    wait(10 * minuteMs);

    const first = group.run(() => 1, recording(1, contexts));
    await clock.advance(10 * minuteMs - 1);
    const before = group.hasBegun;
    await clock.advance(minuteMs);
    await first;
    await group.run(() => 2, recording(2, contexts));

    expect([before, group.hasBegun]).toEqual([false, true]);
    const beganMs = startMs + hourMs + 10 * minuteMs;
    expect(contexts.map(({ wallMs }) => wallMs)).toEqual([beganMs, beganMs, beganMs]);
    expect(clock.pendingTimers()).toBe(0);
  });

  it.each([
    { failed: [true, true], isRepeated: true },
    { failed: [true, false], isRepeated: false },
  ])('says of its calls whether all were asked for in vain before: $failed', async (row) => {
    const requests = row.failed.map((hasFailed) => aRequest({ hasFailed }));
    const { group } = aGroup(...requests);
    const contexts: CallContext[] = [];

    await group.run(() => 2, recording(2, contexts));

    expect(contexts.map(({ isRepeated }) => isRepeated)).toEqual([row.isRepeated, row.isRepeated]);
  });

  it('is aborted when nothing of it is wanted any longer, and not before', async () => {
    const bench = aGroup(aRequest(), aRequest());
    const { group, clock } = bench;
    const reason = new Error('not wanted');
    const done = group.run(() => 1, [async () => never()].values());
    await settle();

    const [one, other] = bench.requests;
    if (one !== undefined) group.drop(one, reason);
    const before = group.signal.aborted;
    if (other !== undefined) group.drop(other, reason);
    await done;

    expect([before, group.signal.reason]).toEqual([false, reason]);
    expect(clock.pendingTimers()).toBe(0);
  });
});

interface Ended {
  readonly atMs: number;
  readonly outcome: PollOutcome;
}

/** Asks for it by the REST API. Returns the outcomes, as they come. */
function pollBy(client: Partial<RestClient>, { clock, group, requests }: Bench): readonly Ended[] {
  const fake = createFakeSource();
  const source = createRestSource('main', {
    client: { ...fake.client, ...client },
    clock,
    ...unobserved,
  });
  const ended: Ended[] = [];
  const poll = async (): Promise<void> => {
    for await (const polled of source.poll(() => requests, group, group.signal)) {
      if (polled.kind === 'query') continue;
      ended.push({ atMs: clock.monotonicMs(), outcome: polled.outcome });
    }
  };
  void poll();
  return ended;
}

describe('the list of host names', () => {
  const names = new Map([['11', 'a']]);

  it.each([
    {
      what: 'is not waited for if the values take longer',
      namesMs: 3000,
      endsAtMs: 5000,
      named: true,
    },
    { what: 'comes with the values', namesMs: 40_000, endsAtMs: 40_000, named: true },
  ])('$what', async ({ namesMs, endsAtMs, named }) => {
    const bench = aGroup(aRequest(withNames));
    const { clock } = bench;
    const ended = pollBy(
      {
        hostNames: async (_id, context) =>
          inTurn(context, async () => {
            await sleep(clock, namesMs, context.signal);
            return { names, error: undefined, calls: 1 };
          }),
        metrics: async (_id, _host, _query, context) =>
          inTurn(context, async () => {
            await sleep(clock, 2500, context.signal);
            return { values: webOf(1), windowEndMs: undefined, unanswered: [] };
          }),
      },
      bench,
    );

    await clock.advance(121_000);

    expect(ended).toMatchObject([
      {
        atMs: endsAtMs,
        outcome: {
          failed: new Set(),
          hosts: named ? names : new Map(),
        },
      },
    ]);
    expect(clock.pendingTimers()).toBe(0);
  });
});
