import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import {
  type HostNameState,
  hostNamesAfter,
  noHostNames,
  shouldAskHostNames,
} from '../../src/poller/host-names.ts';
import { aSelected } from '../support/builders.ts';

const hostIds = ['11', '12', '13'];
const now = { monotonicMs: 5000 };
const askAgainMs = now.monotonicMs + 10 * 60_000;
const failure = new ApiError('timeout', 'no answer in time');

function after(known: HostNameState, names: [string, string][], error?: ApiError): HostNameState {
  const outcome = { hostNames: new Map(names), hostNamesError: error };
  return hostNamesAfter(known, aSelected({ hostIds }), outcome, now);
}

describe('host names of which some did not arrive', () => {
  it('are kept with those known before, and the rest is asked for again in ten minutes', () => {
    const first = after(noHostNames, [['11', 'a']], failure);
    const second = after(first, [['12', 'b']], failure);

    expect([...second.names]).toEqual([
      ['11', 'a'],
      ['12', 'b'],
    ]);
    expect(second).toMatchObject({ askAgainMs, incompleteAnswers: 0 });
  });

  it('are asked for again however many answers were incomplete before', () => {
    const known = { ...noHostNames, incompleteAnswers: 3 };

    const state = after(known, [['11', 'a']], failure);

    expect(state).toMatchObject({ askAgainMs, incompleteAnswers: 3 });
  });

  it('are not asked for again if all that are needed have arrived', () => {
    const names = hostIds.map((id): [string, string] => [id, `host ${id}`]);

    const state = after(noHostNames, names, failure);

    expect(state).toMatchObject({ askAgainMs: undefined });
    expect(state.names.size).toBe(3);
  });

  it('are asked for at that time, and not before', () => {
    const selected = aSelected({ hostIds }, { poll: { hostNames: true } });
    const hostNames = after(noHostNames, [['11', 'a']], failure);

    const isDue = [askAgainMs - 1, askAgainMs].map((nowMs) =>
      shouldAskHostNames({ selected, hostNames, reading: undefined }, nowMs),
    );

    expect(isDue).toEqual([false, true]);
  });
});
