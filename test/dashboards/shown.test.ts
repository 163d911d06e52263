import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toolOrSkip } from '../support/tools.ts';
import type { Panel } from './dashboard-files.ts';
import { readDashboards } from './dashboard-files.ts';
import { type OpenDashboard, openDashboard, type Place } from './grafana-dashboard.ts';
import { loadGrafanaData } from './grafana-data.ts';
import { type Clickable, clickablesOf, linksOf, problemsOf } from './grafana-links.ts';
import type { Shown } from './grafana-panels.ts';
import type { Tile } from './grafana-tiles.ts';
import { colorsIn, textOf } from './shown-text.ts';
import { situations } from './situations.ts';
import { type SituationsPrometheus, startSituations } from './situations-prometheus.ts';

const prometheusTool = toolOrSkip('prometheus');
const promtool = toolOrSkip('promtool');
const dashboards = readDashboards();
const grafana = loadGrafanaData();
const { textUtil } = grafana;
const names = dashboards.map(({ name }) => name);

interface Visit {
  readonly opened: OpenDashboard;
  readonly panels: readonly { readonly panel: Panel; readonly shown: Shown }[];
}

/** Tiles that say what the alerts of a situation say. */
const alertTiles = [
  { title: 'Exporters down', alert: 'NewRelicExporterDown', by: ['job', 'instance'] },
  { title: 'Accounts failing', alert: 'NewRelicExporterDiscoveryFailing', by: ['account'] },
  { title: 'Values stale', alert: 'NewRelicExporterDataStale', by: ['account', 'app_id'] },
];

const trouble = ['Exporters down', 'Accounts failing', 'Polls failing', 'Values stale'];
const wellSituations = ['healthy', 'same names', 'odd names', 'unhealthy', 'failing requests'];

/** What must be seen, by situation: the tile and its colour on every dashboard. */
const mustBeSeen = [
  ...wellSituations.flatMap((situation) =>
    trouble.map((title) => ({ situation, title, text: '0', color: 'transparent' })),
  ),
  { situation: 'one exporter down', title: 'Exporters down', text: '1', color: 'red' },
  { situation: 'all exporters down', title: 'Exporters down', text: '2', color: 'red' },
  { situation: 'all exporters down', title: 'Accounts failing', text: '2', color: 'red' },
  { situation: 'account refused', title: 'Exporters down', text: '0', color: 'transparent' },
  { situation: 'account refused', title: 'Accounts failing', text: '1', color: 'red' },
  { situation: 'account refused for long', title: 'Accounts failing', text: '1', color: 'red' },
  ...trouble.map((title) => ({
    situation: 'nothing scraped',
    title,
    text: 'no data',
    color: 'red',
  })),
];

/** What must be seen on the overview: a row of a table that names the culprit. */
const culprits = [
  { situation: 'account refused', table: 'Accounts', cells: ['europe', 'down (on red)'] },
  { situation: 'account refused for long', table: 'Accounts', cells: ['europe', 'down (on red)'] },
  { situation: 'one exporter down', table: 'Applications', cells: ['stale (on red)'] },
  { situation: 'unhealthy', table: 'Applications', cells: ['red (on red)'] },
  { situation: 'unhealthy', table: 'Applications', cells: ['orange (on orange)'] },
  { situation: 'throttled', table: 'Accounts', cells: ['europe'] },
];

describe.skipIf(prometheusTool.skip || promtool.skip)(
  `the dashboards, as people see them${prometheusTool.note}`,
  () => {
    let bench: SituationsPrometheus;
    let place: Place;
    /** Each dashboard of each situation is drawn once. */
    const visits = new Map<string, Promise<Visit>>();
    beforeAll(async () => {
      bench = await startSituations({ prometheus: prometheusTool.path, promtool: promtool.path });
      const { nowMs } = bench;
      place = { grafana, dashboards, dataSource: bench, nowMs, screen: 1280, scrapeSeconds: 15 };
    });
    afterAll(async () => bench.stop());

    const draw = async (address: string): Promise<Visit> => {
      const opened = await openDashboard(address, place);
      const panels: { panel: Panel; shown: Shown }[] = [];
      for (const panel of opened.panels) panels.push({ panel, shown: await opened.show(panel) });
      return { opened, panels };
    };
    const visit = async (name: string, situation: string): Promise<Visit> => {
      const cluster = situations.find((one) => one.name === situation)?.cluster ?? '';
      const address = `/d/newrelic-${name}?var-cluster=${cluster}`;
      const known = visits.get(address) ?? draw(address);
      visits.set(address, known);
      return known;
    };
    const shownIn = async (name: string, situation: string, title: string): Promise<Shown> => {
      const { panels } = await visit(name, situation);
      const found = panels.find(({ panel }) => panel.title === title);
      if (found === undefined) throw new Error(`${name} has no panel "${title}"`);
      return found.shown;
    };
    const tileIn = async (name: string, situation: string, title: string): Promise<Tile> => {
      const shown = await shownIn(name, situation, title);
      const [tile] = shown.kind === 'tiles' ? shown.tiles : [];
      if (tile === undefined) throw new Error(`"${title}" has no tile`);
      return tile;
    };

    it.each(situations)('say in "$name" what is so', async ({ name }) => {
      const texts: string[] = [];
      for (const dashboard of dashboards) {
        const { panels } = await visit(dashboard.name, name);
        texts.push(`# ${dashboard.title}`, '');
        texts.push(...panels.map(({ panel, shown }) => textOf(panel, shown)), '');
      }

      const file = `shown/${name.replaceAll(' ', '-')}.txt`;
      await expect(texts.join('\n')).toMatchFileSnapshot(file);
    });

    it.each(mustBeSeen)(
      'say "$title: $text" in $color in "$situation"',
      async ({ situation, title, text, color }) => {
        for (const name of ['overview', 'exporter']) {
          const tile = await tileIn(name, situation, title);

          const isFilled = color !== 'transparent';
          expect({ ...tile, name }).toMatchObject({ name, text, color, isFilled });
        }
      },
    );

    it.each(culprits)(
      'name in "$situation" who it is: $cells',
      async ({ situation, table, cells }) => {
        const { panels } = await visit('overview', situation);

        const found = panels.find(({ panel }) => panel.title === table);
        const lines = found === undefined ? [] : textOf(found.panel, found.shown).split('\n');

        expect(lines.filter((line) => cells.every((cell) => line.includes(cell)))).not.toEqual([]);
      },
    );

    it.each(alertTiles)('count in "$title" what $alert finds', async ({ title, alert, by }) => {
      for (const situation of situations.filter(({ alerts }) => alerts.includes(alert))) {
        const raised = (await bench.alertsOf(situation)).filter(
          ({ alertname }) => alertname === alert,
        );
        const found = new Set(raised.map(({ labels }) => by.map((label) => labels[label]).join()));

        const { text } = await tileIn('exporter', situation.name, title);

        expect({ situation: situation.name, text }).toEqual({
          situation: situation.name,
          text: String(found.size),
        });
      }
    });

    it.each(['all exporters down', 'nothing scraped'])(
      'are nowhere green in "%s"',
      async (situation) => {
        const green: string[] = [];
        for (const name of names) {
          const { panels } = await visit(name, situation);
          const present = panels.filter(
            ({ shown }) => shown.kind === 'tiles' || shown.kind === 'table',
          );
          green.push(
            ...present
              .filter(({ shown }) => colorsIn(shown).some(({ color }) => color === 'green'))
              .map(({ panel }) => `${name}: ${panel.title}`),
          );
        }

        expect(green).toEqual([]);
      },
    );

    it.each(situations)('have no alarm in "$name" that is only a colour', async ({ name }) => {
      const bare: string[] = [];
      for (const dashboard of names) {
        const { panels } = await visit(dashboard, name);
        for (const { panel, shown } of panels) {
          if (shown.kind !== 'tiles' && shown.kind !== 'table') continue;
          const alarms = colorsIn(shown).filter(({ color }) =>
            /^(?:red|orange|green)$/.test(color),
          );
          const unclear = alarms.filter(
            ({ text, isFilled }) => !isFilled && /^[-\d. %]*$/.test(text),
          );
          bare.push(...unclear.map(({ text, color }) => `${panel.title}: ${text} in ${color}`));
        }
      }

      expect(bare).toEqual([]);
    });

    it.each(situations)('link in "$name" to the application that was clicked', async ({ name }) => {
      const targets = new Map<string, OpenDashboard>();
      const problems: string[] = [];
      for (const dashboard of names) {
        const { opened, panels } = await visit(dashboard, name);
        const clickables = panels.flatMap(({ panel, shown }) => clickablesOf(panel, shown));
        for (const clickable of [...clickables, ...linksOf(opened)]) {
          const { address } = clickable;
          const target = targets.get(address) ?? (await openDashboard(address, place));
          targets.set(address, target);
          problems.push(
            ...problemsOf(clickable, opened, target, (one) => textUtil.sanitizeUrl(one)),
          );
          problems.push(...(await numberProblems(clickable, target)));
        }
      }

      expect([...new Set(problems)]).toEqual([]);
    });

    /** Compares the number that was clicked with the tile of the dashboard that opens. */
    async function numberProblems(
      { where, address, appId, throughput }: Clickable,
      target: OpenDashboard,
    ): Promise<readonly string[]> {
      // A host has a part of what is shown of its application.
      const isOfHost = address.includes('&var-host=');
      if (appId === undefined || throughput === undefined || isOfHost) return [];
      const shown = await target.show(target.find('Throughput'));
      const numeric = shown.kind === 'tiles' ? (shown.tiles[0]?.numeric ?? Number.NaN) : Number.NaN;
      const isSame = Math.abs(numeric - throughput) <= 0.01 * throughput;
      return isSame ? [] : [`${where} says ${throughput} and opens ${numeric}: ${address}`];
    }

    it.each(names.flatMap((name) => ['15m', '6h', '24h', '7d'].map((range) => ({ name, range }))))(
      'draw every graph of $name over $range',
      async ({ name, range }) => {
        const address = `/d/newrelic-${name}?var-cluster=half-of-the-calls-fail&from=now-${range}&to=now`;
        const opened = await openDashboard(address, place);
        const complaints: string[] = [];
        for (const panel of opened.panels) {
          const shown = await opened.show(panel);
          if (shown.kind === 'states' && shown.complaint !== '')
            complaints.push(`${panel.title}: ${shown.complaint}`);
          if (shown.kind !== 'graph' || shown.lines.length === 0) continue;
          const { axis, lines } = shown;
          const highest = Math.max(
            1,
            ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)),
          );
          const isShare = panel.fieldConfig?.defaults.unit === 'percentunit';
          if (isShare && axis.max > highest)
            complaints.push(`${panel.title}: up to ${axis.maxText}`);
        }

        expect(complaints).toEqual([]);
      },
    );
  },
);
