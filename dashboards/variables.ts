import type { JsonObject } from './json.ts';

export const dataSource: JsonObject = { type: 'prometheus', uid: '$datasource' };

export interface Variable {
  readonly name: string;
  readonly json: JsonObject;
}

interface QueryVariable {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  /** A query of the form `label_values(metric{…}, label)`. */
  readonly query: string;
  readonly allValue?: string;
  /** Begins with one value instead of all of them. */
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
      regex: '',
      refresh: 2,
      sort: 1,
      hide: options.isHidden === true ? 2 : 0,
      skipUrlSync: false,
      // Of a variable with one value only, Grafana does not escape what is special in a regular expression.
      multi: true,
      includeAll: !hasNoAll,
      allValue: hasNoAll ? undefined : (options.allValue ?? '.+'),
      current: hasNoAll ? {} : all,
      options: [],
    },
  };
}

const target = 'cluster=~"$cluster",job=~"$job",instance=~"$instance"';
const account = `${target},account=~"$account"`;

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
    current: {},
    options: [],
  },
};

const cluster = queryVariable({
  name: 'cluster',
  label: 'Cluster',
  description: 'For a Prometheus with several clusters; all, if there is no such label',
  query: 'label_values(newrelic_exporter_build_info, cluster)',
  allValue: '.*',
  isHidden: true,
});

const job = queryVariable({
  name: 'job',
  label: 'Job',
  description: 'Jobs that scrape an exporter',
  query: 'label_values(newrelic_exporter_build_info{cluster=~"$cluster"}, job)',
});

const instance = queryVariable({
  name: 'instance',
  label: 'Instance',
  description: 'Exporters; an application that several exporters poll counts once',
  query: 'label_values(newrelic_exporter_build_info{cluster=~"$cluster",job=~"$job"}, instance)',
});

const accountVariable = queryVariable({
  name: 'account',
  label: 'Account',
  description: 'Accounts, as the configuration of the exporter names them',
  query: `label_values(newrelic_up{${target}}, account)`,
});

/** What an application has: those that only sidecars export have no series but their hosts'. */
const ofAnyApp =
  '__name__=~"newrelic_application_info|newrelic_application_host_requests_per_minute"';
const appQuery = `label_values({${ofAnyApp},${account}}, app_name)`;

const apps = queryVariable({
  name: 'app',
  label: 'Application',
  description: 'Applications, as New Relic names them',
  query: appQuery,
});

const oneApp = queryVariable({
  name: 'app',
  label: 'Application',
  description: 'The application, as New Relic names it',
  query: appQuery,
  hasNoAll: true,
});

const host = queryVariable({
  name: 'host',
  label: 'Host',
  description: 'Hosts of the application',
  query: `label_values(newrelic_application_host_requests_per_minute{${account},app_name=~"$app"}, host_name)`,
});

const transactionType = queryVariable({
  name: 'transaction_type',
  label: 'Transaction type',
  description: 'Web transactions, or all other ones',
  query: `label_values({__name__=~"newrelic_application_(host_)?requests_per_minute",${account},app_name=~"$app"}, transaction_type)`,
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

const common: readonly Variable[] = [datasource, cluster, job, instance, accountVariable];

export const overviewVariables: readonly Variable[] = [...common, apps, transactionType, topn];
export const applicationVariables: readonly Variable[] = [
  ...common,
  oneApp,
  host,
  transactionType,
  topn,
];
export const exporterVariables: readonly Variable[] = [...common, topn];
