import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { applicationScope, type PollOutcome } from '../../src/model/poll-outcome.ts';
import { type AppState, afterPoll, newAppState } from '../../src/poll/app-state.ts';
import { aSelected } from '../support/builders.ts';
import { slow } from '../support/slow.ts';
import { wholeOutcome } from '../support/table-bench.ts';

const broken = new ApiError('server', 'HTTP 500');
const now = { wallMs: 1000, monotonicMs: 1000 };

/** The state after these polls, one after the other. */
function after(hostIds: readonly string[], ...outcomes: readonly PollOutcome[]): AppState {
  const first = newAppState(aSelected({ hostIds }), 0, 0);
  return outcomes.reduce((state, outcome) => afterPoll(state, outcome, 0, now), first);
}

describe('the outcome of a poll', () => {
  it.each([
    { failed: [applicationScope], error: broken, reason: 'server' },
    { failed: [applicationScope], error: undefined, reason: 'client' },
    { failed: [], error: broken, reason: undefined },
  ])('is a failure for $reason after $failed', ({ failed, error, reason }) => {
    const outcome = { ...wholeOutcome(), failed: new Set(failed), error };

    expect(after([], outcome).failure?.reason).toBe(reason);
  });

  it('may be the failure of very many hosts, whose values are held', slow, () => {
    const ids = Array.from({ length: 150_000 }, (_, index) => String(index + 1));
    const failed = new Set([applicationScope, ...ids]);
    const lost = { ...wholeOutcome(), reading: undefined, error: broken, failed };

    expect(after(ids, wholeOutcome(ids), lost).reading?.hosts.size).toBe(150_000);
  });
});
