import type { JsonObject } from './json.ts';
import { dataSource } from './panel.ts';
import { of } from './selectors.ts';
import { wholeExporters } from './signals.ts';
import { appNames, appsToList, busiestApps } from './state.ts';

interface QueryVariable extends JsonObject {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  /** `label_values(metric{…}, label)`, or `query_result(…)` of which `regex` takes its parts. */
  readonly query: string;
}

function queryVariable(options: QueryVariable): JsonObject {
  const { name, label, description, query, ...more } = options;
  return {
    name,
    label,
    description,
    type: 'query',
    datasource: dataSource,
    definition: query,
    query: { query, refId: 'StandardVariableQuery' },
    regex: '',
    refresh: 2,
    // By name, whatever its case.
    sort: 5,
    hide: 0,
    skipUrlSync: false,
    // Of a variable with one value only, Grafana does not escape what is special in a regular expression.
    multi: true,
    includeAll: true,
    allValue: '.+',
    current: { selected: true, text: ['All'], value: ['$__all'] },
    options: [],
    ...more,
  };
}

/**
 * Values of a label, found out once for all queries that need them, and chosen by nobody: all of the
 * list, also in addresses that were copied long ago.
 */
function found(name: string, description: string, label: string, expr: string): JsonObject {
  const query = `query_result(${expr})`;
  const regex = `/${label}="(?<value>[^"]*)"} /`;
  // Without a value for "All" Grafana fills in the list itself, and "()" if it is empty.
  const unchosen = { hide: 2, skipUrlSync: true, allValue: undefined };
  return queryVariable({ name, label: name, description, query, regex, ...unchosen });
}

/** Not from a query: the data source, or one of a few values. */
function plainVariable(chosen: string, json: JsonObject): JsonObject {
  const current = { selected: true, text: chosen, value: chosen };
  return { hide: 0, skipUrlSync: false, multi: false, includeAll: false, current, ...json };
}

/** Which exporters: hidden (2) where there is no process to look at, and then only chosen in the URL. */
function ofExporters(hide: 0 | 2): readonly JsonObject[] {
  const datasource = plainVariable('default', {
    name: 'datasource',
    label: 'Data source',
    description: 'The Prometheus that scrapes the exporter',
    type: 'datasource',
    query: 'prometheus',
    regex: '',
    refresh: 1,
    options: [],
  });
  const cluster = queryVariable({
    name: 'cluster',
    label: 'Cluster',
    description: 'For a Prometheus with several clusters; all, if there is no such label',
    query: 'label_values(newrelic_exporter_build_info, cluster)',
    allValue: '.*',
  });
  const job = queryVariable({
    name: 'job',
    label: 'Job',
    description: 'Jobs that scrape an exporter',
    query: 'label_values(newrelic_exporter_build_info{cluster=~"$cluster"}, job)',
    hide,
  });
  const instance = queryVariable({
    name: 'instance',
    label: 'Instance',
    description: 'Exporters; an application that several exporters poll counts once',
    query: 'label_values(newrelic_exporter_build_info{cluster=~"$cluster",job=~"$job"}, instance)',
    hide,
  });
  const account = queryVariable({
    name: 'account',
    label: 'Account',
    description: 'Accounts, as the configuration of the exporter names them',
    query: `label_values(${of.process('newrelic_up')}, account)`,
  });
  const whole = found(
    'whole_exporters',
    'Exporters that publish no host without its application, as sidecars do',
    'instance',
    wholeExporters(),
  );
  return [datasource, cluster, job, instance, account, whole];
}

const app = queryVariable({
  name: 'app',
  label: 'Application',
  description: 'Applications, by name, account or id',
  query: `query_result(${appNames()})`,
  regex: '/app_id="(?<value>[^"]*)",text="(?<text>.*)"} /',
});

const host = queryVariable({
  name: 'host',
  label: 'Host',
  description: 'Hosts of the application',
  query: `query_result(group by (host_id, text) (label_join(${of.app('newrelic_application_host_requests_per_minute')}, "text", "", "host_name")))`,
  regex: '/host_id="(?<value>[^"]*)",text="(?<text>.*)"} /',
});

const transactionType = queryVariable({
  name: 'transaction_type',
  label: 'Transaction type',
  description: 'Web transactions, or all other ones',
  query: `label_values(${of.app('', '__name__=~"newrelic_application_(host_)?requests_per_minute"')}, transaction_type)`,
});

const counts = ['5', '10', '20', '50'];
const topn = plainVariable('10', {
  name: 'topn',
  label: 'Top',
  description: 'How many lines the graphs of the busiest have',
  type: 'custom',
  query: counts.join(','),
  options: counts.map((value) => ({ selected: value === '10', text: value, value })),
});

const listed = found(
  'listed_apps',
  'Applications in the table: those in trouble, and the busiest',
  'app_id',
  appsToList(),
);
const busiest = found(
  'busiest_apps',
  'Applications with the most requests in the time range',
  'app_id',
  busiestApps(),
);

export const overviewVariables: readonly JsonObject[] = [
  ...ofExporters(2),
  app,
  transactionType,
  topn,
  listed,
  busiest,
];
export const applicationVariables: readonly JsonObject[] = [
  ...ofExporters(2),
  // Begins with the first one. A link may say "$__all" all the same: then it means each.
  { ...app, includeAll: false, current: {} },
  host,
  transactionType,
  topn,
];
export const exporterVariables: readonly JsonObject[] = [...ofExporters(0), topn];
