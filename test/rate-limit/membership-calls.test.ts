import { describe, expect, it } from 'vitest';
import type { Permit } from '../../src/model/permit.ts';
import { KeyTable } from '../../src/rate-limit/key-table.ts';
import { Membership } from '../../src/rate-limit/membership.ts';
import { anAccount } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { aCallerFor } from './fakes.ts';

function aBench() {
  const clock = createFakeClock();
  const keys = new KeyTable({ clock, logger: createFakeLogger() });
  const join = (name: string): Membership =>
    new Membership(anAccount({ name, requestsPerMinute: 10 }), 'key-1', keys);
  return { clock, join };
}

async function permitsOf(membership: Membership, calls: number): Promise<readonly Permit[]> {
  const caller = aCallerFor(membership);
  return Promise.all(Array.from({ length: calls }, async () => caller.acquire()));
}

describe('the calls of the last minute', () => {
  it('are those in flight and those that ended in the last 60 seconds, of each account for itself', async () => {
    const { clock, join } = aBench();
    const [one, other] = [join('one'), join('other')];
    const [first, second] = await permitsOf(one, 2);
    await permitsOf(other, 1);
    const seen: number[] = [];
    const look = (): void => {
      seen.push(one.callsLastMinute());
    };
    look();
    await clock.advance(30_000);
    first?.release(true);
    look();
    await clock.advance(60_000);
    look();
    await clock.advance(1000);
    look();
    second?.release(true);
    await clock.advance(61_000);
    look();

    expect(seen).toEqual([2, 2, 2, 1, 0]);
    expect(other.callsLastMinute()).toBe(1);
  });

  it('stay when the account moves to another key', async () => {
    const { join } = aBench();
    const one = join('one');
    const [permit] = await permitsOf(one, 2);
    one.rekey('key-2');
    await permitsOf(one, 1);
    permit?.release(true);

    expect(one.callsLastMinute()).toBe(3);
  });
});
