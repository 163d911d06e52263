import { describe, expect, it } from 'vitest';
import type { Selector } from '../../src/model/config.ts';
import type { Discovery } from '../../src/model/source.ts';
import { discoverWithin } from '../../src/poller/discovery-state.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

const found: Discovery = {
  applications: [],
  complete: true,
  unreadableIds: [],
  pendingIds: [],
  calls: 3,
  error: undefined,
};
const selectors: readonly Selector[] = [{ kind: 'id', id: '7' }];

type Discover = (
  selectors: readonly Selector[],
  knownIds: readonly string[],
  signal: AbortSignal,
) => Promise<Discovery>;

async function within(
  discover: Discover,
  clock: FakeClock,
  signal: AbortSignal = new AbortController().signal,
): Promise<Discovery> {
  return discoverWithin(120_000, { source: { discover }, clock }, selectors, ['8'], signal);
}

/** Gives the reason of the abort as its error, as a source does that was cut short. */
const hanging: Discover = async (_selectors, _known, signal) =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve({ ...found, complete: false, error: signal.reason as Error });
    });
  });

describe('discoverWithin', () => {
  it('gives what the source found of what was asked, and leaves no timer', async () => {
    const clock = createFakeClock();
    const asked: unknown[] = [];

    const discovery = await within(async (...all) => {
      asked.push(all.slice(0, 2));
      return found;
    }, clock);

    expect(discovery).toBe(found);
    expect(asked).toEqual([[selectors, ['8']]]);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('gives what was found by the deadline, with a reason that names it', async () => {
    const clock = createFakeClock();
    let discovery: Discovery | undefined;
    const done = (async () => {
      discovery = await within(hanging, clock);
    })();

    await clock.advance(119_999);
    const before = discovery;
    await clock.advance(1);
    await done;

    expect(before).toBeUndefined();
    expect(discovery).toMatchObject({ complete: false, calls: 3, error: { reason: 'timeout' } });
    expect(discovery?.error?.message).toContain('did not end within 120 s');
    expect(clock.pendingTimers()).toBe(0);
  });

  it('tells the source the reason of an abort, and leaves no timer', async () => {
    const clock = createFakeClock();
    const abort = new AbortController();
    const done = within(hanging, clock, abort.signal);
    const reason = new Error('stopped');

    abort.abort(reason);

    await expect(done).resolves.toMatchObject({ error: reason });
    expect(clock.pendingTimers()).toBe(0);
  });

  it('leaves no timer when the source rejects', async () => {
    const clock = createFakeClock();
    const fault = new Error('a fault of our own');

    const done = within(async () => {
      throw fault;
    }, clock);

    await expect(done).rejects.toBe(fault);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('does not ask at all when it was aborted before', async () => {
    const clock = createFakeClock();
    const abort = new AbortController();
    abort.abort(new Error('stopped'));
    let asked = 0;

    const done = within(
      async () => {
        asked += 1;
        return found;
      },
      clock,
      abort.signal,
    );

    await expect(done).rejects.toThrow('stopped');
    expect(asked).toBe(0);
  });
});
