import { describe, expect, it } from 'vitest';
import { KeyTable, type Member } from '../../src/rate-limit/key-table.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { neverAborted } from '../transport/fakes.ts';

const baseUrl = 'https://api.newrelic.com';

const member: Member = {
  name: 'production',
  requestsPerMinute: () => 5,
  demandPerMinute: () => 5,
  isWatching: () => false,
  limitMayHaveChanged: () => undefined,
};

describe('KeyTable', () => {
  it('forgets a key that has no account and could not be told from a new one', () => {
    const keys = new KeyTable({ clock: createFakeClock(), logger: createFakeLogger() });

    const first = keys.find(baseUrl, 'key-1', 5);
    keys.find(baseUrl, 'key-2', 5);

    expect(keys.find(baseUrl, 'key-1', 5)).not.toBe(first);
  });

  it('keeps a key that an account uses', () => {
    const keys = new KeyTable({ clock: createFakeClock(), logger: createFakeLogger() });
    const first = keys.find(baseUrl, 'key-1', 5);
    keys.add(first, member);

    keys.find(baseUrl, 'key-2', 5);

    expect(keys.find(baseUrl, 'key-1', 5)).toBe(first);
  });

  it.each([
    { afterMs: 60_000, isKept: true },
    { afterMs: 60_001, isKept: false },
  ])('keeps a key that was used $afterMs ms ago: $isKept', async ({ afterMs, isKept }) => {
    const clock = createFakeClock();
    const keys = new KeyTable({ clock, logger: createFakeLogger() });
    const first = keys.find(baseUrl, 'key-1', 5);
    const permit = await first.limiter.acquire({ urgent: false, owner: {} }, neverAborted);
    permit?.release();

    await clock.advance(afterMs);
    keys.find(baseUrl, 'key-2', 5);

    expect(keys.find(baseUrl, 'key-1', 5) === first).toBe(isKept);
  });
});
