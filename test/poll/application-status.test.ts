import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { applicationScope, hostsScope, type PollOutcome } from '../../src/model/poll-outcome.ts';
import type { ApplicationStatus } from '../../src/model/status.ts';
import { minuteMs } from '../../src/model/time.ts';
import { applicationStatusesOf } from '../../src/poll/account-status.ts';
import { knownOutcomeOf } from '../../src/poll/poll-request.ts';
import { aThrottled } from '../newrelic/calls/call-fakes.ts';
import { anAccount, anEntry, throughputSeries } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import {
  anyRequest,
  aTable,
  discover,
  endPoll,
  found,
  shop,
  type TableBench,
  wholeOutcome,
} from '../support/table-bench.ts';

/** How long each poll takes. */
const pollMs = 100;

/** Polls the only application now, with this outcome. */
function poll(bench: TableBench, outcome: Partial<PollOutcome> = {}): void {
  endPoll(bench, anyRequest(bench, '1'), { ...good, ...outcome });
}

const good = wholeOutcome(['100']);
const bad = {
  reading: undefined,
  error: new ApiError('server', 'HTTP 500: a problem of New Relic'),
  failed: new Set([applicationScope, '100', '101', '102']),
} as const;

function statusOf({ table, clock }: TableBench): ApplicationStatus {
  const [one] = applicationStatusesOf(anAccount().name, table, clock);
  if (one === undefined) throw new Error('there is no application');
  return one;
}

async function aBench(application = shop('1')): Promise<TableBench> {
  const bench = aTable({ entries: [anEntry({ labels: { team: 'shop' } })] });
  await discover(bench, found(application));
  return bench;
}

describe('the status of an application', () => {
  it('is waiting before its first poll has ended', async () => {
    const bench = await aBench();

    expect(statusOf(bench)).toEqual({
      account: 'production',
      id: '1',
      name: 'shop 1',
      selector: 'match=^',
      labels: { team: 'shop' },
      state: 'waiting',
      failure: undefined,
      reading: undefined,
      isHeld: false,
      dropMs: undefined,
      lastSuccessMs: undefined,
      lastPollMs: undefined,
      lastPollSeconds: undefined,
      nextPollMs: bench.clock.wallMs(),
      intervalSeconds: 60,
      hostIds: ['100', '101', '102'],
      failedHostIds: new Set(),
      hostNames: new Map(),
    });
  });

  it('fails since the first failure in a row, for the last reason, and holds its values until they are dropped', async () => {
    const bench = await aBench();
    const { clock, table } = bench;
    const startMs = clock.wallMs();
    poll(bench);
    await clock.advance(minuteMs);
    poll(bench, bad);
    await clock.advance(minuteMs);
    poll(bench, { ...bad, error: new ApiError('throttled', 'no answer within 30 s') });
    const failing = statusOf(bench);
    await clock.advance(14 * minuteMs - pollMs);
    table.look();
    const dropped = statusOf(bench);
    // A host is back.
    const reading = { ...good.reading, application: [] } as PollOutcome['reading'];
    poll(bench, { ...bad, reading, failed: new Set([applicationScope]) });
    const partly = statusOf(bench);
    poll(bench);
    const mended = statusOf(bench);

    const sinceMs = startMs + minuteMs - pollMs;
    const failure = { reason: 'throttled', message: 'no answer within 30 s', sinceMs };
    const dropMs = sinceMs + 15 * minuteMs;
    const failedHostIds = new Set(['100', '101', '102']);
    expect(failing).toMatchObject({
      state: 'failing',
      failure,
      isHeld: true,
      dropMs,
      lastSuccessMs: startMs,
      lastPollMs: startMs + 2 * minuteMs,
      lastPollSeconds: pollMs / 1000,
    });
    expect(failing.failedHostIds).toEqual(failedHostIds);
    expect(dropped).toMatchObject({ state: 'dropped', failure, isHeld: false, dropMs });
    expect(dropped.reading).toBeUndefined();
    expect(partly).toMatchObject({ state: 'failing', dropMs: undefined });
    expect(mended).toMatchObject({ state: 'up', failure: undefined, dropMs: undefined });
    expect(mended.failedHostIds.size).toBe(0);
  });

  it('fails, and holds the values of the host that failed', async () => {
    const bench = await aBench();
    const reading = { ...good.reading, hosts: new Map() } as PollOutcome['reading'];
    const partly = { reading, error: bad.error, failed: new Set(['100']) };
    poll(bench);
    poll(bench, partly);
    const held = statusOf(bench);

    expect(held).toMatchObject({ state: 'failing', isHeld: true });
    expect(held.reading?.hosts.get('100')).toEqual(webOf(1));
    expect(held.failedHostIds).toEqual(new Set(['100']));
  });

  it('is gone, with a reason, when New Relic lists it and answers 404', async () => {
    const bench = await aBench();
    poll(bench, { gone: true, reading: undefined });

    expect(statusOf(bench)).toMatchObject({
      state: 'gone',
      failure: { reason: 'not_found', message: expect.stringContaining('404') as unknown },
      reading: undefined,
      isHeld: false,
    });
  });

  it.each([
    {
      what: 'a refused key',
      outcome: { ...bad, failed: new Set([applicationScope]), unauthorized: true },
      reason: 'auth',
    },
    {
      what: 'hosts that are not known',
      outcome: { ...bad, failed: new Set([hostsScope]) },
      reason: 'server',
    },
  ])('lacks all its hosts after $what', async ({ outcome, reason }) => {
    const bench = await aBench();
    poll(bench, outcome);

    const { failure, failedHostIds, hostIds } = statusOf(bench);
    expect(failure?.reason).toBe(reason);
    expect([...failedHostIds]).toEqual(hostIds);
  });

  it.each([
    { minutes: 5, state: 'failing', reason: 'throttled', says: 'has not ended' },
    { minutes: 30, state: 'dropped', reason: 'throttled', says: 'has not ended' },
    { minutes: 5, state: 'failing', reason: 'throttled', says: '429' },
  ])('is $state, $reason, when a poll has not ended for $minutes minutes', async (hangs) => {
    const bench = await aBench();
    const startMs = bench.clock.wallMs();
    poll(bench);
    anyRequest(bench, '1');
    await bench.clock.advance(minuteMs);
    if (hangs.reason === 'throttled') bench.calls.key.throttled(aThrottled(2 * minuteMs));
    await bench.clock.advance((hangs.minutes - 1) * minuteMs);
    bench.table.look();

    const { state, failure, isHeld } = statusOf(bench);
    expect({ state, isHeld }).toEqual({ state: hangs.state, isHeld: hangs.state === 'failing' });
    expect(failure).toMatchObject({
      reason: hangs.reason,
      message: expect.stringContaining(hangs.says) as unknown,
    });
    expect(bench.sink.published.at(-1)?.failureReason).toBe(hangs.reason);
    expect(failure?.sinceMs).toBeLessThanOrEqual(startMs + 3 * minuteMs);
  });

  it('stays silent while the key is refused: nobody would ask for it', async () => {
    const bench = await aBench(shop('1', { reporting: false }, 0));
    const { table, clock } = bench;
    const polled = (): void => {
      const request = anyRequest(bench, '1');
      const outcome = knownOutcomeOf(request, table.refusal, true);
      if (outcome !== undefined) table.ended(request, outcome);
    };
    polled();
    const error = new ApiError('auth', 'HTTP 401', { status: 401 });
    await discover(bench, { ...found(), complete: false, error });
    await clock.advance(30 * minuteMs);
    polled();
    table.look();

    expect(statusOf(bench)).toMatchObject({
      state: 'silent',
      failure: undefined,
      isHeld: false,
      dropMs: undefined,
      lastSuccessMs: clock.wallMs(),
    });
    expect(bench.sink.published.at(-1)?.pollSucceeded).toBe(true);
  });

  it.each([{ minutes: 1 }, { minutes: 30 }])(
    'neither holds nor drops values that never were, $minutes minutes after the last good poll',
    async ({ minutes }) => {
      const bench = await aBench();
      const nothing = [undefined, undefined];
      poll(bench, {
        reading: {
          windowEndMs: 5,
          series: throughputSeries,
          application: nothing,
          hosts: new Map([['100', nothing]]),
        },
      });
      poll(bench, bad);
      await bench.clock.advance(minutes * minuteMs);
      bench.table.look();
      poll(bench, bad);

      expect(statusOf(bench)).toMatchObject({
        state: 'failing',
        isHeld: false,
        dropMs: undefined,
      });
    },
  );
});
