import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { AppEntry } from '../../src/model/config.ts';
import type { Polled, Question } from '../../src/model/source.ts';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import { aSilentSource } from '../support/a-context.ts';
import { anAccount, anApplication, anEntry } from '../support/builders.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import { webOf } from '../support/fake-source.ts';
import {
  aBench,
  aBenchOf,
  apis,
  type PollerApi,
  type PollerBench,
  rest,
} from '../support/poller-bench.ts';
import { slow } from '../support/slow.ts';
import { found, wholeOutcome } from '../support/table-bench.ts';

const never = async (): Promise<never> => new Promise(() => undefined);

function idsOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${index + 1}`);
}

function applications(count: number): ReturnType<typeof anApplication>[] {
  return idsOf(count).map((id) => anApplication({ id, name: `app ${id}` }));
}

function answered(question: Question, partCount = 1): readonly Polled[] {
  if (question.kind === 'query') return [];
  return [{ kind: 'application', question, outcome: { ...wholeOutcome(), partCount } }];
}

/** A poller of this many applications without hosts, which all answer. */
function aPoller(
  api: PollerApi,
  count: number,
  entry: AppEntry = anEntry(),
  requestsPerMinute = 100_000,
): PollerBench {
  const bench = aBench(api, [entry], { requestsPerMinute, concurrency: 1000 });
  bench.source.list(...applications(count));
  for (const id of idsOf(count)) bench.source.answer(id, webOf(1));
  return bench;
}

function pollsOf({ source }: PollerBench, ...ids: readonly string[]): readonly number[] {
  return ids.map((id) => source.calls.filter((call) => call === `app ${id}`).length);
}

function listsOf({ source }: PollerBench): number {
  return source.calls.filter((call) => call === 'list').length;
}

/** Applications whose polls have succeeded. */
function succeeded({ sink }: Pick<PollerBench, 'sink'>): readonly string[] {
  const shown = [...sink.apps.values()].filter(({ pollSucceeded }) => pollSucceeded === true);
  return shown.map(({ application }) => application.id);
}

/** The settings by which every application is polled like that but these. */
function without(
  ids: readonly string[],
  entry: AppEntry = anEntry(),
): Parameters<PollerBench['poller']['reconfigure']>[0] {
  const left = ids.map((id) => anEntry({ selector: { kind: 'id', id }, exclude: true }));
  return { account: anAccount(), entries: [...left, entry] };
}

/** Told each time when other work has run. */
function atTurns(clock: FakeClock, told: () => void): void {
  const after = clock.after.bind(clock);
  clock.after = (delayMs, run) =>
    after(delayMs, () => {
      if (delayMs === 0) told();
      run();
    });
}

describe.each(apis)('$name', (api) => {
  describe('the applications of an account', () => {
    it('are each polled when they are due, and by themselves from then on', async () => {
      const bench = aPoller(api, 2, anEntry({ poll: { intervalMs: 20_000 } }));
      bench.start();

      await bench.clock.advance(10 * minuteMs);

      expect(pollsOf(bench, '1', '2').every((count) => count >= 31 && count <= 33)).toBe(true);
    });

    it('are polled without a call while they are silent, again and again', async () => {
      const bench = aBench(api);
      bench.source.list(...['1', '2'].map((id) => anApplication({ id, reporting: false })));
      bench.start();

      await bench.clock.advance(minuteMs - 1);

      expect(bench.source.calls).toEqual(['list']);
      expect(succeeded(bench)).toEqual(['1', '2']);
      expect(bench.polls.length).toBeGreaterThanOrEqual(2);
      const before = bench.polls.length;
      await bench.clock.advance(minuteMs);
      expect(bench.polls.length).toBeGreaterThanOrEqual(before + 2);
    });

    it.each([
      { what: 'listed, and there is one', hostIds: ['11'], expected: true, calls: 1 },
      { what: 'listed, and there are none', hostIds: [], expected: true, calls: 0 },
      { what: 'not listed', hostIds: undefined, expected: false, calls: 0 },
    ])(
      'have success with hosts alone only if it is known which there are: $what',
      async ({ hostIds, expected, calls }) => {
        const bench = aBench(api, [anEntry({ application: false })]);
        bench.source.answer('1/11', webOf(1));
        bench.source.list(anApplication({ id: '1', hostIds }));
        bench.start();

        await bench.clock.advance(0);

        expect(bench.source.calls).toHaveLength(1 + calls);
        expect(bench.sink.apps.get('1')?.pollSucceeded).toBe(expected);
      },
    );
  });

  describe('polls whose outcome is no longer wanted', () => {
    it('end without an outcome; those still wanted start again, and others go on', async () => {
      const bench = aPoller(api, 3);
      for (const id of ['1', '2', '3']) bench.source.answer(id, never());
      bench.start();
      await bench.clock.advance(1000);

      bench.source.answer('1', webOf(7));
      bench.source.list(anApplication({ id: '1' }), anApplication({ id: '3' }));
      const entry = anEntry({ selector: { kind: 'id', id: '1' }, poll: { delayMs: 1 } });
      await bench.poller.reconfigure({ account: anAccount(), entries: [entry, anEntry()] });
      await bench.clock.advance(1000);

      expect(pollsOf(bench, '1', '2', '3')).toEqual([2, 1, 1]);
      expect(bench.sink.apps.get('1')?.reading?.application[0]).toBe(7);
      expect([[...bench.sink.apps.keys()], bench.polls]).toEqual([['1', '3'], [true]]);
    });
  });

  describe('a key that is refused', () => {
    const refused = (status: number): ApiError => new ApiError('auth', 'no', { status });

    it.each([
      { what: 'once for an application that is refused again and again', status: 401, lists: 2 },
      { what: 'not for one application that is forbidden', status: 403, lists: 1 },
    ])('brings a discovery forward: $what', async ({ status, lists }) => {
      const bench = aPoller(api, 2, anEntry({ poll: { discoveryIntervalMs: hourMs } }));
      bench.source.answer('1', refused(status));
      bench.start();

      await bench.clock.advance(10 * minuteMs);

      expect(pollsOf(bench, '1')[0]).toBeGreaterThan(9);
      expect(listsOf(bench)).toBe(lists);
    });

    it('polls nothing as long as discoveries are refused too, and brings none forward', async () => {
      const bench = aPoller(api, 2);
      bench.start();
      await bench.clock.advance(minuteMs - 1);
      bench.source.failDiscovery(refused(401));
      await bench.clock.advance(1);
      bench.source.calls.length = 0;

      await bench.clock.advance(10 * minuteMs);

      expect(new Set(bench.source.calls)).toEqual(new Set(['list']));
      expect(bench.source.calls).toHaveLength(10);
      expect(bench.sink.apps.get('1')?.pollSucceeded).toBe(false);
    });
  });

  describe('an account that is polled once', () => {
    it('polls every application, whether it is due or not', async () => {
      const { poller, clock, source } = aPoller(api, 30, anEntry(), 10);

      const whole = poller.runOnce(new AbortController().signal);
      await clock.advance(20 * minuteMs);

      expect(await whole).toBe(true);
      expect(source.calls.filter((call) => call.startsWith('app '))).toHaveLength(30);
      expect(clock.pendingTimers()).toBe(0);
    });

    it('says that not everything arrived, whichever application it was', async () => {
      const seen: boolean[] = [];
      for (const failing of ['1', '2', '3']) {
        const { poller, clock, source } = aPoller(api, 3);
        source.answer(failing, new ApiError('server', 'no', { status: 500 }));
        const whole = poller.runOnce(new AbortController().signal);
        await clock.advance(1000);
        seen.push(await whole);
      }

      expect(seen).toEqual([false, false, false]);
    });

    it('rejects with the reason when it is aborted, and leaves no timer', async () => {
      const { poller, clock, source } = aPoller(api, 3);
      source.answer('2', never());
      const abort = new AbortController();
      const whole = poller.runOnce(abort.signal);
      await clock.advance(1000);

      abort.abort(new Error('interrupted'));

      await expect(whole).rejects.toThrow('interrupted');
      await clock.advance(0);
      expect(clock.pendingTimers()).toBe(0);
    });
  });
});

describe('many applications, by the REST API', () => {
  it('have two hundred polls started in a turn, and none of what is gone by then', async () => {
    const entry = anEntry({ hosts: false });
    const bench = aPoller(rest, 450, entry);
    const { clock, source, sink, poller } = bench;
    const startedWith = new Set<number>();
    const startedNow = (): number => source.calls.filter((call) => call !== 'list').length;
    atTurns(clock, () => {
      const isFirst = !startedWith.has(200) && startedNow() === 200;
      startedWith.add(startedNow());
      if (isFirst) queueMicrotask(() => void poller.reconfigure(without(['450'], entry)));
    });
    bench.start();

    await clock.advance(0);

    expect([...startedWith].slice(0, 3)).toEqual([0, 200, 400]);
    expect(startedNow()).toBe(449);
    expect(sink.apps.size).toBe(449);
  });

  it(
    'are looked at no more often than every seven milliseconds, if there are three hundred',
    slow,
    async () => {
      const entry = anEntry({ hosts: false, poll: { intervalMs: 200 } });
      const bench = aPoller(rest, 300, entry, 1_000_000);
      const { clock, poller, source } = bench;
      bench.start();
      await clock.advance(1000);
      const looks = new Set<number>();
      const groups = source.groups.bind(source);
      source.groups = (...asked) => (looks.add(clock.monotonicMs()), groups(...asked));

      for (let ms = 0; ms < 400; ms += 1) {
        await clock.advance(1);
        // Something may have changed.
        poller.ask({ account: anAccount(), entries: [entry] });
      }

      const atMs = [...looks];
      const pausesMs = atMs.slice(1).map((ms, index) => ms - (atMs[index] ?? 0));
      expect(new Set(pausesMs)).toEqual(new Set([7]));
    },
  );

  it('begin no poll before all first polls are spread', slow, async () => {
    const bench = aBench(rest, [anEntry({ hosts: false })], { requestsPerMinute: 60 });
    const { clock, source, poller } = bench;
    for (const id of idsOf(9000)) source.answer(id, webOf(1));
    source.list(...applications(9000));
    const seen: number[] = [];
    atTurns(clock, () => {
      const known = poller.judge.status().applications;
      if (known <= 1000 || known >= 9000) return;
      // Something has changed: the loop looks at what is due.
      poller.ask({ account: anAccount(), entries: [anEntry({ hosts: false })] });
      seen.push(source.calls.length - listsOf(bench));
    });
    bench.start();

    await clock.advance(500);

    expect(new Set(seen)).toEqual(new Set([0]));
    expect(pollsOf(bench, '1')).toEqual([1]);
    expect(source.calls.length - listsOf(bench)).toBe(1);
  });
});

describe('a poll that was dropped and has begun again', () => {
  it('is not ended by the outcome of the one before', async () => {
    const clock = createFakeClock();
    const ends: (() => void)[] = [];
    const source = aSilentSource({
      discover: async () => found(...applications(2)),
      groups: (due) => [due].filter(({ length }) => length > 0),
      async *poll(asked) {
        await new Promise<void>((resolve) => void ends.push(resolve));
        yield* asked().flatMap((question) => answered(question));
      },
    });
    const bench = aBenchOf(source, clock);
    const told: (readonly string[])[] = [];
    bench.start();
    await clock.advance(1000);

    const other = anEntry({ selector: { kind: 'id', id: '1' }, poll: { delayMs: 1 } });
    await bench.poller.reconfigure({ account: anAccount(), entries: [other, anEntry()] });
    await clock.advance(1000);
    for (const end of ends) {
      end();
      await clock.advance(0);
      told.push(succeeded(bench));
    }

    expect(told).toEqual([['2'], ['1', '2']]);
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
      const ids = idsOf(120);
      let begin = (): void => undefined;
      const begun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const source = aSilentSource({
        discover: async () => found(...applications(120)),
        groups: (due) => [due].filter(({ length }) => length > 0),
        async *poll(asked) {
          await begun;
          yield* asked().flatMap((question) => answered(question, partCount));
        },
      });
      const bench = aBenchOf(source, clock);
      const polled = bench.poller.runOnce(new AbortController().signal);
      await clock.advance(0);

      begin();
      await settle();
      const inFirstTurn = succeeded(bench);
      const reloaded = bench.poller.reconfigure(without(ids.slice(110)));
      await settle();
      await clock.advance(0);
      await reloaded;

      expect(inFirstTurn).toEqual(ids.slice(0, turn));
      expect(succeeded(bench)).toEqual(ids.slice(0, 110));
      expect(bench.polls).toHaveLength(110);
      await polled;
      expect(clock.pendingTimers()).toBe(0);
    },
  );
});

describe('a fault of the program in a source', () => {
  const fault = new TypeError('x is not a function');
  function aFaultyPoller(clock: FakeClock): PollerBench['poller'] {
    const source = aSilentSource({
      discover: async () => found(...applications(1)),
      poll: () => {
        throw fault;
      },
    });
    return aBenchOf(source, clock).poller;
  }

  it('ends the poller with it', async () => {
    const clock = createFakeClock();
    const ended = aFaultyPoller(clock)
      .run(new AbortController().signal)
      .catch((error: unknown) => error);

    await clock.advance(0);

    expect(await ended).toBe(fault);
  });

  it('is not taken for an outcome when all is polled once', async () => {
    await expect(
      aFaultyPoller(createFakeClock()).runOnce(new AbortController().signal),
    ).rejects.toBe(fault);
  });
});
