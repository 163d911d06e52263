import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { Application } from '../../src/model/application.ts';
import { createOwnerOf } from '../../src/model/shard.ts';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import { anAccount, anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, type PollerBench, rest } from '../support/poller-bench.ts';

type Entry = Parameters<typeof anEntry>[0];

const unanswered = new ApiError('connect', 'no connection');
const answered = new ApiError('server', 'HTTP 500', { status: 500 });
const refused = new ApiError('auth', 'HTTP 401', { status: 401 });

const nine = Array.from({ length: 9 }, (_, index) => `${index + 1}`);

function shop(id: string, parts: Partial<Application> = {}): Application {
  return anApplication({ id, name: `shop ${id}`, ...parts });
}

function byId(id: string): Entry {
  return { selector: { kind: 'id', id } };
}

/** An account whose applications all answer. */
function anAccountWith(entries: readonly Entry[], ...ids: readonly string[]): PollerBench {
  const bench = aBench(rest, entries.map(anEntry));
  bench.source.list(...ids.map((id) => shop(id)));
  for (const id of nine) bench.source.answer(id, webOf(1));
  return bench;
}

function listsOf({ source }: PollerBench): number {
  return source.calls.filter((call) => call === 'list').length;
}

/** When lists are asked for from now on, in seconds. */
async function secondsOfLists(bench: PollerBench, seconds: number): Promise<readonly number[]> {
  const found = Array<number>(listsOf(bench)).fill(0);
  for (let half = 1; half <= 2 * seconds; half += 1) {
    await bench.clock.advance(500);
    for (let left = listsOf(bench) - found.length; left > 0; left -= 1) found.push(half / 2);
  }
  return found;
}

const shownIds = ({ sink }: PollerBench): string => [...sink.apps.keys()].toSorted().join(' ');
const statusOf = ({ poller }: PollerBench) => poller.judge.status();

describe('a list is asked for', () => {
  const often = [0, 1.5, 4.5, 10.5, 22.5];
  const every20s = [0, 20, 40, 60, 80, 100];
  const never = { error: unanswered };
  const failing = { error: answered };
  const missing = { entry: byId('9') };
  it.each<[string, number, { error?: ApiError; entry?: Entry }, readonly number[]]>([
    ['each interval', minuteMs, {}, [0, 60, 120, 180]],
    ['often while New Relic never answered', hourMs, never, [...often, 46.5, 94.5, 154.5]],
    ['once a minute if it did', hourMs, failing, [0, 60, 120, 180]],
    ['ever later for what is missing', hourMs, missing, [0, 60, 180]],
    ['no later than an interval: unanswered', 20_000, never, [...often, 42.5, 62.5, 82.5, 102.5]],
    ['no later than an interval: failing', 20_000, failing, every20s],
    ['no later than an interval: missing', 20_000, missing, every20s],
  ])('%s', async (_, discoveryIntervalMs, { error, entry = {} }, times) => {
    const bench = anAccountWith([{ ...entry, poll: { discoveryIntervalMs } }], '1');
    bench.source.failDiscovery(error);
    bench.start();
    await bench.clock.advance(0);
    const length = discoveryIntervalMs === 20_000 ? 110 : 190;

    expect(await secondsOfLists(bench, length)).toEqual(times);
  });

  it('once a minute after a failure, though New Relic answered only before', async () => {
    const bench = anAccountWith([{ poll: { discoveryIntervalMs: 2 * minuteMs } }], '1');
    bench.start();
    await bench.clock.advance(minuteMs);
    bench.source.failDiscovery(unanswered);

    expect(await secondsOfLists(bench, 200)).toEqual([0, 60, 120, 180]);
  });

  it('ten seconds after the last one when New Relic refuses the key to a poll', async () => {
    const bench = anAccountWith([{ poll: { discoveryIntervalMs: hourMs } }], '1', '2');
    for (const id of ['1', '2']) bench.source.answer(id, refused);
    bench.start();
    await bench.clock.advance(0);

    expect(await secondsOfLists(bench, 100)).toEqual([0, 10]);
  });

  it.each<[string, (bench: PollerBench) => void, boolean]>([
    ['is whole', () => undefined, true],
    ['is not', ({ source }) => source.failDiscovery(answered, [shop('1')]), false],
    ['has an id that was not asked for yet', ({ source }) => source.pending('1'), false],
  ])('once by a command, which is told whether it %s', async (_, script, isWhole) => {
    const bench = anAccountWith([{}], '1');
    script(bench);
    const polled = bench.poller.runOnce(new AbortController().signal);
    await bench.clock.advance(minuteMs);

    expect([await polled, listsOf(bench)]).toEqual([isWhole, 1]);
  });

  it('as often as the shortest interval of what is polled says', async () => {
    const entries = [
      { ...byId('9'), exclude: true, poll: { discoveryIntervalMs: 10_000 } },
      { ...byId('1'), poll: { discoveryIntervalMs: 40_000 } },
      { poll: { discoveryIntervalMs: 90_000 } },
    ];
    const bench = anAccountWith(entries, '1');
    bench.start();
    await bench.clock.advance(0);

    expect(await secondsOfLists(bench, 100)).toEqual([0, 40, 80]);
  });
});

describe('11.1 what a list leaves out', () => {
  const all = '1 2 3';
  type Script = (bench: PollerBench) => void;
  it.each<[string, Script, shown: string, missing: readonly string[]]>([
    ['goes, if the list is whole', ({ source }) => source.list(shop('1'), shop('4')), '1 4', ['8']],
    [
      'stays, if the list is not whole, and what is new comes',
      ({ source }) => source.failDiscovery(answered, [shop('1'), shop('4')]),
      '1 2 3 4',
      ['8', '9'],
    ],
    [
      'stays, if it could not be read, and is not missing',
      ({ source }) => {
        source.list(shop('1'));
        source.unreadable('2', '3', '9');
      },
      all,
      ['8'],
    ],
    [
      'stays, if it was not asked for yet, and is not missing',
      ({ source }) => {
        source.list(shop('1'));
        source.pending('2', '3', '9');
      },
      all,
      ['8'],
    ],
  ])('%s', async (_, script, shown, missing) => {
    const byName: Entry = { selector: { kind: 'name', name: 'shop 2' } };
    // What is only left out is never missing.
    const left = { ...byId('7'), exclude: true };
    const entries = [byId('8'), byId('9'), byName, left, {}];
    const bench = anAccountWith(entries, '1', '2', '3');
    bench.start();
    await bench.clock.advance(1000);
    const before = [shownIds(bench), statusOf(bench).missingSelectors];
    if (missing.length === 1) bench.source.unreadable('9');

    script(bench);
    await bench.clock.advance(minuteMs);

    expect(before).toEqual([all, ['id=8', 'id=9']]);
    expect(shownIds(bench)).toBe(shown);
    const others = shown.includes('2') ? [] : ['name=shop 2'];
    expect(statusOf(bench).missingSelectors).toEqual([
      ...missing.map((id) => `id=${id}`),
      ...others,
    ]);
  });

  it('are hosts that stay, if the list is not whole', async () => {
    const bench = anAccountWith([{}]);
    const hostIdsAfter = async (...applications: Application[]): Promise<unknown> => {
      bench.source.failDiscovery(answered, applications);
      await bench.clock.advance(minuteMs);
      return bench.poller.applications()[0]?.hostIds;
    };
    for (const host of ['1/11', '1/12', '1/13']) bench.source.answer(host, webOf(1));
    bench.source.list(shop('1', { hostIds: ['11', '12'] }));
    bench.start();
    await bench.clock.advance(1000);

    expect(await hostIdsAfter(shop('1', { hostIds: ['12', '13'] }))).toEqual(['11', '12', '13']);
    expect(await hostIdsAfter(shop('1', { hostIds: undefined }))).toEqual(['11', '12', '13']);
  });

  it('goes at once by an entry that leaves it out, which is counted while lists fail, too', async () => {
    const poll = { discoveryIntervalMs: minuteMs };
    const bench = anAccountWith([{ poll }], '1', '2');
    bench.start();
    await bench.clock.advance(1000);
    const entries = [anEntry({ ...byId('2'), exclude: true }), anEntry({ poll })];
    await bench.poller.reconfigure({ account: anAccount(), entries });
    const shown = shownIds(bench);
    await bench.clock.advance(minuteMs);
    const counted = statusOf(bench).excludedApplications;
    bench.source.failDiscovery(answered);
    await bench.clock.advance(minuteMs);

    expect([shown, counted, statusOf(bench).excludedApplications]).toEqual(['1', 1, 1]);
    const { lastDiscoveryMs = 0, ...status } = statusOf(bench);
    expect(status).toMatchObject({ listedApplications: 2, up: false });
    expect(bench.clock.wallMs() - lastDiscoveryMs).toBeGreaterThan(59_000);
  });

  it('is that of other shards, which is neither shown nor missing', async () => {
    const ownerOf = createOwnerOf(2);
    const [own, others] = [0, 1].map((owner) => nine.filter((id) => ownerOf(id) === owner));
    const wanted = ['77', '78', '79', '80', '81', '82'];
    const bench = aBench(rest, [...wanted.map(byId), {}].map(anEntry), {
      shard: { ordinal: 0, total: 2 },
    });
    bench.source.list(...nine.map((id) => shop(id)));
    for (const id of nine) bench.source.answer(id, webOf(1));
    bench.start();
    await bench.clock.advance(1000);

    expect(others?.length).toBeGreaterThan(0);
    expect(shownIds(bench)).toBe(own?.join(' '));
    const missing = wanted.map((id) => `id=${id}`).filter((text) => ownerOf(text) === 0);
    expect(statusOf(bench).missingSelectors).toEqual(missing);
  });
});

describe('what only lists say of an application', () => {
  it('is shown as long as no list has failed, however rare they are', async () => {
    const bench = anAccountWith([
      { poll: { staleAfterMs: minuteMs, discoveryIntervalMs: hourMs } },
    ]);
    bench.source.list(shop('1', { healthStatus: 'red' }));
    bench.start();
    await bench.clock.advance(50 * minuteMs);

    expect(bench.sink.apps.get('1')?.application.healthStatus).toBe('red');
  });

  it('is shown until lists have failed for stale_after, and is back with the next one', async () => {
    const bench = anAccountWith([{ poll: { staleAfterMs: 3 * minuteMs } }]);
    bench.source.list(shop('1', { healthStatus: 'red' }));
    bench.start();
    await bench.clock.advance(20 * minuteMs);
    const isShown: boolean[] = [];
    for (const error of [undefined, answered, answered, answered, answered, undefined, answered]) {
      bench.source.failDiscovery(error);
      await bench.clock.advance(minuteMs);
      isShown.push(bench.sink.apps.get('1')?.application.healthStatus === 'red');
    }

    expect(isShown).toEqual([true, true, true, true, false, true, true]);
  });

  it.each([
    ['a key that is refused', refused, 0],
    ['another failure', answered, 1],
  ])('after %s is no reason to poll, or is: %s', async (_, error, polls) => {
    const bench = anAccountWith([{}], '1');
    bench.start();
    await bench.clock.advance(minuteMs - 1);
    bench.source.failDiscovery(error);
    await bench.clock.advance(1000);
    bench.source.calls.length = 0;
    await bench.clock.advance(2 * minuteMs);

    expect(Math.min(1, bench.source.calls.filter((call) => call === 'app 1').length)).toBe(polls);
  });
});
