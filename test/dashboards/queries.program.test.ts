import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { alertsOf, readRuleFiles, recordingsOf, rulesFolder } from '../rules/rule-files.ts';
import { startDaemon, stopProgram, until } from '../support/daemon-process.ts';
import { toolOrSkip } from '../support/tools.ts';
import { badDay, badMinutes, onlyOnBadDays } from './bad-day.ts';
import { readDashboards } from './dashboard-files.ts';
import { type Choice, chooseAll, filledIn, optionsOf } from './grafana.ts';
import { asItIs, historyOf } from './history.ts';
import {
  type Answer,
  importHistory,
  type Prometheus,
  type Series,
  startPrometheus,
} from './prometheus.ts';
import { aVendor, configOf, environment, prometheusConfig } from './vendor.ts';

const prometheusTool = toolOrSkip('prometheus');
const promtool = toolOrSkip('promtool');
const dashboards = readDashboards();
const rules = readRuleFiles();
const alerts = alertsOf(rules);
const day = 86_400;

/** What is chosen where it is not "All": of the applications with traffic the one with most hosts. */
const preferred: Choice = { app: '101' };
const panels = dashboards.flatMap((dashboard) =>
  dashboard.panels.flatMap(({ title, targets }) =>
    (targets ?? []).map((target) => ({
      where: `${dashboard.name}: ${title} ${target.refId}`,
      dashboard,
      target,
    })),
  ),
);
const questions = panels.map((panel) => ({
  ...panel,
  wanted: panel.dashboard.name === 'application' ? preferred : {},
}));

/** What the vendor has, although each application is scraped twice; of several series the least first. */
const known: Readonly<Record<string, readonly number[]>> = {
  'overview: Exporters down A': [0],
  'overview: Accounts failing A': [0],
  'overview: Polls failing A': [1],
  'overview: Values stale A': [0],
  'overview: With alerts A': [0],
  'overview: Unhealthy A': [1],
  'overview: Unhealthy B': [0],
  'overview: Not reporting A': [1],
  'overview: Published A': [4],
  'overview: Published B': [8],
  'overview: Throughput now A': [780],
  'overview: Throughput now B': [0],
  'overview: Response time now A': [(660 * 0.226 + 120 * 0.177) / 780],
  'overview: Apdex now A': [(660 * 0.958 + 120 * 0.817) / 780],
  'overview: Applications D': [1, 2, 2, 4],
  'overview: Applications E': [0, 1, 1, 1],
  'overview: Applications F': [120, 660],
  'overview: Applications G': [0.177, 0.226],
  'overview: Applications I': [0.817, 0.958],
  'overview: Accounts B': [4],
  'application: Throughput now A': [660],
  'application: Error ratio A': [0.01, 0.01],
  'application: Response time C': [0.226],
  'application: Apdex A': [0.958],
  'application: Response time by layer B': [(1920 * 0.02823125) / 660],
  'application: Hosts A': [220, 220, 220],
  'application: Imbalance A': [1],
  'application: Imbalance B': [0],
  'application: Hosts and instances A': [3],
  'application: Hosts and instances B': [7],
  'application: Calls of databases and external services A': [1920],
  'application: Calls of databases and external services B': [315],
  'application: CPU of the hosts A': [0.85, 0.85, 0.85],
  'exporter: Polls failing A': [1],
  'exporter: Configuration valid A': [1],
  'exporter: Shards missing A': [0],
  'exporter: Highest demand A': [0.105],
  'exporter: Unmatched entries A': [1],
  'exporter: Rows by query A': [0, 3],
  'exporter: Metrics without a value A': [1, 1],
};

/** The same on the bad day, of which last week was as the present is. */
const knownOnBadDay: typeof known = {
  'overview: Accounts failing A': [2],
  'overview: Values stale A': [3],
  'overview: Throughput now A': [20],
  'overview: Throughput now B': [20 / 780 - 1],
  'overview: Apdex now A': [0.3],
  'exporter: Configuration valid A': [0],
};

/** Panels that show only what is wrong, where nothing is, or only what has no host. */
const empty = new Set([
  // An alert waits longer than this test.
  'overview: Applications A',
  // Its hosts are polled.
  'application: CPU of the hosts B',
  // It looks back two minutes.
  'exporter: Use of the budget A',
]);

interface Bench {
  readonly prometheus: Prometheus;
  /** When the bad day ended, in seconds since the epoch. */
  readonly badEnd: number;
}

const isEnough = [
  'min(count_over_time(up[1m])) >= 6',
  'count(app:newrelic_application_requests_per_minute:sum) >= 2',
  'sum(newrelic_exporter_api_request_retries_total{reason="server"}) > 0',
  // It is said of a query without a row after its second poll.
  'sum(newrelic_exporter_query_missing) > 0',
].map((expression) => `(${expression})`);

/** Everything that is scraped and recorded, once there is enough of it for rates. */
async function presentSeries(prometheus: Prometheus): Promise<readonly Series[]> {
  await until(async () => {
    const { series } = await prometheus.query(isEnough.join(' and on () '));
    return series.length > 0 ? true : undefined;
  });
  const { error, series } = await prometheus.query('{__name__=~".+",__name__!~"ALERTS.*"}');
  if (series.length === 0) throw new Error(`nothing was recorded: ${error}`);
  return series;
}

/** What has been started, to be ended in reverse order, whatever happens. */
const endings: (() => Promise<unknown>)[] = [];

async function startVendorAndDaemon(folder: string): Promise<string> {
  const simulator = aVendor();
  endings.push(async () => simulator.stop());
  const { baseUrl } = await simulator.start();
  await writeFile(join(folder, 'config.yaml'), configOf(baseUrl));
  const daemon = await startDaemon([`--config.file=${folder}/config.yaml`], environment);
  endings.push(async () => stopProgram(daemon));
  return new URL(daemon.url).host;
}

async function startScraping(folder: string): Promise<Prometheus> {
  const prometheus = await startPrometheus(prometheusTool.path, folder);
  endings.push(async () => prometheus.stop());
  return prometheus;
}

async function startBench(): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'newrelic-exporter-dashboards-'));
  endings.push(async () => rm(folder, { recursive: true }));
  const daemon = await startVendorAndDaemon(folder);
  await writeFile(join(folder, 'prometheus.yml'), prometheusConfig(daemon, rulesFolder));
  const first = await startScraping(folder);
  const present = await presentSeries(first);
  await first.stop();
  const now = Math.floor(createSystemClock().wallMs() / 1000);
  const badEnd = now - 2 * day;
  // In the order of time: promtool takes no older sample of a series.
  const chapters = [
    { end: badEnd - 7 * day, minutes: 35, story: asItIs },
    { end: now - 7 * day + 180, minutes: 10, story: asItIs },
    { end: badEnd, minutes: badMinutes, story: badDay(badEnd) },
  ];
  const all = [...present, ...onlyOnBadDays(present)];
  await writeFile(join(folder, 'history.txt'), historyOf(all, chapters));
  await importHistory(promtool.path, join(folder, 'history.txt'), folder);
  const prometheus = await startScraping(folder);
  await until(async () => {
    const { series } = await prometheus.query('min(count_over_time(up[8s])) >= 6');
    return series.length > 0 ? true : undefined;
  });
  return { prometheus, badEnd };
}

function labelsNamedBy(legend: string): readonly string[] {
  return [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
}

function hasNumbers({ series }: Answer): boolean {
  return series.some(({ values }) => values.some((value) => Number.isFinite(value)));
}

describe.skipIf(prometheusTool.skip || promtool.skip)(
  `a real Prometheus that scrapes the built daemon${prometheusTool.note}`,
  () => {
    let bench: Bench;
    beforeAll(async () => {
      bench = await startBench();
    });
    afterAll(async () => {
      for (const end of endings.toReversed()) await end();
    });
    const lastSeconds = async (expr: string): Promise<Answer> => {
      const end = createSystemClock().wallMs() / 1000;
      return bench.prometheus.queryRange(expr, { start: end - 3, end, step: 1 });
    };
    const choose = async (
      dashboard: (typeof dashboards)[number],
      wanted: Choice,
    ): Promise<Choice> => chooseAll(dashboard, wanted, bench.prometheus);

    it.each(dashboards)(
      'offers values for every variable of $name but the cluster',
      async (one) => {
        const choice = await choose(one, one.name === 'application' ? preferred : {});

        const offers = await Promise.all(
          one.templating.list
            .filter(({ type }) => type === 'query')
            .map(async (variable) => {
              const options = await optionsOf(variable, choice, bench.prometheus);
              return options.length === 0 ? [variable.name] : [];
            }),
        );

        expect(offers.flat()).toEqual(['cluster']);
      },
    );

    it.each(questions)('answers $where', async ({ where, dashboard, wanted, target }) => {
      const expr = filledIn(target.expr, await choose(dashboard, wanted));

      const answer = target.instant ? await bench.prometheus.query(expr) : await lastSeconds(expr);

      const labels = labelsNamedBy(target.legendFormat ?? '');
      const unnamed = answer.series
        .slice(0, 1)
        .flatMap(({ metric }) => labels.filter((label) => !(label in metric)));
      expect(answer.error).toBe('');
      expect(hasNumbers(answer)).toBe(!empty.has(where));
      expect(unnamed).toEqual([]);
    });

    const shownIn = async (where: string, at?: number): Promise<readonly number[]> => {
      const panel = questions.find((question) => question.where === where);
      if (panel === undefined) throw new Error(`There is no panel ${where}`);
      const expr = filledIn(panel.target.expr, await choose(panel.dashboard, panel.wanted));
      const { series } = await bench.prometheus.query(expr, at);
      const shown = series.map(({ values: [value = Number.NaN] }) => value);
      return shown.toSorted((left, right) => left - right);
    };
    const close = (values: readonly number[]): unknown =>
      values.map((value) => expect.closeTo(value, 4) as unknown);

    it.each(Object.entries(known))('shows in %s the values %s', async (where, expected) => {
      expect(await shownIn(where)).toEqual(close(expected));
    });

    it.each(Object.entries(knownOnBadDay))(
      'showed in %s the values %s on the bad day',
      async (where, expected) => {
        expect(await shownIn(where, bench.badEnd)).toEqual(close(expected));
      },
    );

    it.each(dashboards)('understands the annotations of $name', async (one) => {
      const choice = await choose(one, {});

      for (const { expr } of one.annotations.list) {
        const { error } = await lastSeconds(filledIn(expr, choice));
        expect(error).toBe('');
      }
      expect(one.annotations.list).toHaveLength(3);
    });

    it('evaluates every rule without an error', async () => {
      const { data } = (await bench.prometheus.get('/api/v1/rules')) as {
        data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
      };
      const evaluated = data.groups.flatMap((group) => group.rules);

      expect(evaluated).toHaveLength(alerts.length + recordingsOf(rules).length);
      expect(evaluated.filter(({ health }) => health !== 'ok')).toEqual([]);
      expect(bench.prometheus.log()).not.toMatch(/level=(?:warn|error)/);
    });

    it.each(recordingsOf(rules))('records $record', async ({ record, expr }) => {
      const recorded = await bench.prometheus.query(record);
      const asked = await bench.prometheus.query(expr);

      expect(hasNumbers(recorded)).toBe(true);
      expect(recorded.series).toHaveLength(asked.series.length);
    });

    it.each(alerts.filter(({ alert }) => alert !== 'NewRelicExporterAbsent'))(
      'finds on the bad day what $alert looks for',
      async ({ expr }) => {
        const times = [bench.badEnd, bench.badEnd - 50 * 60];
        const answers = await Promise.all(
          times.map(async (at) => bench.prometheus.query(expr, at)),
        );

        expect(answers.map(({ error }) => error)).toEqual(['', '']);
        expect(answers.flatMap(({ series }) => series)).not.toEqual([]);
      },
    );

    it('finds before the first scrape what NewRelicExporterAbsent looks for', async () => {
      const absent = alerts.find(({ alert }) => alert === 'NewRelicExporterAbsent');

      const before = await bench.prometheus.query(absent?.expr ?? '', bench.badEnd - 20 * day);

      expect(before.series).toHaveLength(1);
    });

    it('finds at present exactly what is wrong with this vendor and needs no past', async () => {
      const found = await Promise.all(
        alerts.map(async ({ alert, expr }) => {
          const { series } = await bench.prometheus.query(expr);
          return series.map(({ metric }) => `${alert} ${metric['app_id'] ?? metric['job'] ?? ''}`);
        }),
      );

      expect(found.flat().toSorted()).toEqual([
        'NewRelicApplicationErrorRatioHigh 103',
        'NewRelicApplicationNotReporting 104',
        'NewRelicApplicationUnhealthy 103',
        // Of its calls, which all fail, this alert tells alone.
        'NewRelicExporterNeverPolled 102',
      ]);
    });
  },
);
