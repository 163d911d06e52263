import type { JsonObject } from './json.ts';
import { appNames } from './known.ts';
import { busiestApps, listedApps } from './ranking.ts';
import { ofApp, ofProcess, wholeExporters } from './selectors.ts';

export const dataSource: JsonObject = { type: 'prometheus', uid: '$datasource' };

export interface Variable {
  readonly name: string;
  readonly json: JsonObject;
}

interface QueryVariable {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  /** `label_values(metric{…}, label)`, or `query_result(…)` of which `regex` takes its parts. */
  readonly query: string;
  readonly regex?: string;
  readonly allValue?: string;
  /** Begins with the first value and does not offer all of them. */
  readonly hasNoAll?: true;
  readonly isHidden?: true;
}

const all: JsonObject = { selected: true, text: ['All'], value: ['$__all'] };

function queryVariable(options: QueryVariable): Variable {
  const { name, label, description, query, hasNoAll = false } = options;
  return {
    name,
    json: {
      name,
      label,
      description,
      type: 'query',
      datasource: dataSource,
      definition: query,
      query: { query, refId: 'StandardVariableQuery' },
      regex: options.regex ?? '',
      refresh: 2,
      // By name, whatever its case.
      sort: 5,
      hide: options.isHidden === true ? 2 : 0,
      skipUrlSync: false,
      // Of a variable with one value only, Grafana does not escape what is special in a regular expression.
      multi: true,
      includeAll: !hasNoAll,
      // Also where there is no such choice: a link may say "$__all", and Grafana then asks for this.
      allValue: options.allValue ?? '.+',
      current: hasNoAll ? {} : all,
      options: [],
    },
  };
}

/**
 * Found out once for all queries that need it, and chosen by nobody: all of the list, also in
 * addresses that were copied long ago.
 */
function found(options: Omit<QueryVariable, 'isHidden' | 'allValue' | 'hasNoAll'>): Variable {
  const { name, json } = queryVariable({ ...options, isHidden: true });
  // Without a value for "All" Grafana fills in the list itself, and "()" if it is empty.
  const { allValue: _, ...rest } = json;
  return { name, json: { ...rest, skipUrlSync: true } };
}

const datasource: Variable = {
  name: 'datasource',
  json: {
    name: 'datasource',
    label: 'Data source',
    description: 'The Prometheus that scrapes the exporter',
    type: 'datasource',
    query: 'prometheus',
    regex: '',
    refresh: 1,
    hide: 0,
    skipUrlSync: false,
    multi: false,
    includeAll: false,
    current: { selected: false, text: 'default', value: 'default' },
    options: [],
  },
};

const cluster = queryVariable({
  name: 'cluster',
  label: 'Cluster',
  description: 'For a Prometheus with several clusters; all, if there is no such label',
  query: 'label_values(newrelic_exporter_build_info, cluster)',
  allValue: '.*',
});

/** Seldom chosen where there is no process to look at: then hidden, and still in the URL. */
function jobs(visibility: { readonly isHidden?: true }): readonly Variable[] {
  const job = queryVariable({
    name: 'job',
    label: 'Job',
    description: 'Jobs that scrape an exporter',
    query: 'label_values(newrelic_exporter_build_info{cluster=~"$cluster"}, job)',
    ...visibility,
  });
  const instance = queryVariable({
    name: 'instance',
    label: 'Instance',
    description: 'Exporters; an application that several exporters poll counts once',
    query: 'label_values(newrelic_exporter_build_info{cluster=~"$cluster",job=~"$job"}, instance)',
    ...visibility,
  });
  return [job, instance];
}

const account = queryVariable({
  name: 'account',
  label: 'Account',
  description: 'Accounts, as the configuration of the exporter names them',
  query: `label_values(${ofProcess('newrelic_up')}, account)`,
});

const wholes = found({
  name: 'whole_exporters',
  label: 'Whole exporters',
  description: 'Exporters that publish no host without its application, as sidecars do',
  query: `query_result(${wholeExporters()})`,
  regex: '/instance="(?<value>[^"]*)"} /',
});

const appOption: Omit<QueryVariable, 'description'> = {
  name: 'app',
  label: 'Application',
  query: `query_result(${appNames()})`,
  regex: '/app_id="(?<value>[^"]*)",text="(?<text>.*)"} /',
};

const apps = queryVariable({
  ...appOption,
  description: 'Applications, by name, account or id',
});

const oneApp = queryVariable({
  ...appOption,
  description: 'The application, by name, account or id',
  hasNoAll: true,
});

const host = queryVariable({
  name: 'host',
  label: 'Host',
  description: 'Hosts of the application',
  query: `query_result(group by (host_id, text) (label_join(${ofApp('newrelic_application_host_requests_per_minute')}, "text", "", "host_name")))`,
  regex: '/host_id="(?<value>[^"]*)",text="(?<text>.*)"} /',
});

const transactionType = queryVariable({
  name: 'transaction_type',
  label: 'Transaction type',
  description: 'Web transactions, or all other ones',
  query: `label_values(${ofApp('', '__name__=~"newrelic_application_(host_)?requests_per_minute"')}, transaction_type)`,
});

const counts = ['5', '10', '20', '50'];

const topn: Variable = {
  name: 'topn',
  json: {
    name: 'topn',
    label: 'Top',
    description: 'How many items the rankings show',
    type: 'custom',
    query: counts.join(','),
    hide: 0,
    skipUrlSync: false,
    multi: false,
    includeAll: false,
    current: { selected: true, text: '10', value: '10' },
    options: counts.map((value) => ({ selected: value === '10', text: value, value })),
  },
};

const idOnly = '/app_id="(?<value>[^"]*)"} /';

const listed = found({
  name: 'listed_apps',
  label: 'Listed applications',
  description: 'Applications in the table: those in trouble, and the busiest',
  query: `query_result(${listedApps()})`,
  regex: idOnly,
});

const busiest = found({
  name: 'busiest_apps',
  label: 'Busiest applications',
  description: 'Applications with the most requests in the time range',
  query: `query_result(${busiestApps()})`,
  regex: idOnly,
});

export const overviewVariables: readonly Variable[] = [
  datasource,
  cluster,
  ...jobs({ isHidden: true }),
  account,
  wholes,
  apps,
  transactionType,
  topn,
  listed,
  busiest,
];
export const applicationVariables: readonly Variable[] = [
  datasource,
  cluster,
  ...jobs({ isHidden: true }),
  account,
  wholes,
  oneApp,
  host,
  transactionType,
  topn,
];
export const exporterVariables: readonly Variable[] = [
  datasource,
  cluster,
  ...jobs({}),
  account,
  wholes,
  topn,
];
