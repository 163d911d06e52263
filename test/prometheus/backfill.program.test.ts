import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importHistory, startPrometheus } from '../dashboards/prometheus.ts';
import { toolOrSkip } from '../support/tools.ts';
import { accountOf, backfilled, pageOf } from '../tools/backfill/backfill-bench.ts';

const prometheusTool = toolOrSkip('prometheus');
const promtool = toolOrSkip('promtool');
const stepSeconds = 300;
const [from, to, end] = ['2026-08-30T10:00:00Z', '2026-09-01T10:00:00Z', '2026-09-01T11:00:00Z'];
const pageTimes = [from, '2026-08-30T23:55:00Z', '2026-08-31T16:30:00Z', to];
const options = { fleet: { applications: 4, hosts: 8, churnPerHour: 0 }, ingestDelayMs: 0 };
const file = `${accountOf('nerdgraph')}poll: { window: 10m, metrics: [throughput, response_time, errors, memory] }
apps: [{ match: ".", labels: { team: 'a "b" \\c' } }]
queries: [{ as: calls_by_host, nrql: "SELECT count(*) FROM Transaction FACET host LIMIT 50", window: 10m }]
`;

function secondsOf(time: string): number {
  return Date.parse(time) / 1000;
}

function timesFrom(start: number, last: number): readonly number[] {
  const length = Math.floor((last - start) / stepSeconds) + 1;
  return Array.from({ length }, (_, index) => start + index * stepSeconds);
}

function nameOf(line: string): string {
  return /^\w+/u.exec(line)?.[0] ?? '';
}

/** A series as a key that does not depend on the order of its labels. */
function keyOf(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(
    Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** A line of a page as the key of its series and its value. */
function sampleOf(line: string): readonly [key: string, value: number] {
  const { labels = '', value } = /^\w+\{(?<labels>.*)\} (?<value>\S+)$/u.exec(line)?.groups ?? {};
  const pairs = [...labels.matchAll(/(\w+)=("(?:\\.|[^"\\])*")/gu)].map(
    ([, label = '', text = '']): readonly [string, string] => [label, JSON.parse(text) as string],
  );
  return [keyOf({ __name__: nameOf(line), ...Object.fromEntries(pairs) }), Number(value)];
}

/** Pages of the daemon as the text that is imported, each at its time. */
function textOf(pages: ReadonlyMap<number, readonly string[]>): string {
  const lines = [...pages].flatMap(([time, page]) => page.map((line) => [line, time] as const));
  const ordered = lines.toSorted(([one], [other]) =>
    one.slice(0, one.lastIndexOf(' ')) < other.slice(0, other.lastIndexOf(' ')) ? -1 : 1,
  );
  return `${ordered.map(([line, time]) => `${line} ${time}\n`).join('')}# EOF\n`;
}

interface Matrix {
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [time: number, value: string])[];
    }[];
  };
}

/** Samples by time, by the key of their series. */
type Samples = ReadonlyMap<string, readonly (readonly [time: number, value: number])[]>;

interface Imported {
  readonly samples: Samples;
  /** What a graph of the throughput of each application would show. */
  readonly throughput: ReadonlyMap<string, readonly number[]>;
}

/** What Prometheus has of the files of a directory. */
async function imported(directory: string, files: readonly string[]): Promise<Imported> {
  await mkdir(join(directory, 'data'));
  await writeFile(join(directory, 'prometheus.yml'), '');
  for (const one of files) await importHistory(promtool.path, join(directory, one), directory);
  const prometheus = await startPrometheus(prometheusTool.path, directory);
  try {
    const parameters = new URLSearchParams({ query: '{account="main"}[4d]', time: end }).toString();
    const { data } = (await prometheus.get(`/api/v1/query?${parameters}`)) as Matrix;
    const range = { start: secondsOf(from), end: secondsOf(end), step: stepSeconds };
    const query = 'sum by (app_name) (newrelic_application_requests_per_minute)';
    const { series } = await prometheus.queryRange(query, range);
    return {
      samples: new Map(
        data.result.map(({ metric, values }) => [
          keyOf(metric),
          values.map(([time, value]) => [time, Number(value)] as const),
        ]),
      ),
      throughput: new Map(series.map(({ metric, values }) => [metric['app_name'] ?? '', values])),
    };
  } finally {
    await prometheus.stop();
  }
}

describe.skipIf(prometheusTool.skip || promtool.skip)(
  `two days of backfill in Prometheus${prometheusTool.note}${promtool.note}`,
  () => {
    const pages = new Map<number, readonly string[]>();
    let samples: Samples = new Map();
    let throughput: Imported['throughput'] = new Map();

    let written = 0;
    let directory = '';

    afterAll(async () => rm(directory, { recursive: true, force: true }));
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'newrelic-exporter-test-'));
      const flags = [`--from=${from}`, `--to=${to}`, '--step=5m'];
      const run = { file, options, flags, at: to, directory };
      const { exitCode, output = '', stderr } = await backfilled(run);
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
      const lines = output.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      const names = new Set(lines.map(nameOf));
      written = lines.length;
      const times = [
        ...pageTimes.map(secondsOf),
        ...timesFrom(secondsOf(to) + stepSeconds, secondsOf(end)),
      ];
      for (const time of times) {
        const page = await pageOf(file, options, new Date(time * 1000).toISOString());
        pages.set(
          time,
          page.filter((line) => names.has(nameOf(line))),
        );
      }
      const later = new Map([...pages].filter(([time]) => time > secondsOf(to)));
      await writeFile(join(directory, 'later.om'), textOf(later));
      ({ samples, throughput } = await imported(directory, ['past.om', 'later.om']));
    });

    it('has each value that a page of that time has, and zeros of what is idle', () => {
      for (const [time, page] of pages) {
        const truth = new Map(page.map(sampleOf));
        const here = [...samples].flatMap(([key, values]) =>
          values.flatMap(([at, value]) => (at === time ? [[key, value] as const] : [])),
        );

        expect(truth.size).toBeGreaterThan(30);
        expect([...truth].filter(([key, value]) => new Map(here).get(key) !== value)).toEqual([]);
        expect(here.filter(([key, value]) => !truth.has(key) && value !== 0)).toEqual([]);
      }
    });

    it('draws graphs of it', () => {
      const all = timesFrom(secondsOf(from), secondsOf(end));

      expect(throughput.size).toBeGreaterThan(1);
      for (const [name, values] of throughput) {
        expect(values).toHaveLength(all.length);
        for (const [time, page] of pages) {
          const truth = page
            .map(sampleOf)
            .filter(([key]) => key.includes('"newrelic_application_requests_per_minute"'))
            .filter(([key]) => key.includes(JSON.stringify(['app_name', name])))
            .reduce((sum, [, value]) => sum + value, 0);

          expect(values[all.indexOf(time)]).toBeCloseTo(truth, 6);
        }
      }
    });

    it('joins what the daemon shows afterwards: the same series, a sample each step', () => {
      const later = [...pages].filter(([time]) => time >= secondsOf(to));
      const keys = new Set(later.flatMap(([, page]) => page.map((line) => sampleOf(line)[0])));
      const always = [...keys].filter((key) =>
        later.every(([, page]) => page.some((line) => sampleOf(line)[0] === key)),
      );

      expect(always.length).toBeGreaterThan(30);
      for (const key of always) {
        const times = (samples.get(key) ?? []).map(([time]) => time);
        const [first = Number.NaN] = times;

        expect(first).toBeLessThan(secondsOf(to) - 3600);
        expect(times).toEqual(timesFrom(first, secondsOf(end)));
      }
      expect([...samples.keys()].filter((key) => !keys.has(key))).toEqual([]);
    });

    it('has every sample of the file once', () => {
      const times = [...samples.values()].flatMap((values) => values.map(([time]) => time));

      expect(written).toBeGreaterThan(10_000);
      expect(times.filter((time) => time <= secondsOf(to))).toHaveLength(written);
    });
  },
);
