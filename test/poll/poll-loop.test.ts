import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { AppEntry } from '../../src/model/config.ts';
import type { Question } from '../../src/model/source.ts';
import { restCosts } from '../../src/newrelic/rest/rest-source.ts';
import { PollLoop } from '../../src/poll/poll-loop.ts';
import { accountCalls } from '../newrelic/calls/call-fakes.ts';
import { anApplication, anEntry } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { type FakeSource, webOf } from '../support/fake-source.ts';
import { apis, type PollerApi, rest } from '../support/poller-bench.ts';
import { aTable, found, signal, type TableBench } from '../support/table-bench.ts';

interface Bench extends TableBench {
  readonly loop: PollLoop;
  readonly source: FakeSource;
  /** When a poll asked for a discovery, because the vendor refused the key. */
  readonly asked: number[];
  readonly polls: (id: string) => number;
}

const never = async (): Promise<never> => new Promise(() => undefined);

/** A loop over this many applications without hosts, which all answer. */
async function aLoop(
  api: PollerApi,
  count: number,
  entry: AppEntry = anEntry(),
  perMinute = 100_000,
): Promise<Bench> {
  const clock = createFakeClock();
  const source = api.sourceOf(clock);
  const bench = aTable({ entries: [entry], budgetPerMinute: () => perMinute, clock, source });
  const { table } = bench;
  const ids = Array.from({ length: count }, (_, index) => `${index + 1}`);
  for (const id of ids) source.answer(id, webOf(1));
  const taken = table.discovered(found(...ids.map((id) => anApplication({ id }))), signal);
  await clock.advance(0);
  await taken;
  const asked: number[] = [];
  const calls = accountCalls(clock, { requestsPerMinute: perMinute, concurrency: 1000 });
  const unauthorized = (): void => {
    asked.push(clock.monotonicMs());
  };
  const loop: PollLoop = new PollLoop(table, {
    source,
    calls,
    clock,
    unauthorized,
  });
  const polls = (id: string): number => source.calls.filter((call) => call === `app ${id}`).length;
  return { ...bench, loop, source, asked, polls };
}

describe.each(apis)('$name', (api) => {
  describe('PollLoop', () => {
    it('polls each application when it is due, and by itself from then on', async () => {
      const { loop, clock, polls } = await aLoop(api, 2);

      loop.wake();
      await clock.advance(10 * 60_000);

      expect([polls('1'), polls('2')].every((count) => count >= 11 && count <= 13)).toBe(true);
      loop.stop();
      expect(clock.pendingTimers()).toBe(0);
    });

    it('starts the poll of a silent application without a call, and goes on to the next', async () => {
      const { loop, clock, table, source, sink } = await aLoop(api, 0);
      const silent = ['1', '2'].map((id) => anApplication({ id, reporting: false }));
      await table.discovered(found(...silent), signal);

      loop.wake();
      await clock.advance(0);

      expect(source.calls).toEqual([]);
      expect([...sink.apps.values()].map(({ pollSucceeded }) => pollSucceeded)).toEqual([
        true,
        true,
      ]);
      loop.stop();
      expect(clock.pendingTimers()).toBe(0);
    });

    it.each([
      { what: 'listed, and there is one', hostIds: ['11'], expected: true, calls: 1 },
      { what: 'listed, and there are none', hostIds: [], expected: true, calls: 0 },
      { what: 'not listed', hostIds: undefined, expected: false, calls: 0 },
    ])('polls hosts alone with success only if it is known which there are: $what', async (row) => {
      const { loop, clock, table, source, sink } = await aLoop(
        api,
        0,
        anEntry({ application: false }),
      );
      source.answer('1/11', webOf(1));
      await table.discovered(found(anApplication({ id: '1', hostIds: row.hostIds })), signal);

      loop.wake();
      await clock.advance(0);

      expect(source.calls).toHaveLength(row.calls);
      expect(sink.apps.get('1')?.pollSucceeded).toBe(row.expected);
      loop.stop();
      expect(clock.pendingTimers()).toBe(0);
    });
  });

  describe('polls that are aborted', () => {
    it('end without an outcome; those still wanted start again, and others go on', async () => {
      const { loop, clock, source, table, polls } = await aLoop(api, 3);
      for (const id of ['1', '2', '3']) source.answer(id, never());
      loop.wake();
      await clock.advance(1000);

      loop.abort(['1', '2', 'unknown']);
      source.answer('1', webOf(7));
      await table.discovered(found(anApplication({ id: '1' }), anApplication({ id: '3' })), signal);
      loop.wake();
      await clock.advance(1000);

      expect([polls('1'), polls('2'), polls('3')]).toEqual([2, 1, 1]);
      expect(table.states.get('1')?.reading?.application).toEqual(webOf(7));
      expect(table.states.get('3')?.pollsEnded).toBe(0);
      loop.stop();
      expect(clock.pendingTimers()).toBe(0);
    });
  });

  describe('a key that is refused', () => {
    const refused = (status: number): ApiError => new ApiError('auth', 'no', { status });

    it.each([
      { what: 'once for an application that is refused again and again', status: 401, asked: 1 },
      { what: 'not for one application that is forbidden', status: 403, asked: 0 },
    ])('brings a discovery forward: $what', async ({ status, asked: times }) => {
      const { loop, clock, source, asked, polls } = await aLoop(api, 2);
      source.answer('1', refused(status));

      loop.wake();
      await clock.advance(10 * 60_000);

      expect(polls('1')).toBeGreaterThan(9);
      expect(asked).toHaveLength(times);
      loop.stop();
    });

    it('polls nothing as long as discoveries are refused too, and brings none forward', async () => {
      const { loop, clock, source, table, asked, sink } = await aLoop(api, 2);
      const error = refused(401);
      await table.discovered({ ...found(), complete: false, error }, signal);

      loop.wake();
      await clock.advance(10 * 60_000);

      expect([source.calls, asked]).toEqual([[], []]);
      expect(sink.apps.get('1')?.pollSucceeded).toBe(false);
      loop.stop();
    });
  });

  describe('pollAll', () => {
    it('polls every application once, whether it is due or not', async () => {
      const { loop, clock, source } = await aLoop(api, 30, anEntry(), 10);

      const whole = loop.pollAll(signal);
      await clock.advance(20 * 60_000);

      expect(await whole).toBe(true);
      expect(source.calls).toHaveLength(30);
      expect(clock.pendingTimers()).toBe(0);
    });

    it('says that not everything arrived, whichever application it was', async () => {
      const seen: boolean[] = [];
      for (const failing of ['1', '2', '3']) {
        const { loop, clock, source } = await aLoop(api, 3);
        source.answer(failing, new ApiError('server', 'no', { status: 500 }));
        const whole = loop.pollAll(signal);
        await clock.advance(1000);
        seen.push(await whole);
      }

      expect(seen).toEqual([false, false, false]);
    });

    it('rejects with the reason when it is aborted, and stop leaves no timer', async () => {
      const { loop, clock, source } = await aLoop(api, 3);
      source.answer('2', never());
      const abort = new AbortController();
      const whole = loop.pollAll(abort.signal);
      await clock.advance(1000);

      abort.abort(new Error('interrupted'));
      loop.stop();

      await expect(whole).rejects.toThrow('interrupted');
      expect(clock.pendingTimers()).toBe(0);
    });
  });

  describe('dueSinceMs', () => {
    it('is when the first poll was due that was not started', async () => {
      const { loop, clock, table } = await aLoop(api, 20);
      loop.wake();
      await clock.advance(10_000);
      const dueMs = table.queue.nextEventMs() ?? 0;
      // The timer of the loop is lost.
      loop.stop();

      await clock.advance(dueMs - clock.monotonicMs() - 1);
      const before = loop.dueSinceMs();
      await clock.advance(300_000);

      expect([before, loop.dueSinceMs()]).toEqual([undefined, dueMs]);
    });
  });
});

describe('PollLoop, by the REST API', () => {
  it('starts two hundred polls in a turn, and the others in the next turns', async () => {
    const { loop, clock, source, sink } = await aLoop(rest, 450, anEntry({ hosts: false }));
    const startedWith: number[] = [];
    const real = { ...clock };
    Object.assign(clock, {
      after: (delayMs: number, run: () => void) => {
        if (delayMs === 0) startedWith.push(source.calls.length);
        return real.after(delayMs, run);
      },
    });

    loop.wake();
    const inFirstTurn = source.calls.length;
    await clock.advance(0);

    expect(inFirstTurn).toBe(200);
    expect([...new Set(startedWith)]).toEqual([200, 400]);
    expect(source.calls).toHaveLength(450);
    expect(sink.apps.size).toBe(450);
    loop.stop();
  });
});

describe('a poll that is due and in no batch yet', () => {
  it('is in none when its application is gone', async () => {
    const clock = createFakeClock();
    const asked: string[] = [];
    const source = {
      costs: restCosts,
      listsHosts: true,
      sharesCalls: true,
      batches: (due: readonly Question[]) => {
        asked.push(...due.map(({ selected }) => selected.application.id));
        return [];
      },
    };
    const { table } = aTable({ clock, source, budgetPerMinute: () => 100_000 });
    const all = Array.from({ length: 450 }, (_, index) => anApplication({ id: `${index}` }));
    const taken = table.discovered(found(...all), signal);
    await clock.advance(0);
    await taken;
    const calls = accountCalls(clock, { requestsPerMinute: 100_000, concurrency: 1000 });
    const loop: PollLoop = new PollLoop(table, {
      source,
      calls,
      clock,
      unauthorized: () => undefined,
    });
    loop.wake();

    const discovered = async (): Promise<void> => {
      loop.abort(await table.discovered(found(...all.slice(1)), signal));
    };
    const done = discovered();
    await clock.advance(1000);
    await done;

    expect(asked).not.toContain('0');
    expect(new Set(asked).size).toBe(449);
    loop.stop();
  });
});
