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

/** As WCAG 2 defines it. */
function contrastWithWhite(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((from) => {
    const part = Number.parseInt(color.slice(from, from + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
}

describe('every dashboard', () => {
  it.each(dashboards)('$name begins with four tiles of what is wrong', ({ panels: all }) => {
    const first = all.slice(0, 4).map(({ title, gridPos: { x, y, w } }) => [title, x, y, w]);

    expect(first).toEqual([
      ['Exporters down', 0, 0, 6],
      ['Accounts failing', 6, 0, 6],
      ['Polls failing', 12, 0, 6],
      ['Values stale', 18, 0, 6],
    ]);
  });

  it('is short enough to be read at night', () => {
    const [overview, , exporter] = dashboards.map(({ panels: all }) => all);
    const rows = overview?.map(({ gridPos: { y, h } }) => y + h) ?? [];

    // One screen and a half; a row of the grid has 38 pixels.
    expect(Math.max(...rows) * 38).toBeLessThan(1600);
    expect(exporter?.filter(({ type }) => type !== 'row').length).toBeLessThanOrEqual(24);
  });

  it.each(dashboards)(
    '$name has white text only on colours that let it be read',
    ({ panels: all }) => {
      const fills = new Set(JSON.stringify(all).match(/#[0-9A-F]{6}/g));

      expect([...fills].toSorted()).toEqual(['#B35900', '#C4162A']);
      expect([...fills].filter((fill) => contrastWithWhite(fill) < 4.5)).toEqual([]);
    },
  );

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

  it.each(panels)('$where says so itself where an answer has no fields', ({ panel }) => {
    // Grafana's kinds for states over time would say "Data does not have a time field".
    expect(['stat', 'table', 'timeseries']).toContain(panel.type);
  });

  it.each(ofType('stat'))('$where leads to what it counts, if it has a colour', ({ panel }) => {
    const options = JSON.stringify(panel.fieldConfig);
    const isColored = options.replaceAll(/"special".*?\}\}\}/g, '').includes('#');

    expect(isColored && urlsOf(panel).length === 0).toBe(false);
  });

  it.each(ofType('stat'))('$where says "no data" in a colour that is not green', ({ panel }) => {
    const defaults = panel.fieldConfig?.defaults;

    expect(defaults).toMatchObject({ noValue: 'no data' });
    expect(defaults?.mappings).toContainEqual(
      expect.objectContaining({
        type: 'special',
        options: expect.objectContaining({ match: 'null+nan' }),
      }),
    );
    expect(JSON.stringify(defaults)).not.toContain('green');
  });

  it.each(ofType('timeseries'))(
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

/** Labels of which even a large installation has a few dozen values. */
const fewValues = /^(?:account|reason|kind|transaction_type)$/;

describe('a graph, with 50 exporters of 20 accounts and 10,000 applications', () => {
  it.each(ofType('timeseries'))('$where has a few dozen lines at most', ({ panel }) => {
    const many = (panel.targets ?? []).filter(({ expr, legendFormat = '' }) => {
      const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      const isBounded = labels.length < 2 && labels.every((label) => fewValues.test(label));
      return !isBounded && !/topk\(\$topn, |app_id=~"\$busiest_apps"/.test(expr);
    });

    expect(many).toEqual([]);
  });
});
