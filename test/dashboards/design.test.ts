import { describe, expect, it } from 'vitest';
import { type Panel, readDashboards } from './dashboard-files.ts';

/** What keeps a dashboard true and readable, whatever its panels show. */

const dashboards = readDashboards();
const panels = dashboards.flatMap(({ name, panels: own }) =>
  own
    .filter(({ type }) => type !== 'row')
    .map((panel) => ({ where: `${name}: ${panel.title}`, name, panel })),
);

function ofType(...types: readonly string[]): typeof panels {
  return panels.filter(({ panel }) => types.includes(panel.type));
}

/** Everything that a panel links to. */
function urlsOf(panel: unknown): readonly string[] {
  return [...JSON.stringify(panel).matchAll(/"url":("(?:[^"\\]|\\.)*")/g)].map(
    ([, text = '']) => JSON.parse(text) as string,
  );
}

const links = dashboards.flatMap((one) => [
  ...one.links.map(({ title, url }) => ({ where: `${one.name}: ${title}`, from: one, url })),
  ...one.panels.flatMap((panel) =>
    urlsOf(panel).map((url) => ({ where: `${one.name}: ${panel.title}`, from: one, url })),
  ),
]);

function dashboardOf(url: string): (typeof dashboards)[number] {
  const [, uid] = /^\/d\/([\w-]+)\?/.exec(url) ?? [];
  const found = dashboards.find((one) => one.uid === uid);
  if (found === undefined) throw new Error(`${url} leads to no dashboard`);
  return found;
}

/** Labels that series are left with by the outermost aggregation, or the last one that is named. */
function labelsOf(expr: string): readonly string[] {
  const lists = [...expr.matchAll(/\b(?:by|group_left) \(([^)]*)\)/g)].map(([, list = '']) => list);
  return [...new Set(lists.flatMap((list) => list.split(',').map((label) => label.trim())))];
}

describe('every dashboard', () => {
  it.each(dashboards)('$name begins with four tiles of what is wrong', ({ panels: all }) => {
    const first = all.slice(0, 5).map(({ title, gridPos: { x, y, w } }) => [title, x, y, w]);

    expect(first).toEqual([
      ['Trouble', 0, 0, 24],
      ['Exporters down', 0, 1, 6],
      ['Accounts failing', 6, 1, 6],
      ['Polls failing', 12, 1, 6],
      ['Values stale', 18, 1, 6],
    ]);
  });

  it.each(dashboards)('$name has each title once', ({ panels: all }) => {
    const titles = all.map(({ title }) => title);

    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
  });

  it.each(dashboards)('$name leads to the two others', ({ uid, links: own }) => {
    const others = dashboards.filter((one) => one.uid !== uid).map((one) => one.uid);

    expect(own.map(({ url }) => dashboardOf(url).uid)).toEqual(others);
    expect(own.filter(({ type }) => type !== 'link')).toEqual([]);
  });

  it.each(dashboards)('$name takes "All" applications from a link', ({ templating }) => {
    const app = templating.list.find(({ name }) => name === 'app');

    expect(app?.allValue ?? '.+').toBe('.+');
  });
});

describe('every link', () => {
  it.each(links)('of $where hands on what is chosen', ({ from, url }) => {
    const shared = dashboardOf(url)
      .templating.list.filter(({ skipUrlSync }) => !skipUrlSync)
      .map(({ name }) => name)
      .filter((name) => !['app', 'host', 'account'].includes(name))
      .filter((name) => from.templating.list.some((variable) => variable.name === name));
    const isOfTable = url.includes('viewPanel');
    const needed = isOfTable || !url.includes('var-app') ? shared.slice(0, 4) : shared;

    for (const name of needed) expect(url).toContain(`$\{${name}:queryparam}`);
    expect(url).toMatch(/\$\{account:queryparam\}|var-account=\$\{[^}]+:percentencode\}/);
  });

  it.each(links)('of $where names applications by id, and encodes what is a name', ({ url }) => {
    expect(url).not.toContain('app_name');
    expect(url.match(/var-\w+=\$\{[^}]*\}/g) ?? []).toEqual(
      url.match(/var-\w+=\$\{[^}]*:percentencode\}/g) ?? [],
    );
  });

  it.each(links.filter(({ url }) => dashboardOf(url).name === 'application'))(
    'of $where to one application hands on no choice of applications',
    ({ url }) => {
      expect(url).not.toContain('{app:');
    },
  );

  it.each(links.filter(({ url }) => url.includes('viewPanel')))(
    'of $where opens a panel that exists',
    ({ url }) => {
      const [, id] = /viewPanel=(\d+)/.exec(url) ?? [];
      const found = dashboardOf(url).panels.filter((panel) => panel.id === Number(id));

      expect(found.map(({ type }) => type)).toEqual(['table']);
    },
  );
});

describe('every panel', () => {
  it.each(panels)('$where invents no 0 where nothing is known', ({ panel }) => {
    expect(JSON.stringify(panel)).not.toContain('vector(0)');
  });

  it.each(ofType('stat'))('$where says "no data" in a colour that is not green', ({ panel }) => {
    const defaults = panel.fieldConfig?.defaults;

    expect(defaults).toMatchObject({
      noValue: 'no data',
    });
    expect(defaults?.mappings).toContainEqual(
      expect.objectContaining({
        type: 'special',
        options: expect.objectContaining({ match: 'null+nan' }),
      }),
    );
    expect(JSON.stringify(defaults)).not.toContain('green');
  });

  it.each(ofType('state-timeline'))('$where takes its colours from the mappings', ({ panel }) => {
    expect(panel.fieldConfig?.defaults).toMatchObject({ color: { mode: 'fixed' } });
  });

  it.each(ofType('status-history'))('$where asks for few enough moments', ({ panel }) => {
    expect(panel.maxDataPoints).toBeLessThanOrEqual(60);
  });

  it.each(ofType('timeseries', 'state-timeline', 'status-history', 'bargauge'))(
    '$where has a limited number of applications and hosts',
    ({ panel }) => {
      const perItem = (panel.targets ?? []).filter(({ legendFormat = '' }) =>
        /\{\{(?:app_name|app_id|host_name|host_id)\}\}/.test(legendFormat),
      );

      const limits = /(?:top|bottom)k\((?:\$topn|1),|app_id=~"\$busiest_apps"/;
      expect(perItem.filter(({ expr }) => !limits.test(expr))).toEqual([]);
    },
  );

  it.each(ofType('timeseries', 'status-history'))(
    '$where chooses its lines once, and also those that have ended',
    ({ panel }) => {
      const chosen = (panel.targets ?? []).filter(({ expr }) => expr.includes('topk('));

      expect(chosen.filter(({ expr }) => !expr.includes('[$__range] @ end()'))).toEqual([]);
    },
  );

  it.each(ofType('table'))('$where has a title for each of its labels', ({ panel }) => {
    const titled = Object.keys(renamesOf(panel));
    const labels = (panel.targets ?? []).flatMap(({ expr }) => {
      const [outermost] = /\bby \([^)]*\)/.exec(expr) ?? [''];
      return labelsOf(outermost);
    });

    expect(labels.filter((label) => !titled.includes(label))).toEqual([]);
  });
});

function renamesOf(panel: Panel): Readonly<Record<string, string>> {
  const organize = panel.transformations?.find(({ id }) => id === 'organize');
  const { renameByName = {} } = (organize?.options ?? {}) as {
    readonly renameByName?: Readonly<Record<string, string>>;
  };
  return renameByName;
}
