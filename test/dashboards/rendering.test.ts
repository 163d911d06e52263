import { describe, expect, it } from 'vitest';
import type { Dashboard, Panel, Variable } from './dashboard-files.ts';
import { type DataSource, type OpenDashboard, openDashboard } from './grafana-dashboard.ts';
import { loadGrafanaData } from './grafana-data.ts';
import { isUnfilled } from './grafana-interpolation.ts';
import type { Shown } from './grafana-panels.ts';

const grafana = loadGrafanaData();
const red = { color: 'red', value: 1 };

type Labels = Readonly<Record<string, string>>;

/** A panel with only what a test is about. */
function panelOf(type: string, changes: object = {}, format = 'time_series'): Panel {
  const instant = type !== 'timeseries' && type !== 'state-timeline' && type !== 'status-history';
  const datasource = { type: 'prometheus', uid: '$datasource' };
  const panel = {
    id: 1,
    type,
    title: 'A panel',
    gridPos: { x: 0, y: 0, w: 12, h: 8 },
    targets: [{ refId: 'A', expr: 'a', legendFormat: '{{app_name}}', format, instant, datasource }],
    fieldConfig: { defaults: {}, overrides: [] },
  };
  return { ...panel, ...changes };
}

function fields(defaults: object, overrides: readonly object[] = []): object {
  return { fieldConfig: { defaults, overrides } };
}

const thresholds = (...steps: readonly object[]): object => ({
  thresholds: { mode: 'absolute', steps: [{ color: 'text', value: null }, ...steps] },
});

function dashboardOf(
  uid: string,
  panel: Panel,
  variables: readonly Partial<Variable>[] = [],
): Dashboard {
  return {
    uid,
    title: uid,
    schemaVersion: 39,
    editable: false,
    time: { from: 'now-6h', to: 'now' },
    links: [],
    panels: [panel],
    annotations: { list: [] },
    templating: { list: variables as readonly Variable[] },
  };
}

const app: Partial<Variable> = {
  name: 'app',
  type: 'query',
  query: 'label_values(a, app_name)',
  regex: '',
  multi: true,
  includeAll: false,
  current: {},
};

interface Answers {
  readonly vector?: readonly (readonly [Labels, number])[];
  /** The values of one series, repeated over the range. */
  readonly line?: readonly number[];
  readonly labelValues?: readonly string[];
}

async function open(
  dashboards: readonly Dashboard[],
  { vector = [], line = [1], labelValues = [] }: Answers,
  address = '/d/one',
): Promise<OpenDashboard> {
  const dataSource: DataSource = {
    query: async (_, atMs) => ({
      resultType: 'vector',
      result: vector.map(([metric, value]) => ({ metric, value: [atMs / 1000, String(value)] })),
    }),
    queryRange: async (_, { startMs, endMs, stepMs }) => {
      const points = (endMs - startMs) / stepMs + 1;
      const values = Array.from({ length: points }, (__, index) => {
        return [(startMs + index * stepMs) / 1000, String(line[index % line.length])] as const;
      });
      return { resultType: 'matrix', result: [{ metric: { app_name: 'shop' }, values }] };
    },
    labelValues: async () => labelValues,
  };
  const nowMs = 1_790_000_000_000;
  return openDashboard(address, {
    grafana,
    dashboards,
    dataSource,
    nowMs,
    screen: 1920,
    scrapeSeconds: 15,
  });
}

async function drawn(panel: Panel, answers: Answers): Promise<Shown> {
  return (await open([dashboardOf('one', panel)], answers)).show(panel);
}

/** Where the first value of a panel leads, with the variable `app` at a value. */
async function linkOf(
  panel: Panel,
  answers: Answers,
  chosen: Partial<Variable> = {},
): Promise<string> {
  const opened = await open([dashboardOf('one', panel, [{ ...app, ...chosen }])], answers);
  const shown = await opened.show(panel);
  if (shown.kind === 'table') return shown.rows[0]?.[0]?.links[0] ?? '';
  return (shown.kind === 'tiles' ? shown.tiles[0]?.links[0] : undefined) ?? '';
}

describe('a tile', () => {
  it.each([
    { value: 0, text: '0', color: 'text' },
    { value: 1, text: '1', color: 'red' },
  ])('has the colour of the threshold at $value', async ({ value, text, color }) => {
    const panel = panelOf('stat', fields(thresholds(red)));

    const shown = await drawn(panel, { vector: [[{}, value]] });

    expect(shown).toMatchObject({ tiles: [{ text, color, isFilled: false }] });
  });

  it.each([
    { colorMode: 'value', isFilled: false },
    { colorMode: 'background', isFilled: true },
    { colorMode: 'background_solid', isFilled: true },
  ])('is filled with its colour by $colorMode', async ({ colorMode, isFilled }) => {
    const panel = panelOf('stat', { ...fields(thresholds(red)), options: { colorMode } });

    const shown = await drawn(panel, { vector: [[{}, 3]] });

    expect(shown).toMatchObject({ tiles: [{ color: 'red', isFilled }] });
  });

  it.each([
    { defaults: {}, text: 'No data', color: 'green' },
    { defaults: thresholds(red), text: 'No data', color: 'text' },
    { defaults: { ...thresholds(red), noValue: 'no data' }, text: 'no data', color: 'text' },
    {
      defaults: {
        mappings: [
          {
            type: 'special',
            options: { match: 'null', result: { text: 'no data', color: 'red' } },
          },
        ],
      },
      text: 'no data',
      color: 'red',
    },
  ])('says "$text" in $color without an answer', async ({ defaults, text, color }) => {
    const shown = await drawn(panelOf('stat', fields(defaults)), {});

    expect(shown).toMatchObject({ tiles: [{ text, color }] });
  });

  it.each([
    { unit: 'rpm', text: '2 rd/m' },
    { unit: 'reqpm', text: '2 req/m' },
    { unit: 'dtdurations', text: '2 seconds' },
  ])('says $text in the unit $unit', async ({ unit, text }) => {
    const shown = await drawn(panelOf('stat', fields({ unit })), { vector: [[{}, 2]] });

    expect(shown).toMatchObject({ tiles: [{ text }] });
  });
});

describe('a table', () => {
  const id = { app_id: '100000001' };

  it.each([
    { fieldConfig: fields({ unit: 'short' }), text: '100 Mil' },
    {
      fieldConfig: fields({ unit: 'short' }, [
        {
          matcher: { id: 'byName', options: 'app_id' },
          properties: [{ id: 'unit', value: 'string' }],
        },
      ]),
      text: '100000001',
    },
  ])('shows the label 100000001 as $text', async ({ fieldConfig, text }) => {
    const transformations = [{ id: 'organize', options: { excludeByName: { Time: true } } }];
    const panel = panelOf('table', { ...fieldConfig, transformations }, 'table');

    const shown = await drawn(panel, { vector: [[id, 2]] });

    expect(shown).toMatchObject({ header: ['app_id', 'Value'], rows: [[{ text }, { text: '2' }]] });
  });

  it('puts the rows of several queries together, sorted, with colours where cells have them', async () => {
    const isText = { id: 'custom.cellOptions', value: { type: 'color-background' } };
    const [target] = panelOf('table', {}, 'table').targets ?? [];
    const panel = panelOf('table', {
      targets: [target, { ...target, refId: 'B' }],
      ...fields(thresholds({ color: 'red', value: 2 }), [
        { matcher: { id: 'byName', options: 'Value #B' }, properties: [isText] },
      ]),
      transformations: [{ id: 'merge', options: {} }],
      options: { sortBy: [{ displayName: 'Value #A', desc: true }] },
    });

    const shown = await drawn(panel, {
      vector: [
        [{ app_name: 'a' }, 1],
        [{ app_name: 'b' }, 2],
      ],
    });

    expect(shown).toMatchObject({
      header: ['Time', 'app_name', 'Value #A', 'Value #B'],
      rows: [
        [
          {},
          { text: 'b' },
          { text: '2', color: 'text' },
          { text: '2', color: 'red', isFilled: true },
        ],
        [
          {},
          { text: 'a' },
          { text: '1', color: 'text' },
          { text: '1', color: 'text', isFilled: true },
        ],
      ],
    });
  });
});

describe('states over time', () => {
  const health = {
    type: 'value',
    options: { 1: { text: 'fine', color: 'green' }, 2: { text: 'ill', color: 'red' } },
  };
  const mappings = [health];
  const base = { thresholds: { mode: 'absolute', steps: [{ color: 'green', value: null }] } };

  it.each([
    { color: { mode: 'thresholds' }, mergeValues: true, texts: ['-∞+'] },
    { color: { mode: 'thresholds' }, mergeValues: false, texts: ['fine', 'ill'] },
    { color: { mode: 'fixed', fixedColor: 'text' }, mergeValues: true, texts: ['fine', 'ill'] },
  ])('are $texts with $color and merging $mergeValues', async ({ color, mergeValues, texts }) => {
    const defaults = { ...base, color, mappings };
    const panel = panelOf('state-timeline', { ...fields(defaults), options: { mergeValues } });

    const shown = await drawn(panel, { line: [1, 2] });

    expect(shown).toMatchObject({ legend: texts.map((text) => ({ text })) });
  });

  it.each([
    { maxDataPoints: undefined, complaint: expect.stringContaining('Too many points') },
    { maxDataPoints: 60, complaint: '' },
  ])('complain with $maxDataPoints points: $complaint', async ({ maxDataPoints, complaint }) => {
    const shown = await drawn(panelOf('status-history', { maxDataPoints }), {});

    expect(shown).toMatchObject({ complaint });
  });
});

describe('a graph', () => {
  it.each([
    { legend: { displayMode: 'table' }, names: ['a', 'b'] },
    { legend: { displayMode: 'table', sortBy: 'Last *', sortDesc: true }, names: ['b', 'a'] },
    { legend: { displayMode: 'list', sortBy: 'Last *', sortDesc: true }, names: ['a', 'b'] },
  ])('names its lines $names with $legend', async ({ legend, names }) => {
    const [target] = panelOf('stat').targets ?? [];
    const panel = panelOf('timeseries', { targets: [target], options: { legend } });

    const shown = await drawn(panel, {
      vector: [
        [{ app_name: 'a' }, 1],
        [{ app_name: 'b' }, 2],
      ],
    });

    expect(shown).toMatchObject({ lines: names.map((name) => ({ name })) });
  });

  it.each([
    { custom: {}, maxText: '10000%' },
    { custom: { axisSoftMax: 0.05 }, maxText: '5%' },
  ])('of zeros reaches $maxText with $custom', async ({ custom, maxText }) => {
    const panel = panelOf('timeseries', fields({ unit: 'percentunit', custom }));

    const shown = await drawn(panel, { line: [0] });

    expect(shown).toMatchObject({ axis: { min: 0, maxText } });
  });
});

describe('a link', () => {
  const name = 'mail+queue & "more" (all)';
  const vector = [[{ account: 'eu', app_name: name }, 2]] as const;
  const linked = (url: string): object => fields({ links: [{ title: 'Open', url }] });
  const nameIn = (address: string): string | null =>
    new URL(address, 'http://x.invalid').searchParams.get('var-app');

  it.each([
    { url: `/d/two?var-app=\${__field.labels.app_name}`, arrives: 'mail queue ' },
    { url: `/d/two?var-app=\${__field.labels.app_name:percentencode}`, arrives: name },
  ])('with $url brings $arrives', async ({ url, arrives }) => {
    const address = await linkOf(panelOf('stat', linked(url)), { vector });

    expect(nameIn(address)).toBe(arrives);
  });

  it('of a row takes from other columns, also from renamed ones', async () => {
    const url = `/d/two?var-app=\${__data.fields["Application"]:percentencode}`;
    const renameByName = { app_name: 'Application' };
    const transformations = [{ id: 'organize', options: { renameByName } }];
    const panel = panelOf('table', { ...linked(url), transformations }, 'table');

    expect(nameIn(await linkOf(panel, { vector }))).toBe(name);
  });

  it('hands over variables and the time', async () => {
    const url = `/d/two?\${__url_time_range}&\${app:queryparam}`;
    const chosen = { current: { value: ['a&b', 'c'] } };

    const answers = { vector, labelValues: ['a&b', 'c'] };
    const address = await linkOf(panelOf('stat', linked(url)), answers, chosen);

    expect(address).toBe('/d/two?from=now-6h&to=now&timezone=browser&var-app=a%26b&var-app=c');
  });

  it.each([
    { address: '/d/two?var-app=$__all', result: false },
    { address: '/d/two?var-app=%24%7Bapp%7D', result: true },
    { address: '/d/two?var-app=$__field', result: true },
  ])('$address has something left to fill in: $result', ({ address, result }) => {
    expect(isUnfilled(address)).toBe(result);
  });
});

describe('a variable', () => {
  const named = {
    ...app,
    query: 'query_result(info)',
    regex: '/app_id="(?<value>[^"]*)".*app_name="(?<text>.*)"} /',
  };
  const vector = [
    [{ app_id: '7', app_name: 'shop "eu"' }, 1],
    [{ app_id: '8', app_name: 'a (b)' }, 1],
  ] as const;
  const variableOf = async (variable: object, address = '/d/one'): Promise<object | undefined> => {
    const panel = panelOf('stat');
    const dashboard = dashboardOf('one', panel, [variable]);
    const opened = await open([dashboard], { vector, labelValues: ['a (b)', 'c'] }, address);
    return { ...opened.variables[0], query: opened.queriesOf(panel)[0] };
  };

  it('can have a text besides its value', async () => {
    expect(await variableOf({ ...named, sort: 1 })).toMatchObject({
      options: [
        { label: 'a (b)', value: '8' },
        { label: 'shop "eu"', value: '7' },
      ],
      value: ['8'],
      text: ['a (b)'],
    });
  });

  it.each([
    { title: 'its value', address: '/d/one?var-app=7', value: ['7'], text: ['shop "eu"'] },
    { title: 'what does not exist', address: '/d/one?var-app=9', value: ['9'], text: ['9'] },
    // A dashboard without "All" keeps the value of one that has it.
    { title: 'all', address: '/d/one?var-app=$__all', value: ['$__all'], text: ['All'] },
  ])('takes $title from the address', async ({ address, value, text }) => {
    expect(await variableOf(named, address)).toMatchObject({ value, text });
  });

  it.each([
    { choice: { current: { value: ['a (b)'] } }, query: String.raw`up{app=~"a \\(b\\)"}` },
    { choice: { current: { value: ['a (b)', 'c'] } }, query: String.raw`up{app=~"(a \\(b\\)|c)"}` },
    { choice: { includeAll: true }, query: String.raw`up{app=~"(a \\(b\\)|c)"}` },
    { choice: { includeAll: true, allValue: '.+' }, query: 'up{app=~".+"}' },
    { choice: { includeAll: true }, offered: [], query: 'up{app=~"()"}' },
  ])('makes the query $query with $choice', async ({ choice, offered, query }) => {
    const panel = panelOf('stat');
    const targets = (panel.targets ?? []).map((target) => ({ ...target, expr: 'up{app=~"$app"}' }));
    const dashboard = dashboardOf('one', { ...panel, targets }, [{ ...app, ...choice }]);

    const opened = await open([dashboard], { labelValues: offered ?? ['a (b)', 'c'] });

    expect(opened.panels.flatMap((one) => opened.queriesOf(one))).toEqual([query]);
  });
});
