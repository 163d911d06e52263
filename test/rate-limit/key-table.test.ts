import { describe, expect, it } from 'vitest';
import { KeyTable, type Member } from '../../src/rate-limit/key-table.ts';
import { anAccount } from '../support/builders.ts';
import { createFakeClock, settle } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';

const place = anAccount();

const member: Member = {
  name: 'production',
  requestsPerMinute: 5,
  shareMayHaveChanged: () => undefined,
};

describe('KeyTable', () => {
  it('forgets a key without accounts that nothing distinguishes from a new one', () => {
    const keys = new KeyTable({ clock: createFakeClock(), logger: createFakeLogger() });

    const first = keys.find(place, 'key-1', 5);
    keys.find(place, 'key-2', 5);

    expect(keys.find(place, 'key-1', 5)).not.toBe(first);
  });

  it('keeps a key that an account uses', () => {
    const keys = new KeyTable({ clock: createFakeClock(), logger: createFakeLogger() });
    const first = keys.find(place, 'key-1', 5);
    keys.add(first, member);

    keys.find(place, 'key-2', 5);

    expect(keys.find(place, 'key-1', 5)).toBe(first);
  });

  it.each([
    { afterMs: 60_000, isKept: true },
    { afterMs: 60_001, isKept: false },
  ])('keeps a key that was used $afterMs ms ago: $isKept', async ({ afterMs, isKept }) => {
    const clock = createFakeClock();
    const keys = new KeyTable({ clock, logger: createFakeLogger() });
    const first = keys.find(place, 'key-1', 5);
    first.limiter.take().release(true);
    await settle();

    await clock.advance(afterMs);
    keys.find(place, 'key-2', 5);

    expect(keys.find(place, 'key-1', 5) === first).toBe(isKept);
  });
});
