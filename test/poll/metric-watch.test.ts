import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { Application } from '../../src/model/application.ts';
import type { AppEntry } from '../../src/model/config.ts';
import type { MetricChoice, Values } from '../../src/model/polled-series.ts';
import { minuteMs } from '../../src/model/time.ts';
import {
  aMetric as aCustomMetric,
  anAccount,
  anApplication,
  anEntry,
} from '../support/builders.ts';
import type { Answer } from '../support/fake-source.ts';
import { aBench, type PollerBench, rest } from '../support/poller-bench.ts';

function aMetric(overrides: Parameters<typeof aCustomMetric>[1] = {}) {
  return aCustomMetric('Custom/Queue/Depth', { as: 'queue_depth', ...overrides });
}

/** An entry for all applications that asks for these metrics. */
function asking(metrics: readonly MetricChoice[], more: Partial<AppEntry> = {}): AppEntry {
  const { poll, series } = anEntry({ poll: { metrics } });
  return anEntry({ ...more, poll, series });
}

/** Requests per minute of web transactions, then of others. */
const busy: Values = [120, undefined];
const without: Values = [...busy, undefined];
const broken = new ApiError('server', 'HTTP 500', { status: 500 });
const entry = asking(['throughput', aMetric()]);

interface Vendor {
  readonly entries?: readonly AppEntry[];
  readonly applications?: readonly Partial<Application>[];
  /** Of applications, such as `1`, and of hosts, such as `1/11`. */
  readonly answers: Readonly<Record<string, Answer>>;
}

/** An account after some minutes, with a poll and a list in each. */
async function anAccountWith(
  { entries = [entry], applications = [{ id: '1' }], answers }: Vendor,
  minutes = 3,
): Promise<PollerBench> {
  const bench = aBench(rest, entries);
  bench.source.list(...applications.map(anApplication));
  for (const [subject, answer] of Object.entries(answers)) bench.source.answer(subject, answer);
  bench.start();
  await bench.clock.advance(minutes * minuteMs + 1000);
  return bench;
}

const missing = ({ poller }: PollerBench) => poller.judge.status().missingMetrics;
const names = (bench: PollerBench): readonly string[] => missing(bench).map(({ name }) => name);

/** The metrics of which the log has told, in their order. */
function told({ logger }: PollerBench): readonly unknown[] {
  const lines = logger.lines.filter(({ message }) => message === 'metric never has a value');
  return lines.map(({ fields }) => fields['name']);
}

async function reload(bench: PollerBench, ...entries: readonly AppEntry[]): Promise<void> {
  await bench.poller.reconfigure({ account: anAccount(), entries });
  await bench.clock.advance(0);
}

describe('a metric that never has a value', () => {
  it('is missing after a whole poll of an application that handles requests, and told once', async () => {
    const bench = await anAccountWith({ answers: { '1': without } }, 0);
    const atFirst = names(bench);
    await bench.clock.advance(5 * minuteMs);

    expect(atFirst).toEqual([]);
    expect(missing(bench)).toEqual([
      {
        selector: 'match=^',
        name: 'queue_depth',
        metric: 'Custom/Queue/Depth',
        value: 'average_value',
      },
    ]);
    expect(told(bench)).toEqual(['queue_depth']);
  });

  it('is no longer missing as soon as a value comes, even 0, and is not missed again', async () => {
    const poll = { ...entry.poll, discoveryIntervalMs: 4 * minuteMs };
    const entries = [anEntry({ poll, series: entry.series })];
    const bench = await anAccountWith({ entries, answers: { '1': without } }, 4);
    const seen = [names(bench)];
    bench.source.answer('1', [...busy, 0]);
    await bench.clock.advance(minuteMs);
    seen.push(names(bench));
    bench.source.answer('1', without);
    await bench.clock.advance(9 * minuteMs);

    expect([...seen, names(bench)]).toEqual([['queue_depth'], [], []]);
    expect(told(bench)).toEqual(['queue_depth']);
  });

  const time = 'newrelic_application_response_time_seconds';
  const database = 'newrelic_application_database_response_time_seconds';
  const young = aMetric({ metric: 'GC/Young', as: 'gc', labels: { pool: 'young' } });
  const old = aMetric({ metric: 'GC/Odl', as: 'gc', labels: { pool: 'old' } });
  it.each<[string, readonly MetricChoice[], Values, readonly string[]]>([
    [
      'a preset, named with all of its transaction types',
      ['response_time'],
      [undefined, undefined],
      [time, 'HttpDispatcher, OtherTransaction/all'],
    ],
    [
      'each gauge of a preset',
      ['database'],
      [3, undefined, undefined, undefined],
      [database, 'Datastore/allWeb, Datastore/allOther'],
    ],
    ['one of several under one name', [young, old], [1, undefined], ['gc', 'GC/Odl']],
  ])('may be %s', async (_, metrics, values, is) => {
    const entries = [asking(['throughput', ...metrics])];
    const bench = await anAccountWith({ entries, answers: { '1': [...busy, ...values] } });

    expect(missing(bench).map(({ name, metric }) => [name, metric])).toEqual([is]);
  });

  it.each([
    { requestsPerMinute: 3, is: ['queue_depth'] },
    { requestsPerMinute: 0, is: [] },
  ])('is $is with $requestsPerMinute requests in the list, without throughput', async (row) => {
    const none = { responseTimeSeconds: undefined, errorRatio: undefined, apdexScore: undefined };
    const { requestsPerMinute } = row;
    const summary = { requestsPerMinute, apdexTargetSeconds: undefined, ...none };
    const applications = [{ id: '1', summary }];
    const entries = [asking([aMetric()])];
    const bench = await anAccountWith({ entries, applications, answers: { '1': [undefined] } });

    expect(names(bench)).toEqual(row.is);
  });
});

describe('what proves nothing', () => {
  const hosts = [{ id: '1', hostIds: ['11'] }];
  const idle: Values = [0, undefined, undefined, undefined, 5e8];
  it.each<[string, readonly MetricChoice[], Answer, Partial<Vendor>?, Partial<AppEntry>?]>([
    [
      'is throughput of an application without requests',
      ['throughput', 'memory'],
      [undefined, undefined, 5e8],
    ],
    [
      'is errors of an application without any',
      ['throughput', 'errors'],
      [...busy, undefined, undefined],
    ],
    ['is an idle application', ['throughput', 'response_time', 'memory'], idle],
    [
      'is one transaction type, if the other one has values',
      ['throughput', 'response_time'],
      [...busy, 0.2, undefined],
    ],
    [
      'is a metric that is read of nothing that the entry asks for',
      ['throughput', aMetric({ scope: 'applications' })],
      [],
      { applications: hosts, answers: { '1/11': busy } },
      { application: false },
    ],
    [
      'is a metric of hosts while there is none',
      ['throughput', aMetric({ scope: 'hosts' })],
      [...busy],
    ],
    [
      'is a poll that did not get everything',
      ['throughput', aMetric()],
      without,
      { applications: hosts, answers: { '1': without, '1/11': broken } },
    ],
    ['is a poll without a reading', ['throughput', aMetric()], broken],
  ])('%s', async (_, metrics, answer, vendor = {}, more = {}) => {
    const entries = [asking(metrics, more)];
    const bench = await anAccountWith({ answers: { '1': answer }, ...vendor, entries }, 5);

    expect([names(bench), told(bench)]).toEqual([[], []]);
  });
});

describe('an entry with several applications', () => {
  const two = [{ id: '1' }, { id: '2' }];

  it('waits until each of them was polled', async () => {
    const answers = { '1': without, '2': new Promise<never>(() => undefined) };
    const bench = await anAccountWith({ applications: two, answers }, 1);
    const before = names(bench);
    bench.source.answer('2', busy);
    await reload(bench, asking(['throughput', aMetric()], { labels: { a: 'b' } }));
    await bench.clock.advance(4 * minuteMs);

    expect([before, names(bench)]).toEqual([[], ['queue_depth']]);
  });

  it('still misses what it has missed when another one appears', async () => {
    const bench = await anAccountWith({ answers: { '1': without } });
    bench.source.answer('2', new Promise(() => undefined));
    bench.source.list(...two.map(anApplication));
    await bench.clock.advance(minuteMs);

    expect(names(bench)).toEqual(['queue_depth']);
  });

  it('waits for none that fails, is gone, or reports nothing', async () => {
    const gone = new ApiError('not_found', 'HTTP 404', { status: 404 });
    const applications = [...two, { id: '3', reporting: false }, { id: '4' }];
    const answers = { '1': without, '2': broken, '4': gone };

    expect(names(await anAccountWith({ applications, answers }))).toEqual(['queue_depth']);
  });

  it('misses nothing that one of them has, or one of its hosts, even in a poll that failed in part', async () => {
    const applications = [{ id: '1' }, { id: '2', hostIds: ['21'] }];
    const answers = { '1': without, '2': broken, '2/21': [...busy, 7] };

    expect(told(await anAccountWith({ applications, answers }))).toEqual([]);
  });

  it('judges hosts under the name of their gauge', async () => {
    const applications = [{ id: '1', hostIds: ['11'] }];
    const entries = [asking(['throughput', aMetric({ scope: 'hosts' })])];
    const answers = { '1': busy, '1/11': without };

    expect(names(await anAccountWith({ entries, applications, answers }))).toEqual([
      'host_queue_depth',
    ]);
  });
});

describe('a reload', () => {
  const other = asking(['throughput', aMetric({ metric: 'Custom/B', as: 'b' })]);
  const same = (): AppEntry => asking(['throughput', aMetric()]);

  it('that asks for the same tells nothing again, and hides nothing however often it comes', async () => {
    const bench = await anAccountWith({ answers: { '1': without } });
    for (let second = 0; second < 150; second += 10) {
      await reload(bench, same());
      expect(names(bench)).toEqual(['queue_depth']);
      await bench.clock.advance(10_000);
    }

    expect(told(bench)).toEqual(['queue_depth']);
  });

  it('that asks for something else forgets at once what was missing, and waits for a poll', async () => {
    const bench = await anAccountWith({ answers: { '1': without } });
    bench.source.answer('1', new Promise(() => undefined));
    await reload(bench, other);
    await bench.clock.advance(minuteMs);
    const atOnce = names(bench);
    bench.source.answer('1', without);
    await reload(bench, asking(['throughput', aMetric({ metric: 'Custom/C', as: 'c' })]));
    await bench.clock.advance(3 * minuteMs);

    expect([atOnce, names(bench)]).toEqual([[], ['c']]);
    expect(told(bench)).toEqual(['queue_depth', 'c']);
  });

  it('ignores what a poll from before it brings of other series', async () => {
    let answer = (): void => undefined;
    const later = new Promise<Values>((resolve) => {
      answer = () => resolve([...busy, 7, undefined]);
    });
    const first = aMetric({ metric: 'Custom/B', as: 'b' });
    const entries = [asking(['throughput', first, aMetric()])];
    const bench = await anAccountWith({ entries, answers: { '1': later } }, 0);
    await reload(bench, entry);
    answer();
    await bench.clock.advance(0);
    bench.source.answer('1', without);
    await bench.clock.advance(3 * minuteMs);

    expect(names(bench)).toEqual(['queue_depth']);
  });

  it('after which nothing is asked for, or nothing is chosen, leaves nothing missing', async () => {
    const ofTwo = asking(['throughput', aMetric()], { selector: { kind: 'id', id: '2' } });
    const applications = [{ id: '1' }, { id: '2' }];
    const answers = { '1': without, '2': without };
    const bench = await anAccountWith({ entries: [ofTwo, entry], applications, answers });
    const before = names(bench).length;
    bench.source.list(anApplication({ id: '1' }));
    await bench.clock.advance(minuteMs);
    const gone = names(bench).length;
    bench.source.answer('1', busy);
    await reload(bench, asking(['throughput']));

    expect([before, gone, names(bench)]).toEqual([2, 1, []]);
  });
});
