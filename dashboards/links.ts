import type { JsonObject } from './json.ts';

/** A reference that Grafana fills in. */
function filledIn(name: string): string {
  return `$\{${name}}`;
}

export type DashboardName = 'overview' | 'application' | 'exporter';

const titles = {
  overview: 'Overview',
  application: 'Application',
  exporter: 'Exporter',
} as const satisfies Record<DashboardName, string>;

const common = ['datasource', 'cluster', 'job', 'instance'];
const range = filledIn('__url_time_range');

function urlOf(to: DashboardName, query: readonly string[]): string {
  return `/d/newrelic-${to}?${query.join('&')}`;
}

function chosen(variables: readonly string[]): readonly string[] {
  return variables.map((name) => filledIn(`${name}:queryparam`));
}

/**
 * Opens one application with what is chosen here. A choice of applications is never handed on: the
 * account and the id are those of the series or row that was clicked.
 */
export function toApplication(source: 'series' | 'table row', from: DashboardName): JsonObject {
  const [account, app] =
    source === 'series'
      ? ['__field.labels.account', '__field.labels.app_id']
      : ['__data.fields["Account"]', '__data.fields["Id"]'];
  const others = from === 'exporter' ? ['topn'] : ['transaction_type', 'topn'];
  const url = urlOf('application', [
    range,
    ...chosen([...common, ...others]),
    `var-account=${filledIn(`${account}:percentencode`)}`,
    `var-app=${filledIn(`${app}:percentencode`)}`,
  ]);
  return { title: 'Show the application', url, targetBlank: false };
}

/** Chooses one host of its application. The account and the id are those of the row that was clicked. */
export function toHost(): JsonObject {
  const url = urlOf('application', [
    range,
    ...chosen([...common, 'transaction_type', 'topn']),
    `var-account=${filledIn('__data.fields["Account"]:percentencode')}`,
    `var-app=${filledIn('__data.fields["Id"]:percentencode')}`,
    `var-host=${filledIn('__data.fields["Host id"]:percentencode')}`,
  ]);
  return { title: 'Show this host alone', url, targetBlank: false };
}

/** Panels that links open alone, by their ids. */
export const linked = { exporters: 101, accounts: 102, applications: 103 } as const;

const places = {
  exporters: { title: 'Show the exporters', on: 'exporter' },
  accounts: { title: 'Show the accounts', on: 'overview' },
  applications: { title: 'Show the applications', on: 'overview' },
} as const satisfies Record<keyof typeof linked, { title: string; on: DashboardName }>;

/** Opens the table that names what a number counts. */
export function toTable(table: keyof typeof linked, from: DashboardName): JsonObject {
  const { title, on } = places[table];
  const query = [range, ...chosen([...common, 'account']), `viewPanel=${linked[table]}`];
  const hasApp = from === 'application' && table === 'applications';
  return {
    title,
    url: urlOf(on, hasApp ? [...query, ...chosen(['app'])] : query),
    targetBlank: false,
  };
}

/**
 * Links to the other dashboards, at the top. They are written out, because Grafana's own menu of
 * dashboards would hand every variable on: "All" or many applications to where one is meant.
 */
export function toOthers(from: DashboardName): readonly JsonObject[] {
  const others = (['overview', 'application', 'exporter'] as const).filter((name) => name !== from);
  return others.map((to) => ({
    type: 'link',
    icon: 'dashboard',
    title: titles[to],
    tooltip: '',
    url: urlOf(to, chosen([...common, 'account'])),
    tags: [],
    asDropdown: false,
    includeVars: false,
    keepTime: true,
    targetBlank: false,
  }));
}
