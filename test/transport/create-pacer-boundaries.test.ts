import { describe, expect, it } from 'vitest';
import { createPacer } from '../../src/transport/create-pacer.ts';
import type { Pacer } from '../../src/transport/pacer.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import { neverAborted } from './fakes.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly pacer: Pacer;
  /** Who went when, such as `first 0`. */
  readonly gone: readonly string[];
  /** Makes a call that ends at once. */
  readonly call: (name: string, signal?: AbortSignal) => Promise<void>;
}

function aBench(requestsPerMinute: number): Bench {
  const clock = createFakeClock();
  const pacer = createPacer({ requestsPerMinute }, { clock });
  const gone: string[] = [];
  const call = async (name: string, signal: AbortSignal = neverAborted): Promise<void> => {
    const release = await pacer.acquire(false, signal);
    gone.push(`${name} ${clock.monotonicMs()}`);
    release();
  };
  return { clock, pacer, gone, call };
}

describe('createPacer, at its edges', () => {
  it('loses no place when a call ends while nobody waits', async () => {
    const { gone, call } = aBench(2);

    await call('first');
    await call('second');

    expect(gone).toEqual(['first 0', 'second 0']);
  });

  it('needs one timer, however many wait', async () => {
    const { clock, call } = aBench(1);
    await call('first');

    void call('second');
    void call('third');
    await settle();

    expect(clock.pendingTimers()).toBe(1);
  });

  it('lets nobody pass who comes at the moment at which a place becomes free', async () => {
    const { clock, gone, call } = aBench(1);
    await call('first');
    clock.after(60_001, () => {
      void call('newcomer');
    });

    void call('waiting');
    await clock.advance(200_000);

    expect(gone).toEqual(['first 0', 'waiting 60001', 'newcomer 120002']);
  });

  it('keeps its timer for the others when one of those who wait goes', async () => {
    const { clock, gone, call } = aBench(1);
    const controller = new AbortController();
    await call('first');

    const leaving = call('leaving', controller.signal);
    void call('staying');
    await settle();
    controller.abort(new Error('stopping'));
    await expect(leaving).rejects.toThrow('stopping');
    await clock.advance(60_001);

    expect(gone).toEqual(['first 0', 'staying 60001']);
  });
});
