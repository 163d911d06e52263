import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { AppEntry } from '../../src/model/config.ts';
import type { Polled, Question } from '../../src/model/source.ts';
import { PollLoop } from '../../src/poll/poll-loop.ts';
import { accountCalls } from '../newrelic/calls/call-fakes.ts';
import { aContext, aSilentSource } from '../support/a-context.ts';
import { anAccount, anApplication, anEntry } from '../support/builders.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import { type FakeSource, webOf } from '../support/fake-source.ts';
import { apis, type PollerApi, rest } from '../support/poller-bench.ts';
import {
  aTable,
  discover,
  found,
  signal,
  type TableBench,
  wholeOutcome,
} from '../support/table-bench.ts';

interface Bench extends TableBench {
  readonly loop: PollLoop;
  readonly source: FakeSource;
  /** When a poll asked for a discovery, because the vendor refused the key. */
  readonly asked: number[];
  readonly polls: (id: string) => number;
  /** Polls what is due from now on. */
  readonly start: () => void;
  /** Ends all of it: then no timer is left. */
  readonly stop: () => Promise<void>;
}

const never = async (): Promise<never> => new Promise(() => undefined);

function idsOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${index + 1}`);
}

function answered(question: Question, partCount = 1): readonly Polled[] {
  if (question.kind === 'query') return [];
  return [{ kind: 'application', question, outcome: { ...wholeOutcome(), partCount } }];
}

/** A loop over this many applications without hosts, which all answer. */
async function aLoop(
  api: PollerApi,
  count: number,
  entry: AppEntry = anEntry(),
  requestsPerMinute = 100_000,
): Promise<Bench> {
  const clock = createFakeClock();
  const source = api.sourceOf(clock);
  const calls = accountCalls(clock, { requestsPerMinute, concurrency: 1000 });
  const bench = aTable({ entries: [entry], clock, source, calls });
  for (const id of idsOf(count)) source.answer(id, webOf(1));
  await discover(bench, found(...idsOf(count).map((id) => anApplication({ id }))));
  const asked: number[] = [];
  const unauthorized = (): void => void asked.push(clock.monotonicMs());
  const loop = new PollLoop(bench.table, aContext({ source, calls, clock }), unauthorized);
  const abort = new AbortController();
  return {
    ...bench,
    loop,
    source,
    asked,
    polls: (id) => source.calls.filter((call) => call === `app ${id}`).length,
    start: () => void loop.run(abort.signal).catch(() => undefined),
    stop: async () => {
      abort.abort(new Error('test over'));
      loop.stop();
      await clock.advance(0);
      expect(clock.pendingTimers()).toBe(0);
    },
  };
}

describe.each(apis)('$name', (api) => {
  describe('PollLoop', () => {
    it('polls each application when it is due, and by itself from then on', async () => {
      const entry = anEntry({ poll: { intervalMs: 20_000 } });
      const { clock, polls, start, stop } = await aLoop(api, 2, entry);

      start();
      await clock.advance(10 * 60_000);

      expect([polls('1'), polls('2')].every((count) => count >= 31 && count <= 33)).toBe(true);
      await stop();
    });

    it('starts the poll of a silent application without a call, and goes on to the next', async () => {
      const bench = await aLoop(api, 0);
      const { clock, source, sink, start, stop } = bench;
      await discover(
        bench,
        found(...['1', '2'].map((id) => anApplication({ id, reporting: false }))),
      );

      start();
      await clock.advance(0);

      expect(source.calls).toEqual([]);
      expect([...sink.apps.values()].map(({ pollSucceeded }) => pollSucceeded)).toEqual([
        true,
        true,
      ]);
      await clock.advance(60_000);
      expect(bench.table.states.get('2')?.pollsEnded).toBe(2);
      await stop();
    });

    it.each([
      { what: 'listed, and there is one', hostIds: ['11'], expected: true, calls: 1 },
      { what: 'listed, and there are none', hostIds: [], expected: true, calls: 0 },
      { what: 'not listed', hostIds: undefined, expected: false, calls: 0 },
    ])('polls hosts alone with success only if it is known which there are: $what', async (row) => {
      const bench = await aLoop(api, 0, anEntry({ application: false }));
      const { clock, source, sink, start, stop } = bench;
      source.answer('1/11', webOf(1));
      await discover(bench, found(anApplication({ id: '1', hostIds: row.hostIds })));

      start();
      await clock.advance(0);

      expect(source.calls).toHaveLength(row.calls);
      expect(sink.apps.get('1')?.pollSucceeded).toBe(row.expected);
      await stop();
    });
  });

  describe('polls whose outcome is no longer wanted', () => {
    it('end without an outcome; those still wanted start again, and others go on', async () => {
      const bench = await aLoop(api, 3);
      const { loop, clock, source, table, polls, start, stop } = bench;
      for (const id of ['1', '2', '3']) source.answer(id, never());
      start();
      await clock.advance(1000);

      source.answer('1', webOf(7));
      await discover(bench, found(anApplication({ id: '1' }), anApplication({ id: '3' })));
      const entry = anEntry({ selector: { kind: 'id', id: '1' }, poll: { delayMs: 1 } });
      await table.reconfigure({ account: anAccount(), entries: [entry, anEntry()] }, signal);
      loop.dropUnwanted();
      await clock.advance(1000);

      expect([polls('1'), polls('2'), polls('3')]).toEqual([2, 1, 1]);
      expect(table.states.applications.get('1')?.reading?.application[0]).toBe(7);
      expect(table.states.get('3')?.pollsEnded).toBe(0);
      await stop();
    });
  });

  describe('a key that is refused', () => {
    const refused = (status: number): ApiError => new ApiError('auth', 'no', { status });

    it.each([
      { what: 'once for an application that is refused again and again', status: 401, asked: 1 },
      { what: 'not for one application that is forbidden', status: 403, asked: 0 },
    ])('brings a discovery forward: $what', async ({ status, asked: times }) => {
      const { clock, source, asked, polls, start, stop } = await aLoop(api, 2);
      source.answer('1', refused(status));

      start();
      await clock.advance(10 * 60_000);

      expect(polls('1')).toBeGreaterThan(9);
      expect(asked).toHaveLength(times);
      await stop();
    });

    it('polls nothing as long as discoveries are refused too, and brings none forward', async () => {
      const bench = await aLoop(api, 2);
      const { clock, source, asked, sink, start, stop } = bench;
      await discover(bench, { ...found(), complete: false, error: refused(401) });

      start();
      await clock.advance(10 * 60_000);

      expect([source.calls, asked]).toEqual([[], []]);
      expect(sink.apps.get('1')?.pollSucceeded).toBe(false);
      await stop();
    });
  });

  describe('pollAll', () => {
    it('polls every application once, whether it is due or not', async () => {
      const { loop, clock, source } = await aLoop(api, 30, anEntry(), 10);

      const whole = loop.pollAll(idsOf(30), signal);
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
        const whole = loop.pollAll(idsOf(3), signal);
        await clock.advance(1000);
        seen.push(await whole);
      }

      expect(seen).toEqual([false, false, false]);
    });

    it('rejects with the reason when it is aborted, and stop leaves no timer', async () => {
      const { loop, clock, source, stop } = await aLoop(api, 3);
      source.answer('2', never());
      const abort = new AbortController();
      const whole = loop.pollAll(idsOf(3), abort.signal);
      await clock.advance(1000);

      abort.abort(new Error('interrupted'));
      loop.stop();

      await expect(whole).rejects.toThrow('interrupted');
      await stop();
    });
  });
});

describe('PollLoop, by the REST API', () => {
  it('starts two hundred polls in a turn, the others in the next turns, and none of what is gone by then', async () => {
    const bench = await aLoop(rest, 450, anEntry({ hosts: false }));
    const { clock, source, sink, start, stop } = bench;
    const startedWith: number[] = [];
    const real = { ...clock };
    Object.assign(clock, {
      after: (delayMs: number, run: () => void) => {
        if (delayMs === 0) startedWith.push(source.calls.length);
        return real.after(delayMs, run);
      },
    });

    start();
    await settle();
    const inFirstTurn = source.calls.length;
    await bench.table.discovered(found(...idsOf(449).map((id) => anApplication({ id }))), signal);
    await clock.advance(0);

    expect(inFirstTurn).toBe(0);
    expect([...new Set(startedWith)]).toEqual([0, 200, 400]);
    expect(source.calls).toHaveLength(449);
    expect(sink.apps.size).toBe(449);
    await stop();
  });

  it('looks at three hundred applications no more often than every seven milliseconds', async () => {
    const entry = anEntry({ hosts: false, poll: { intervalMs: 200 } });
    const { loop, clock, table, start, stop } = await aLoop(rest, 300, entry, 1_000_000);
    const looks: number[] = [];
    const look = table.look.bind(table);
    table.look = () => (looks.push(clock.monotonicMs()), look());

    start();
    for (let ms = 0; ms < 16; ms += 1) {
      await clock.advance(1);
      loop.wake();
    }

    await clock.advance(400);

    const pausesMs = looks.slice(1).map((atMs, index) => atMs - (looks[index] ?? 0));
    expect(looks.slice(0, 3)).toEqual([0, 7, 14]);
    expect(Math.min(...pausesMs)).toBe(7);
    await stop();
  });
});

describe('a poll that was dropped and has begun again', () => {
  it('is not ended by the outcome of the one before', async () => {
    const clock = createFakeClock();
    const ends: (() => void)[] = [];
    const source = aSilentSource({
      groups: (due) => [due],
      async *poll(asked) {
        await new Promise<void>((resolve) => void ends.push(resolve));
        yield* asked().flatMap((question) => answered(question));
      },
    });
    const bench = aTable({ clock, source });
    await discover(bench, found(...idsOf(2).map((id) => anApplication({ id }))));
    const loop = new PollLoop(bench.table, aContext({ clock, source }), () => undefined);
    const told: (readonly (number | undefined)[])[] = [];

    void loop.pollAll(['1', '2'], signal);
    await settle();
    bench.table.states.delete('1');
    loop.dropUnwanted();
    await discover(bench, found(...idsOf(2).map((id) => anApplication({ id }))));
    void loop.pollAll(['1'], signal);
    await settle();
    for (const end of ends) {
      end();
      await settle();
      told.push(idsOf(2).map((id) => bench.table.states.get(id)?.pollsEnded));
    }

    expect(told).toEqual([
      [0, 1],
      [1, 1],
    ]);
  });
});

describe('a group of many applications', () => {
  it.each([
    { partCount: 1, turn: 100 },
    { partCount: 21, turn: 10 },
    { partCount: 10_000, turn: 1 },
  ])(
    'reports $turn outcomes of $partCount parts in a turn, and none of those that are dropped in between',
    async ({ partCount, turn }) => {
      const clock = createFakeClock();
      const source = aSilentSource({
        groups: (due) => [due],
        async *poll(asked) {
          yield* asked().flatMap((question) => answered(question, partCount));
        },
      });
      const bench = aTable({ clock, source });
      const ids = idsOf(120);
      await discover(bench, found(...ids.map((id) => anApplication({ id }))));
      const told = (): readonly string[] =>
        ids.filter((id) => bench.table.states.get(id)?.pollsEnded === 1);
      const loop = new PollLoop(bench.table, aContext({ clock, source }), () => undefined);

      const polled = loop.pollAll(ids, signal);
      await settle();
      const inFirstTurn = told();
      for (const id of ids.slice(110)) bench.table.states.delete(id);
      loop.dropUnwanted();
      await clock.advance(0);

      expect(await polled).toBe(true);
      expect(inFirstTurn).toEqual(ids.slice(0, turn));
      expect(told()).toEqual(ids.slice(0, 110));
      expect(clock.pendingTimers()).toBe(0);
    },
  );
});

describe('a discovery that is being taken in', () => {
  it('begins no poll before all first polls are spread', async () => {
    const bench = await aLoop(rest, 0, anEntry({ hosts: false }), 60);
    const { clock, loop, source, table, start, stop } = bench;
    const ids = idsOf(9000);
    for (const id of ids) source.answer(id, webOf(1));
    start();
    await clock.advance(1000);

    const taken = table.discovered(found(...ids.map((id) => anApplication({ id }))), signal);
    await settle();
    loop.wake();
    // Some of them are known by now, and due.
    const known = table.states.applications.size;
    const begun = table.look().due.length;
    await clock.advance(0);
    await taken;
    const dueAfterwards = table.look().due.length;

    expect(known).toBeGreaterThan(1000);
    expect(known).toBeLessThan(9000);
    expect([begun, dueAfterwards]).toEqual([0, 1]);
    await stop();
  });
});

describe('a fault of the program in a source', () => {
  const fault = new TypeError('x is not a function');
  async function aFaultyLoop(clock: FakeClock): Promise<PollLoop> {
    const source = aSilentSource({
      poll: () => {
        throw fault;
      },
    });
    const bench = aTable({ clock, source });
    await discover(bench, found(anApplication({ id: '1' })));
    return new PollLoop(bench.table, aContext({ clock, source }), () => undefined);
  }

  it('ends the loop with it', async () => {
    const clock = createFakeClock();
    const loop = await aFaultyLoop(clock);
    const ended = loop.run(signal).catch((error: unknown) => error);

    await clock.advance(0);

    expect(await ended).toBe(fault);
  });

  it('is not taken for an outcome when all is polled once', async () => {
    const loop = await aFaultyLoop(createFakeClock());

    await expect(loop.pollAll(['1'], signal)).rejects.toBe(fault);
  });
});
