import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { AppEntry } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { anAccount, anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, type PollerBench, rest } from '../support/poller-bench.ts';

const failure = new ApiError('server', 'HTTP 500', { status: 500 });
const self = { kind: 'self', names: ['web-2'] } as const;

type EntryOptions = NonNullable<Parameters<typeof anEntry>[0]>;

/** A sidecar's entry: the host that it runs on, and nothing else. */
function aSidecarEntry(overrides: EntryOptions = {}): AppEntry {
  const poll = { discoveryIntervalMs: 15 * minuteMs, ...overrides.poll };
  return anEntry({ hosts: self, application: false, ...overrides, poll });
}

function shownHosts({ sink }: PollerBench): readonly string[] {
  return [...(sink.apps.get('1')?.reading?.hosts.keys() ?? [])];
}

/** The calls that are made during a period from now on. */
async function callsIn({ clock, source }: PollerBench, ms: number): Promise<readonly string[]> {
  const before = source.calls.length;
  await clock.advance(ms);
  return source.calls.slice(before);
}

/** An application with two hosts that answer: `web-1` and `web-2`. */
function aShop(entry: AppEntry, ...hostIds: readonly string[]): PollerBench {
  const bench = aBench(rest, [entry]);
  bench.source.list(anApplication({ id: '1', hostIds }));
  bench.source.answer('1', webOf(30));
  bench.source.answer('1/11', webOf(10));
  bench.source.answer('1/12', webOf(20));
  bench.source.names('1', new Map([['12', 'web-2']]));
  return bench;
}

describe('the host of this process', () => {
  it('is looked for once, then polled alone, without the application', async () => {
    const bench = aShop(aSidecarEntry(), '11', '12');
    bench.start();

    const first = await callsIn(bench, 1000);
    const quarterOfAnHour = await callsIn(bench, 14 * minuteMs);

    expect(first).toEqual(['list', 'names 1 of web-2', 'host 1/12']);
    expect(quarterOfAnHour).toEqual(Array.from({ length: 14 }, () => 'host 1/12'));
    expect(bench.sink.apps.get('1')).toMatchObject({ hostsOnly: true, pollSucceeded: true });
    expect(bench.sink.apps.get('1')?.reading?.application).toEqual([]);
    expect(shownHosts(bench)).toEqual(['12']);
    expect(bench.polls).not.toContain(false);
    expect(bench.poller.judge.status()).toMatchObject({ hosts: 1, missingSelectors: [] });
    expect(bench.poller.judge.status().demandRequestsPerMinute).toBeCloseTo(1 + 1 / 15, 2);
  });

  it.each([
    { what: 'no value', silence: [] },
    { what: 'no calls', silence: webOf(0) },
  ])('is looked for again when it has $what and others have appeared', async ({ silence }) => {
    const bench = aShop(aSidecarEntry({ poll: { discoveryIntervalMs: minuteMs } }), '11', '12');
    bench.start();
    await bench.clock.advance(1000);
    bench.source.answer('1/12', silence);
    const silent = await callsIn(bench, 2 * minuteMs);
    bench.source.list(anApplication({ id: '1', hostIds: ['11', '12', '13'] }));
    bench.source.names(
      '1',
      new Map([
        ['12', 'web-2'],
        ['13', 'web-2'],
      ]),
    );
    bench.source.answer('1/13', webOf(40));
    await bench.clock.advance(2 * minuteMs);

    expect(silent).not.toContain('names 1 of web-2');
    expect(shownHosts(bench)).toEqual(['12', '13']);
  });

  it('is not looked for again because other hosts come and go', async () => {
    const bench = aShop(aSidecarEntry({ poll: { discoveryIntervalMs: minuteMs } }), '11', '12');
    bench.start();
    await bench.clock.advance(1000);

    for (let other = 20; other < 25; other += 1) {
      bench.source.list(anApplication({ id: '1', hostIds: ['12', String(other)] }));
      await bench.clock.advance(minuteMs);
    }

    expect(bench.source.calls.filter((call) => call.startsWith('names'))).toHaveLength(1);
  });

  it('is reported missing as long as the vendor does not know it, and no longer', async () => {
    const entry = aSidecarEntry({ selector: { kind: 'id', id: '1' } });
    const bench = aShop(entry, '11');
    bench.source.names('1', new Map());
    bench.start();

    await bench.clock.advance(14 * minuteMs);
    const before = bench.poller.judge.status().missingSelectors;
    await bench.clock.advance(2 * minuteMs);
    const during = bench.poller.judge.status().missingSelectors;
    bench.source.list(anApplication({ id: '1', hostIds: ['11', '12'] }));
    bench.source.names('1', new Map([['12', 'web-2']]));
    await bench.clock.advance(20 * minuteMs);

    expect(before).toEqual([]);
    expect(during).toEqual(['id=1']);
    expect(bench.poller.judge.status().missingSelectors).toEqual([]);
    expect(bench.logger.lines.map(({ message }) => message)).toContain(
      'entry of apps matches nothing',
    );
  });

  it('makes the poll fail if its name cannot be looked up, and the next poll asks again', async () => {
    const bench = aShop(aSidecarEntry(), '11', '12');
    bench.source.names('1', failure);
    bench.start();
    await bench.clock.advance(1000);
    const during = [...bench.polls];
    bench.source.names('1', new Map([['12', 'web-2']]));

    const next = await callsIn(bench, minuteMs);

    expect(during).toEqual([false]);
    expect(bench.poller.judge.status().missingSelectors).toEqual([]);
    expect(next).toEqual(['names 1 of web-2', 'host 1/12']);
    expect(shownHosts(bench)).toEqual(['12']);
    expect(bench.polls).toEqual([false, true]);
  });
});

describe('hosts that match', () => {
  const entry = anEntry({ hosts: { kind: 'match', pattern: /^web-/u } });
  const names = new Map([
    ['11', 'web-1'],
    ['12', 'db-1'],
  ]);

  it('are polled, and the others are not; a new host is looked up', async () => {
    const bench = aShop(entry, '11', '12');
    bench.source.names('1', names);
    bench.start();
    const first = await callsIn(bench, 1000);
    const second = await callsIn(bench, minuteMs);
    bench.source.list(anApplication({ id: '1', hostIds: ['11', '12', '13'] }));
    bench.source.names('1', new Map([...names, ['13', 'web-3']]));
    bench.source.answer('1/13', webOf(40));
    await bench.clock.advance(2 * minuteMs);

    expect(first).toEqual(['list', 'names 1', 'app 1', 'host 1/11']);
    expect(second.toSorted()).toEqual(['app 1', 'host 1/11', 'list']);
    expect(shownHosts(bench)).toEqual(['11', '13']);
    expect(bench.source.calls.filter((call) => call === 'names 1')).toHaveLength(2);
    expect(bench.source.calls).not.toContain('host 1/12');
  });

  it('are asked nothing once discoveries no longer list them, whatever the names say', async () => {
    const bench = aShop(entry, '11', '12');
    bench.source.names(
      '1',
      new Map([
        ['11', 'web-1'],
        ['12', 'web-2'],
      ]),
    );
    bench.start();
    await bench.clock.advance(minuteMs + 1000);
    expect(shownHosts(bench)).toEqual(['11', '12']);
    bench.source.list(anApplication({ id: '1', hostIds: ['12'] }));
    await bench.clock.advance(minuteMs);

    const calls = await callsIn(bench, 5 * minuteMs);

    expect(calls.filter((call) => call === 'host 1/12')).toHaveLength(5);
    expect(calls).not.toContain('host 1/11');
    expect(shownHosts(bench)).toEqual(['12']);
  });

  it('stay when the names of new ones do not arrive: the poll has failed', async () => {
    const bench = aShop(entry, '11', '12');
    bench.source.names('1', names);
    bench.start();
    await bench.clock.advance(1000);
    bench.source.list(anApplication({ id: '1', hostIds: ['11', '12', '13'] }));
    bench.source.names('1', failure);
    await bench.clock.advance(3 * minuteMs);

    expect(bench.polls.slice(-2)).toEqual([false, false]);
    expect(shownHosts(bench)).toEqual(['11']);
    expect(bench.sink.apps.get('1')).toMatchObject({ pollSucceeded: false });
  });
});

describe('another choice of hosts by a reload', () => {
  it.each([
    { what: 'from all to this one', from: true, to: self, hosts: ['12'] },
    { what: 'from this one to all', from: self, to: true, hosts: ['11', '12'] },
    {
      what: 'from this one to those that match',
      from: self,
      to: { kind: 'match', pattern: /^web-1$/u },
      hosts: ['11'],
    },
    { what: 'from this one to none', from: self, to: false, hosts: [] },
  ] as const)('is followed at once: $what', async ({ from, to, hosts }) => {
    const bench = aShop(anEntry({ hosts: from }), '11', '12');
    bench.start();
    await bench.clock.advance(1000);
    bench.source.names(
      '1',
      new Map([
        ['11', 'web-1'],
        ['12', 'web-2'],
      ]),
    );

    await bench.poller.reconfigure({ account: anAccount(), entries: [anEntry({ hosts: to })] });
    await bench.clock.advance(minuteMs);

    expect(shownHosts(bench)).toEqual(hosts);
    expect(bench.polls).not.toContain(false);
  });
});

describe('the names of all hosts', () => {
  const named = anEntry({ poll: { hostNames: true, discoveryIntervalMs: minuteMs } });
  const both = new Map([
    ['11', 'web-1'],
    ['12', 'web-2'],
  ]);
  const namesShown = ({ sink }: PollerBench): unknown => sink.apps.get('1')?.hostNames;

  /** In which of these minutes names are asked for. */
  async function minutesAsked(bench: PollerBench, minutes: number): Promise<readonly number[]> {
    const asked: number[] = [];
    for (let minute = 0; minute < minutes; minute += 1) {
      if ((await callsIn(bench, minuteMs)).includes('names 1')) asked.push(minute);
    }
    return asked;
  }

  it('stay, whatever later lists leave out', async () => {
    const bench = aShop(named, '11', '12');
    bench.source.names('1', both);
    bench.source.answer('1/13', webOf(1));
    bench.start();
    await bench.clock.advance(minuteMs + 1000);
    bench.source.list(anApplication({ id: '1', hostIds: ['11', '12', '13'] }));
    bench.source.names('1', new Map([['13', 'web-3']]));
    await bench.clock.advance(2 * minuteMs);

    expect(namesShown(bench)).toEqual(new Map([...both, ['13', 'web-3']]));
    // One host more, with the REST API, and a list of names in ten minutes.
    bench.source.names('1', failure);
    bench.source.answer('1/14', webOf(1));
    bench.source.list(anApplication({ id: '1', hostIds: ['11', '12', '13', '14'] }));
    await bench.clock.advance(2 * minuteMs);
    expect(namesShown(bench)).toEqual(new Map([...both, ['13', 'web-3']]));
  });

  it('are forgotten with their application', async () => {
    const bench = aShop(named, '11', '12');
    bench.source.names('1', both);
    bench.start();
    const first = await callsIn(bench, minuteMs);
    bench.source.list();
    await bench.clock.advance(2 * minuteMs);
    bench.source.list(anApplication({ id: '1', hostIds: ['11', '12'] }));

    const again = await callsIn(bench, 2 * minuteMs);

    expect([first, again].map((calls) => calls.includes('names 1'))).toEqual([true, true]);
  });

  it('are asked for less and less often if they never come, every hour at last', async () => {
    const bench = aShop(named, '11', '12');
    bench.source.names('1', new Map());
    bench.start();
    const asked = await minutesAsked(bench, 240);

    const waits = asked.map((minute, at) => minute - (asked[at - 1] ?? 0));
    expect(waits.slice(-7)).toEqual([4, 7, 14, 27, 54, 60, 60]);
  });

  it('are asked for soon again if one is new after all others have come', async () => {
    const bench = aShop(named, '11');
    bench.source.names('1', new Map());
    bench.start();
    await bench.clock.advance(30 * minuteMs);
    bench.source.names('1', both);
    await bench.clock.advance(30 * minuteMs);
    bench.source.names('1', new Map());
    bench.source.list(anApplication({ id: '1', hostIds: ['11', '12', '13'] }));
    bench.source.answer('1/13', webOf(1));

    const asked = await minutesAsked(bench, 10);
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBe(1);
  });
});
