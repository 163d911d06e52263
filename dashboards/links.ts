import type { JsonObject } from './json.ts';

export type DashboardName = 'overview' | 'application' | 'exporter';

const exporters = ['datasource', 'cluster', 'job', 'instance'];
const ofApps = ['transaction_type', 'topn'];

/** A reference that Grafana fills in. */
function filledIn(name: string): string {
  return `$\{${name}}`;
}

function linkTo(to: DashboardName, handedOn: readonly string[], more: readonly string[]): string {
  const chosen = handedOn.map((name) => filledIn(`${name}:queryparam`));
  return `/d/newrelic-${to}?${[...chosen, ...more].join('&')}`;
}

/** With the range as Grafana writes it. */
function link(
  title: string,
  to: DashboardName,
  handedOn: readonly string[],
  more: readonly string[],
): JsonObject {
  const range = filledIn('__url_time_range');
  return { title, url: linkTo(to, handedOn, [range, ...more]), targetBlank: false };
}

function encoded(variable: string, reference: string): string {
  return `var-${variable}=${filledIn(`${reference}:percentencode`)}`;
}

const appOfRow = [
  encoded('account', '__data.fields["Account"]'),
  encoded('app', '__data.fields["Id"]'),
];

/** Opens the application of a row. A choice of applications is never handed on. */
export function toApplication(from: DashboardName): JsonObject {
  const handedOn = [...exporters, ...(from === 'exporter' ? ['topn'] : ofApps)];
  return link('Show the application', 'application', handedOn, appOfRow);
}

/** As `toApplication`, of the line that was clicked. */
export const toAppOfLine: JsonObject = link(
  'Show the application',
  'application',
  [...exporters, ...ofApps],
  [encoded('account', '__field.labels.account'), encoded('app', '__field.labels.app_id')],
);

/** Chooses one host of its application. */
export const toHost: JsonObject = link(
  'Show this host alone',
  'application',
  [...exporters, ...ofApps],
  [...appOfRow, encoded('host', '__data.fields["Host id"]')],
);

/** Opens what an exporter knows of the account of a row. */
export const toAccount: JsonObject = link('Show its exporters', 'exporter', exporters, [
  encoded('account', '__data.fields["Account"]'),
]);

type TableName = 'exporters' | 'accounts' | 'accounts of exporters' | 'applications' | 'entries';

/** Tables that name what numbers count, and that links open alone. */
export const tables: Readonly<Record<TableName, { on: DashboardName; id: number }>> = {
  exporters: { on: 'exporter', id: 101 },
  accounts: { on: 'overview', id: 102 },
  'accounts of exporters': { on: 'exporter', id: 102 },
  applications: { on: 'overview', id: 103 },
  entries: { on: 'exporter', id: 104 },
};

export function toTable(name: TableName, from: DashboardName): JsonObject {
  const { on, id } = tables[name];
  const isOfSameApps = name === 'applications' && from !== 'exporter';
  const handedOn = [...exporters, 'account', ...(isOfSameApps ? ['app'] : [])];
  return link(`Show the ${name}`, on, handedOn, [`viewPanel=${id}`]);
}

/**
 * Links to the other dashboards, at the top. They are written out, because Grafana's own menu of
 * dashboards would hand every variable on: "All" or many applications to where one is meant.
 */
export function toOthers(from: DashboardName): readonly JsonObject[] {
  const titles = { overview: 'Overview', application: 'Application', exporter: 'Exporter' };
  const others = (['overview', 'application', 'exporter'] as const).filter((name) => name !== from);
  return others.map((to) => ({
    type: 'link',
    icon: 'dashboard',
    title: titles[to],
    tooltip: '',
    url: linkTo(to, [...exporters, 'account'], []),
    tags: [],
    asDropdown: false,
    includeVars: false,
    keepTime: true,
    targetBlank: false,
  }));
}
