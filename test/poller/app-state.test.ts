import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { applicationScope, type PollOutcome } from '../../src/model/poll-outcome.ts';
import type { Throughput } from '../../src/model/snapshot.ts';
import {
  type AppState,
  afterDiscovery,
  afterPoll,
  newAppState,
} from '../../src/poller/app-state.ts';
import { aSelected } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';

const hostIds = Array.from({ length: 19 }, (_, index) => `${index + 1}`);
const now = { monotonicMs: 1000, wallMs: 2000 };
const { staleAfterMs } = aSelected().entry.poll;
const noNames = { hostNames: false, startMs: 400, deadlineMs: 120_000 };

/** A poll of one application with 19 hosts, 20 calls, in which these scopes failed. */
function aPoll(requestsPerMinute: number, ...failed: string[]): PollOutcome {
  const arrived = hostIds.filter((id) => !failed.includes(id));
  const isLost = failed.includes(applicationScope) && arrived.length === 0;
  return {
    reading: isLost
      ? undefined
      : {
          windowEndMs: requestsPerMinute,
          application: failed.includes(applicationScope) ? new Map() : webOf(requestsPerMinute),
          hosts: new Map(arrived.map((id): [string, Throughput] => [id, webOf(requestsPerMinute)])),
        },
    error: failed.length === 0 ? undefined : new ApiError('server', 'HTTP 500'),
    failed: new Set(failed),
    plannedCalls: 20,
    gone: false,
    unauthorized: false,
    hostNames: undefined,
    hostNamesError: undefined,
    hostNameCalls: 0,
  };
}

/** The state after these polls, one after the other. */
function after(...polls: PollOutcome[]): AppState {
  const first = newAppState(aSelected({ hostIds }), 0, 0);
  return polls.reduce((state, poll) => afterPoll(state, poll, noNames, now), first);
}

const everything = [applicationScope, ...hostIds];

describe('afterPoll', () => {
  it('takes in host names that came with the values, though nobody had asked for them', () => {
    const hostNames = new Map([['web-1', 'web-1']]);
    const first = newAppState(aSelected({ hostIds: undefined }), 0, 0);

    const { hostNames: known } = afterPoll(first, { ...aPoll(1), hostNames }, noNames, now);

    expect(known).toMatchObject({ names: hostNames, askAgainMs: undefined });
  });

  it.each([
    { what: 'a complete poll', polls: [aPoll(1), aPoll(2)], shown: 2, hosts: 19, success: true },
    {
      what: 'nothing of the first poll with a failure, however small',
      polls: [aPoll(1), aPoll(2, '1')],
      shown: 1,
      hosts: 19,
      success: false,
    },
    {
      what: 'the second such poll without what failed',
      polls: [aPoll(1), aPoll(2, '1'), aPoll(3, '1')],
      shown: 3,
      hosts: 18,
      success: false,
    },
    {
      what: 'a poll in which other calls fail than before, if they are a tenth at most',
      polls: [aPoll(1), aPoll(2, '1'), aPoll(3, '2', '3')],
      shown: 3,
      hosts: 17,
      success: false,
    },
    {
      what: 'nothing of a poll in which more than a tenth fails for the first time',
      polls: [aPoll(1), aPoll(2, '1'), aPoll(3, '2', '3', '4')],
      shown: 1,
      hosts: 19,
      success: false,
    },
    {
      what: 'nothing of a poll in which more than a tenth fails that failed before',
      polls: [aPoll(1), aPoll(2, '1', '2', '3'), aPoll(3, '1', '2', '3'), aPoll(4, '1', '2', '3')],
      shown: 1,
      hosts: 19,
      success: false,
    },
    {
      what: 'the very first poll with a failure, since there is nothing to hold',
      polls: [aPoll(1, '1', '2')],
      shown: 1,
      hosts: 17,
      success: false,
    },
    {
      what: 'nothing of a first poll in which more than a tenth fails',
      polls: [aPoll(1, '1', '2', '3')],
      shown: undefined,
      hosts: undefined,
      success: false,
    },
    {
      what: 'nothing of polls that bring nothing at all',
      polls: [aPoll(1), aPoll(2, ...everything), aPoll(3, ...everything)],
      shown: 1,
      hosts: 19,
      success: false,
    },
    {
      what: 'a poll in which a single other call fails, however few calls there are',
      polls: [aPoll(1), aPoll(2, '1'), { ...aPoll(3, '2'), plannedCalls: 2 }],
      shown: 3,
      hosts: 18,
      success: false,
    },
    {
      what: 'a complete poll after failures',
      polls: [aPoll(1), aPoll(2, '1'), aPoll(3)],
      shown: 3,
      hosts: 19,
      success: true,
    },
  ])('shows $what', ({ polls, shown, hosts, success }) => {
    const state = after(...polls);

    expect(state.reading?.windowEndMs).toBe(shown);
    expect(state.reading?.hosts.size).toBe(hosts);
    expect(state.pollSucceeded).toBe(success);
  });

  it.each([
    { failed: ['1', '2', '3', '4', '5'], afterMs: staleAfterMs - 1, hosts: 19 },
    { failed: ['1', '2', '3', '4', '5'], afterMs: staleAfterMs, hosts: 14 },
    { failed: hostIds.slice(0, 10), afterMs: staleAfterMs, hosts: 9 },
    { failed: hostIds.slice(0, 11), afterMs: 10 * staleAfterMs, hosts: 19 },
  ])(
    'shows $hosts hosts when $failed.length of 20 calls have failed for $afterMs ms',
    ({ failed, afterMs, hosts }) => {
      const failing = after(aPoll(1), aPoll(2, ...failed));
      const later = { monotonicMs: noNames.startMs + afterMs, wallMs: 2000 };

      const state = afterPoll(failing, aPoll(3, ...failed), noNames, later);

      expect(state.reading?.hosts.size).toBe(hosts);
    },
  );

  it('shows nothing of a poll that was refused, even if parts of it arrived', () => {
    const state = after({ ...aPoll(1, '1'), unauthorized: true });

    expect(state.reading).toBeUndefined();
  });

  it('leaves out hosts that a discovery has dropped while the poll was under way', () => {
    const before = newAppState(aSelected({ hostIds }), 0, 0);
    const shrunk = afterDiscovery(before, aSelected({ hostIds: ['1', '2'] }), 0);

    const state = afterPoll(shrunk, aPoll(1), noNames, now);

    expect([...(state.reading?.hosts.keys() ?? [])]).toEqual(['1', '2']);
  });

  it('keeps the reading as it is when a discovery only adds a host', () => {
    const before = after(aPoll(1));

    const grown = afterDiscovery(before, aSelected({ hostIds: [...hostIds, '20'] }), 0);

    expect(grown.reading).toBe(before.reading);
  });

  it('has nothing to hold back for once an application was gone', () => {
    const gone = after(aPoll(1), { ...aPoll(2), gone: true });

    const back = afterPoll(gone, aPoll(3, '1'), noNames, now);

    expect(gone.reading).toBeUndefined();
    expect(back).toMatchObject({ gone: false, pollSucceeded: false });
    expect(back.reading?.hosts.size).toBe(18);
  });

  it('begins to count a failure anew after values were published', () => {
    const failing = after(aPoll(1), aPoll(2, '1'));
    const published = afterPoll(failing, aPoll(3, '1'), noNames, now);

    expect(failing.failingSinceMs).toBe(400);
    expect(published.failingSinceMs).toBeUndefined();
  });
});
