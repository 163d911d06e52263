import { describe, expect, it } from 'vitest';
import { createLingeringSink } from '../../src/exposition/lingering-sink.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFakeSink } from '../support/fake-sink.ts';
import { aSnapshot } from './builders.ts';

function aBench() {
  const clock = createFakeClock();
  const shown = createFakeSink();
  const sink = createLingeringSink(shown, { clock });
  const snapshot = aSnapshot();
  sink.publish(snapshot);
  const { id } = snapshot.application;
  return { clock, shown, sink, snapshot, account: snapshot.account, id };
}

describe('createLingeringSink', () => {
  it('goes on showing what another process has taken over, until that one shows it', async () => {
    const { clock, shown, sink, account, id } = aBench();

    sink.handOver?.(account, id, 90_000);
    await clock.advance(89_999);
    const before = shown.apps.has(id);
    await clock.advance(1);

    expect([before, shown.apps.has(id)]).toEqual([true, false]);
  });

  it('keeps what has come back', async () => {
    const { clock, shown, sink, snapshot, account, id } = aBench();

    sink.handOver?.(account, id, 90_000);
    sink.publish(snapshot);
    await clock.advance(100_000);

    expect(shown.apps.has(id)).toBe(true);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('removes at once what is gone, and whole accounts', () => {
    const { clock, shown, sink, snapshot, account, id } = aBench();

    sink.handOver?.(account, id, 90_000);
    sink.remove(account, id);
    const afterRemove = shown.apps.size;
    sink.publish(snapshot);
    sink.handOver?.(account, id, 90_000);
    sink.removeAccount(account);

    expect([afterRemove, shown.apps.size]).toEqual([0, 0]);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('passes the state of an account on', () => {
    const { shown, sink } = aBench();

    sink.accountUp('production', false);

    expect(shown.up.get('production')).toBe(false);
  });
});
