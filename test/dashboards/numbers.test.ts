import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alertsOf, readRuleFiles } from '../rules/rule-files.ts';
import { toolOrSkip } from '../support/tools.ts';
import { type Dashboard, type Panel, readDashboards } from './dashboard-files.ts';
import { oddNames, type SeriesInput, type Shown } from './fleet.ts';
import { type Choice, chooseAll, type Source } from './grafana.ts';
import { importHistory, type Prometheus, startPrometheus } from './prometheus.ts';
import { shownIn } from './shown.ts';
import { signalSituations } from './signal-situations.ts';
import { situations } from './situations.ts';

const prometheusTool = toolOrSkip('prometheus');
const promtool = toolOrSkip('promtool');
const dashboards = readDashboards();
const alerts = alertsOf(readRuleFiles());
const day = 86_400;
/** So far apart that none sees another, not even by what is remembered of a week. */
const apart = 9 * day;
const first = 1_700_000_040;
const all = [...situations, ...signalSituations];
const begins = all.map((_, index) =>
  all
    .slice(1, index + 1)
    .reduce((begin, { isAWeekLater }) => begin + (isAWeekLater ? 7 * day : apart), first),
);
const told = all.map((one, index) => ({ ...one, begin: begins[index] ?? first }));

/** `1x3` is four times 1, `0+60x3` grows, `_x3` is a gap; `@` counts from the beginning. */
function samplesOf(text: string, begin: number): readonly (number | undefined)[] {
  return text.split(' ').flatMap((part) => {
    const found = /^(@?)(_|-?[\d.e]+)(\+\d+)?x(\d+)$/.exec(part);
    if (found === null) throw new Error(`These are no samples: ${part}`);
    const [, at, value = '', step = '0', times] = found;
    return Array.from({ length: Number(times) + 1 }, (_, n) =>
      value === '_' ? undefined : Number(value) + Number(step) * n + (at === '@' ? begin : 0),
    );
  });
}

/** In the format that promtool imports. */
function linesOf(series: SeriesInput, begin: number): readonly string[] {
  return Object.entries(series).flatMap(([name, text]) =>
    samplesOf(text, begin).flatMap((value, n) =>
      value === undefined ? [] : `${name} ${value} ${begin + n * 60}`,
    ),
  );
}

function panelAt(where: string): { readonly dashboard: Dashboard; readonly panel: Panel } {
  const [name = '', title = ''] = where.split(': ');
  const dashboard = dashboards.find((one) => one.name === name);
  const panel = dashboard?.panels.find((one) => one.title === title && one.type !== 'row');
  if (dashboard === undefined || panel === undefined) throw new Error(`There is no panel ${where}`);
  return { dashboard, panel };
}

/** What a tile counts, and how to count the same by an alert. */
const counts = [
  { tile: 'Exporters down', alert: 'NewRelicExporterDown', count: 'count' },
  {
    tile: 'Accounts failing',
    alert: 'NewRelicExporterDiscoveryFailing',
    count: 'count(group by (cluster, account)',
  },
  { tile: 'Values stale', alert: 'NewRelicExporterDataStale', count: 'count' },
  { tile: 'Shards missing', alert: 'NewRelicExporterShardMissing', count: 'sum' },
  { tile: 'Unmatched entries', alert: 'NewRelicExporterApplicationMissing', count: 'count' },
];

const cells = told.flatMap(({ shows, ...situation }) =>
  Object.entries(shows).map(([where, shown]) => ({ ...situation, where, shown })),
);

describe.skipIf(prometheusTool.skip || promtool.skip)(
  `the numbers that a real Prometheus gives${prometheusTool.note}`,
  () => {
    let prometheus: Prometheus;
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'newrelic-exporter-numbers-'));
      const lines = told.flatMap(({ series, begin }) => linesOf(series, begin));
      await writeFile(join(folder, 'history.txt'), `${lines.join('\n')}\n# EOF\n`);
      await writeFile(join(folder, 'prometheus.yml'), '');
      await importHistory(promtool.path, join(folder, 'history.txt'), folder);
      // As far as an exporter looks back: what it no longer publishes is gone.
      prometheus = await startPrometheus(prometheusTool.path, folder, [
        '--query.lookback-delta=61s',
      ]);
    });
    afterAll(async () => {
      await prometheus.stop();
      await rm(folder, { recursive: true });
    });

    const choose = async (
      dashboard: Dashboard,
      moment: number,
      choice: Choice = {},
    ): Promise<Choice> => {
      const source: Source = {
        query: async (expression) => prometheus.query(expression, moment),
        labelValues: async (label, selector) =>
          prometheus.labelValues(label, selector, { start: moment - 3600, end: moment }),
      };
      const { topn, ...preferred } = choice;
      const chosen = await chooseAll(dashboard, preferred, source);
      return topn === undefined ? chosen : { ...chosen, topn };
    };

    it.each(cells)('when $when: $where', async ({ begin, at = 60, choice, where, shown }) => {
      const { dashboard, panel } = panelAt(where);
      const moment = begin + at * 60;

      const chosen = await choose(
        dashboard,
        moment,
        dashboard.uid === 'newrelic-application' ? choice : {},
      );
      const found = await shownIn(panel, chosen, moment, prometheus);

      expect(Object.keys(found).toSorted()).toEqual(Object.keys(shown).toSorted());
      expect({ found }).toMatchObject({ found: shown });
    });

    const odd = told.find(({ when }) => when === 'names have characters of their own meaning');

    it.each(oddNames)('of %s are those of the row and the host that were clicked', async (name) => {
      const moment = (odd?.begin ?? 0) + 3600;
      const value = oddNames.indexOf(name) + 1;
      const row: Choice = {
        Account: name.replaceAll('"', ''),
        Id: String(value),
        'Host id': `1${value}`,
      };
      const follow = async (from: string, title: string): Promise<Shown> => {
        const { overrides = [] } = panelAt(from).panel.fieldConfig ?? {};
        const [, address = ''] =
          /"url":"[^?]*\?(.*?percentencode\}"?)"/.exec(JSON.stringify(overrides)) ?? [];
        const filled = address.replaceAll(
          /\$\{__data\.fields\[\\"([^"]*)\\"\]:percentencode\}/g,
          (_, column: string) => encodeURIComponent(row[column] ?? ''),
        );
        const chosen = [...new URLSearchParams(filled)].flatMap(([key, text]) =>
          key.startsWith('var-') ? [[key.slice(4), text] as const] : [],
        );
        const { dashboard, panel } = panelAt(`application: ${title}`);
        const choice = await choose(dashboard, moment, Object.fromEntries(chosen));
        return shownIn(panel, choice, moment, prometheus);
      };

      expect(await follow('overview: Applications', 'Throughput now')).toEqual({ now: value });
      const ofHost = await follow('application: Hosts', 'Throughput of the busiest hosts');
      expect(ofHost).toEqual({ [name]: value });
    });

    const withWhole = told.filter(({ whole }) => whole !== undefined);

    it.each(withWhole)('leave out the hosts of $whole when $when', async ({ begin, whole }) => {
      for (const dashboard of dashboards) {
        expect((await choose(dashboard, begin + 3600))['whole_exporters']).toBe(whole);
      }
    });

    // What an exporter that is down has said is remembered by tiles, and not by alerts.
    const scraped = told.filter(({ shows }) => (shows['exporter: Exporters down'] ?? 0) === 0);

    it.each(scraped)('agree with the alerts when $when', async ({ begin, at = 60 }) => {
      const moment = begin + at * 60;
      for (const { tile, alert, count } of counts) {
        const { dashboard, panel } = panelAt(`exporter: ${tile}`);
        const found = await shownIn(panel, await choose(dashboard, moment), moment, prometheus);
        const expr = alerts.find((one) => one.alert === alert)?.expr ?? '';
        const close = count.includes('(') ? ')' : '';
        const { series } = await prometheus.query(`${count} (${expr})${close}`, moment);

        const fired = series[0]?.values[0] ?? 0;
        expect({ tile, fired }).toEqual({ tile, fired: typeof found === 'number' ? found : 0 });
      }
    });
  },
);
