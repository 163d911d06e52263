import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { AppEntry } from '../../src/model/config.ts';
import type { Values } from '../../src/model/polled-series.ts';
import type { ApplicationStatus } from '../../src/model/status.ts';
import { minuteMs } from '../../src/model/time.ts';
import { aMetric, anAccount, anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, type PollerBench, rest } from '../support/poller-bench.ts';

const broken = new ApiError('server', 'HTTP 500: a problem of New Relic', { status: 500 });
const refused = new ApiError('auth', 'HTTP 401', { status: 401 });
const subjects = ['1', '1/11', '1/12'] as const;
const all = subjects.join(' ');
/** What fails in the second minute is dropped in the fifth. */
const poll = { staleAfterMs: 3 * minuteMs, discoveryIntervalMs: 60 * minuteMs };
const usual = anEntry({ poll });

function aShop(entry = usual, hostIds: readonly string[] = ['11', '12']): PollerBench {
  const bench = aBench(rest, [entry]);
  bench.source.list(anApplication({ id: '1', hostIds }));
  return bench;
}

/** What is shown of the application, and of its hosts by their ids. */
function shown({ sink }: PollerBench): string {
  const { application = [], hosts = new Map<string, Values>() } = sink.apps.get('1')?.reading ?? {};
  const values = [application, hosts.get('11') ?? [], hosts.get('12') ?? []];
  return values.map(([value = '-']) => value).join(' ');
}

function statusOf({ poller }: PollerBench): ApplicationStatus {
  const [status] = poller.applications();
  if (status === undefined) throw new Error('there is no application');
  return status;
}

/** A minute in which these subjects fail; all others have its number for a value. */
async function minuteOf(
  { source, clock }: PollerBench,
  minute: number,
  failing: string,
  error = broken,
): Promise<void> {
  for (const subject of subjects) {
    const isFailing = failing.split(' ').includes(subject);
    source.answer(subject, isFailing ? error : webOf(minute));
  }
  await clock.advance(minuteMs);
}

describe('5.1 11.2 what is shown of an application of which parts fail', () => {
  it.each<[string, failing: readonly string[], is: readonly string[], entry?: AppEntry]>([
    [
      'one host, for good',
      ['', '1/11', '1/11', '1/11', '1/11', '1/11'],
      ['1 1 1', '2 1 2', '3 1 3', '4 1 4', '5 - 5', '6 - 6'],
    ],
    [
      'the application itself',
      ['', '1', '1', '1', '1', ''],
      ['1 1 1', '1 2 2', '1 3 3', '1 4 4', '- 5 5', '6 6 6'],
    ],
    ['all of it', ['', all, all, all, all], ['1 1 1', '1 1 1', '1 1 1', '1 1 1', '- - -']],
    [
      'hosts alone, where nothing else is read',
      ['', all, all, all, all],
      ['- 1 1', '- 1 1', '- 1 1', '- 1 1', '- - -'],
      anEntry({ poll, application: false }),
    ],
    [
      'one host after the other, each from its own first failure',
      ['', '1/11', '1/11', '1/11 1/12', '1/11 1/12', '1/11 1/12', '1/12'],
      ['1 1 1', '2 1 2', '3 1 3', '4 1 3', '5 - 3', '6 - 3', '7 7 -'],
    ],
    [
      'a host, anew after it was well',
      ['', '1/11', '1/11', '', '1/11', '1/11'],
      ['1 1 1', '2 1 2', '3 1 3', '4 4 4', '5 4 5', '6 4 6'],
    ],
    ['some of it in the first poll', [all, '1/11', ''], ['- - -', '2 - 2', '3 3 3']],
  ])('is what came last of each: %s', async (_, failing, is, entry) => {
    const bench = aShop(entry);
    const seen: string[] = [];
    bench.start();
    for (const [index, some] of failing.entries()) {
      await minuteOf(bench, index + 1, some);
      seen.push(shown(bench));
      expect(bench.sink.apps.get('1')?.pollSucceeded).toBe(some === '');
    }

    expect(seen).toEqual(is);
  });

  it('is said to be of the oldest window that is shown', async () => {
    const bench = aShop();
    const behind: number[] = [];
    bench.start();
    for (let minute = 1; minute <= 6; minute += 1) {
      await minuteOf(bench, minute, minute === 1 ? '' : '1/11');
      const { windowEndMs = 0 } = bench.sink.apps.get('1')?.reading ?? {};
      behind.push(minute - Math.round((windowEndMs - bench.clock.wallMs()) / minuteMs + minute));
    }

    expect(behind.map((minutes) => minutes - (behind[0] ?? 0))).toEqual([0, 1, 2, 3, 0, 0]);
  });

  it('is nothing while New Relic answers 404 and then fails, until it answers', async () => {
    const gone = new ApiError('not_found', 'HTTP 404', { status: 404 });
    const bench = aShop();
    const seen: unknown[] = [];
    bench.start();
    for (const [minute, error] of [undefined, gone, broken, undefined].entries()) {
      await minuteOf(bench, minute, error === undefined ? '' : '1 1/11 1/12', error);
      const { state, failure } = statusOf(bench);
      seen.push([bench.sink.apps.has('1'), state, failure?.reason]);
      // What is gone has nothing that could fail.
      expect(bench.poller.judge.status().failing).toEqual([]);
    }

    expect(seen).toEqual([
      [true, 'up', undefined],
      [false, 'gone', 'not_found'],
      [false, 'gone', 'server'],
      [true, 'up', undefined],
    ]);
    const lines = bench.logger.lines.map(({ message }) => message);
    expect(lines.filter((text) => text.startsWith('application is'))).toEqual([
      'application is gone',
      'application is back',
    ]);
  });
});

describe('4.3 11.2 a poll that does not end', () => {
  it.each([10_000, minuteMs, 2 * minuteMs])(
    'fails two intervals after it was due, and its values are dropped in their time: %d ms',
    async (intervalMs) => {
      const bench = aShop(anEntry({ poll: { ...poll, intervalMs } }), []);
      const { source, clock, sink } = bench;
      const calls = (): number => source.calls.filter((call) => call === 'app 1').length;
      source.answer('1', webOf(1));
      bench.start();
      await clock.advance(0);
      source.answer('1', new Promise(() => undefined));
      while (calls() < 2) await clock.advance(10);
      const dueMs = clock.wallMs();

      await clock.advance(2 * intervalMs - 20);
      const before = statusOf(bench);
      await clock.advance(40);
      const late = statusOf(bench);
      await clock.advance(poll.staleAfterMs - 60);
      const held = shown(bench);
      await clock.advance(60);

      expect(before).toMatchObject({ state: 'up', failure: undefined });
      expect(late).toMatchObject({ state: 'failing', isHeld: true });
      expect(late.failure).toMatchObject({ reason: 'throttled' });
      expect(late.failure?.message).toContain('has not ended');
      expect(Math.abs((late.failure?.sinceMs ?? 0) - dueMs - 2 * intervalMs)).toBeLessThan(20);
      expect([held, shown(bench)]).toEqual(['1 - -', '- - -']);
      expect(statusOf(bench).state).toBe('dropped');
      expect(sink.apps.get('1')).toMatchObject({
        pollSucceeded: false,
        failureReason: 'throttled',
      });
      expect(calls()).toBe(2);
    },
  );
});

describe('hosts that a discovery no longer lists', () => {
  it('are not held, though polls fail', async () => {
    const bench = aShop(anEntry({ poll: { discoveryIntervalMs: minuteMs } }));
    bench.start();
    await minuteOf(bench, 1, '');
    bench.source.list(anApplication({ id: '1', hostIds: ['12'] }));
    await minuteOf(bench, 2, all);

    expect(shown(bench)).toBe('1 - 1');
  });

  it('are not shown, though a poll brings them that had begun before', async () => {
    const bench = aShop(anEntry({ poll: { discoveryIntervalMs: 10_000 } }));
    let answer = (): void => undefined;
    const later = new Promise<Values>((resolve) => {
      answer = () => resolve(webOf(1));
    });
    for (const host of ['1/11', '1/12']) bench.source.answer(host, webOf(1));
    bench.source.answer('1', later);
    bench.start();
    await bench.clock.advance(5000);
    bench.source.list(anApplication({ id: '1', hostIds: ['12'] }));
    await bench.clock.advance(10_000);
    answer();
    await bench.clock.advance(0);

    expect(shown(bench)).toBe('1 - 1');
    expect(statusOf(bench).lastPollSeconds).toBe(15);
  });
});

describe('8.3 what was read before a reload', () => {
  const memory = aMetric('Memory', { as: 'memory' });
  const depth = aMetric('Depth', { as: 'depth' });
  const asking = (metrics: AppEntry['poll']['metrics'], more: Partial<AppEntry> = {}): AppEntry => {
    const { poll: asked, series } = anEntry({ poll: { ...poll, metrics } });
    return anEntry({ ...more, poll: asked, series });
  };
  const [ofHosts, ofApplications] = [
    { ...depth, scope: 'hosts' } as const,
    { ...depth, as: 'own', scope: 'applications' } as const,
  ];

  type Brought = readonly [own: Values, ofHost: Values];
  it.each<[string, from: AppEntry, to: AppEntry, Brought, Brought?]>([
    [
      'in another order',
      asking([memory, depth]),
      asking([depth, memory]),
      [
        [2, 1],
        [2, 1],
      ],
    ],
    ['where it is still read', asking([memory, depth]), asking([ofHosts]), [[undefined], [2]]],
    [
      'by two names, each in its place',
      asking([ofHosts, ofApplications]),
      asking([depth]),
      [[2], [1]],
      [[2], [1]],
    ],
    [
      'of hosts alone',
      asking([memory, depth], { application: false }),
      asking([depth, memory], { application: false }),
      [[], [2, 1]],
    ],
  ])('stays %s, also of a poll under way', async (_, from, to, [own, ofHost], read) => {
    const [readOfOwn, readOfHost] = read ?? [
      [1, 2],
      [1, 2],
    ];
    for (const isUnderWay of [false, true]) {
      const bench = aShop(from, ['11']);
      let answer = (): void => undefined;
      const begun = new Promise<void>((resolve) => {
        answer = resolve;
      });
      const answers = { '1': readOfOwn, '1/11': readOfHost };
      for (const [subject, values] of Object.entries(answers)) {
        bench.source.answer(subject, isUnderWay ? begun.then(() => values) : values);
      }
      bench.start();
      await bench.clock.advance(1000);
      await bench.poller.reconfigure({ account: anAccount(), entries: [to] });
      answer();
      await bench.clock.advance(0);

      const { reading } = bench.sink.apps.get('1') ?? {};
      expect(reading).toMatchObject({ series: to.series, application: own });
      expect([...(reading?.hosts.values() ?? [])]).toEqual([ofHost]);
    }
  });

  it('of a silent application is nothing, and no failure, even while the key is refused', async () => {
    const bench = aShop(anEntry({ poll: { discoveryIntervalMs: minuteMs } }));
    bench.source.list(anApplication({ id: '1', reporting: false }));
    bench.start();
    await bench.clock.advance(1000);
    await bench.poller.reconfigure({ account: anAccount(), entries: [asking([memory])] });
    bench.source.failDiscovery(refused);
    await bench.clock.advance(70 * minuteMs);

    expect(bench.sink.apps.get('1')).toMatchObject({
      reading: { application: [], series: [] },
      pollSucceeded: true,
    });
    expect(statusOf(bench)).toMatchObject({ state: 'silent', failure: undefined, isHeld: false });
  });
});

describe('the status of an application', () => {
  const late = new ApiError('timeout', 'no answer within 30 s');
  /** Of each minute: it works, fails four times, does so in part, and works again. */
  async function course(): Promise<readonly ApplicationStatus[]> {
    const bench = aShop();
    const seen: ApplicationStatus[] = [];
    bench.start();
    for (const [index, failing] of ['', all, all, all, all, '1', ''].entries()) {
      await minuteOf(bench, index + 1, failing, index === 1 ? broken : late);
      seen.push(statusOf(bench));
    }
    return seen;
  }

  it('fails since the first failure in a row, for the last reason, until all has come', async () => {
    const seen = await course();
    const sinceMs = seen[1]?.failure?.sinceMs;

    expect(seen.map(({ state, isHeld }) => `${state} ${isHeld}`)).toEqual([
      'up false',
      'failing true',
      'failing true',
      'failing true',
      'dropped false',
      'failing false',
      'up false',
    ]);
    const first = { reason: 'server', message: broken.message, sinceMs };
    const last = { reason: 'timeout', message: late.message, sinceMs };
    expect(seen.map(({ failure }) => failure)).toEqual([
      undefined,
      first,
      last,
      last,
      last,
      last,
      undefined,
    ]);
    expect(sinceMs).toBeGreaterThan(seen[0]?.lastPollMs ?? 0);
  });

  it('says when values will be dropped or were, which hosts fail, and when all was well', async () => {
    const seen = await course();
    const sinceMs = seen[1]?.failure?.sinceMs ?? 0;
    const lastMs = seen.map(({ lastSuccessMs }) => lastSuccessMs);
    const [well] = lastMs;

    const dropSeconds = seen.map(({ dropMs = NaN }) => Math.round((dropMs - sinceMs) / 1000));
    expect(dropSeconds).toEqual([NaN, 180, 180, 180, 180, NaN, NaN]);
    const hosts = seen.map(({ failedHostIds }) => [...failedHostIds].join(' '));
    expect(hosts).toEqual(['', ...Array(4).fill('11 12'), '', '']);
    expect(lastMs).toEqual([...Array(6).fill(well), seen[6]?.lastPollMs]);
  });

  it('neither holds nor drops values that never were', async () => {
    const bench = aShop(usual, []);
    bench.source.answer('1', []);
    bench.start();
    await bench.clock.advance(minuteMs);
    for (let minute = 2; minute < 7; minute += 1) {
      await minuteOf(bench, minute, all);

      expect(statusOf(bench)).toMatchObject({ state: 'failing', isHeld: false, dropMs: undefined });
    }
  });

  it('is waiting before its first poll has ended', async () => {
    const bench = aShop(anEntry({ poll, labels: { team: 'shop' }, hosts: false }));
    bench.source.answer('1', new Promise(() => undefined));
    bench.start();
    await bench.clock.advance(1000);

    expect(statusOf(bench)).toMatchObject({
      account: 'production',
      id: '1',
      selector: 'match=^',
      labels: { team: 'shop' },
      state: 'waiting',
      lastSuccessMs: undefined,
      lastPollMs: undefined,
      nextPollMs: bench.clock.wallMs() - 1000,
      intervalSeconds: 60,
    });
  });

  const byName = anEntry({ poll, hosts: { kind: 'match', pattern: /^web/u } });
  it.each([
    ['a key that is refused to a host', usual, ['1/11', refused], ['11', '12', '13']],
    ['a failure of its own', usual, [], []],
    ['names of hosts that nobody knows', byName, ['names'], ['12']],
  ] as const)('after %s names the hosts that it lacks', async (_, entry, failing, lacks) => {
    const bench = aShop(entry);
    bench.source.names('1', new Map([['12', 'web-2']]));
    bench.start();
    await minuteOf(bench, 1, '');
    const [subject, error = broken] = failing;
    if (subject === 'names') bench.source.names('1', error);
    else bench.source.answer('1', broken);
    if (subject === '1/11') bench.source.answer(subject, error);
    bench.source.answer('1/13', webOf(1));
    bench.source.list(anApplication({ id: '1', hostIds: ['11', '12', '13'] }));
    await bench.poller.reconfigure({ account: anAccount(), entries: [entry] }, true);
    await bench.clock.advance(minuteMs);
    const { failure, failedHostIds } = statusOf(bench);

    expect(failure?.reason).toBe(error.reason);
    expect([...failedHostIds]).toEqual(lacks);
  });
});
