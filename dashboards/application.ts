import {
  apdexLimit,
  errorLimit,
  field,
  inBackground,
  inFront,
  thresholdsOf,
  transactionColors,
  words,
} from './colors.ts';
import type { DashboardOptions } from './dashboard.ts';
import { toHost, toTable } from './links.ts';
import { type Column, graph, type Panel, table, tile } from './panel.ts';
import {
  alertsOfApps,
  aWeekAgo,
  countOf,
  hostLabels,
  of,
  per,
  sameApp,
  sameHost,
  totalOf,
} from './selectors.ts';
import {
  anyApp,
  averageOf,
  averageOrSummary,
  averageTime,
  errorRatio,
  rate,
  throughput,
} from './signals.ts';
import { healthOf, pollOf } from './state.ts';
import { signalTiles, trouble } from './tiles.ts';
import { applicationVariables } from './variables.ts';

const byType = '{{transaction_type}}';

const state = tile('State of ${app:text}', {
  id: 101,
  description:
    'How many alerts fire, whether the last poll got all that was asked for, whether the application reports to New Relic, and its health status; of several applications the worst. Sidecars publish only alerts.',
  w: 24,
  mayLack: true,
  links: [toTable('applications', 'application')],
  overrides: [
    field('alerts', { thresholds: thresholdsOf([1, 'orange']) }),
    field('poll', { mappings: [words.poll] }),
    field('reporting', { mappings: [words.yesOrNo] }),
    field('health', { mappings: [words.health] }),
  ],
  shows: {
    alerts: countOf(alertsOfApps, anyApp(of.app)),
    poll: `max(${pollOf(of.app)})`,
    reporting: `min(${per.app(of.app('newrelic_application_reporting'))})`,
    health: `max(${healthOf(of.app)})`,
  },
});

const signals: readonly Panel[] = [
  graph('Throughput', {
    id: 102,
    description:
      'Requests per minute by transaction type, averaged over the polled window, and of both together seven days earlier.',
    unit: 'reqpm',
    h: 7,
    isStacked: true,
    overrides: [...transactionColors, inBackground('last week')],
    lines: {
      [byType]: `sum by (transaction_type) ${throughput()}`,
      'last week': `sum${throughput({ at: aWeekAgo })}`,
    },
  }),
  graph('Error ratio', {
    id: 107,
    description:
      "Errors per request, by transaction type and of both together, which is New Relic's summary where errors are not read. A request may have several errors.",
    unit: 'percentunit',
    h: 7,
    softMax: 0.06,
    limit: [errorLimit, 'orange'],
    needs: ['errors'],
    overrides: [...transactionColors, inFront('together')],
    lines: { [byType]: errorRatio('transaction_type'), together: averageOrSummary('error_ratio') },
  }),
  graph('Response time', {
    id: 108,
    description:
      "Average response time by transaction type, and of both together, which is New Relic's summary where response times are not read, now and seven days earlier. Of several applications, each counts by its requests.",
    unit: 's',
    h: 7,
    needs: ['response_time'],
    overrides: [...transactionColors, inFront('together'), inBackground('last week')],
    lines: {
      [byType]: averageTime('transaction_type'),
      together: averageOrSummary('response_time_seconds'),
      'last week': averageOf('response_time_seconds', aWeekAgo),
    },
  }),
  graph('Apdex', {
    id: 109,
    description:
      'Apdex score, 0 to 1, over the polled window: how many requests were fast enough, now and seven days earlier. Each application counts by its requests, and each host where only sidecars publish it.',
    decimals: 2,
    max: 1,
    h: 7,
    limit: [apdexLimit, 'orange'],
    needs: ['apdex'],
    overrides: [inBackground('last week')],
    lines: {
      now: averageOrSummary('apdex_score'),
      'last week': averageOf('apdex_score', aWeekAgo),
    },
  }),
];

const perRequest = `(sum${throughput()} > 0)`;
/** Calls of databases have the transaction type that makes them, external ones have none. */
const database = {
  calls: `sum${rate('database_calls_per_minute')}`,
  time: averageTime('', 'database'),
};
const external = {
  calls: `sum${rate('external_calls_per_minute', { select: of.app })}`,
  time: averageTime('', 'external', { select: of.app }),
};
const ofDatabase = `${database.calls} * (${database.time}) / ${perRequest}`;
const ofExternal = `${external.calls} * (${external.time}) / ${perRequest}`;

const layers = graph('Response time by layer', {
  description:
    'What the application itself, its databases and external services take of a request, on average. Calls made side by side count one after the other. External services are those of all transaction types.',
  unit: 's',
  w: 24,
  h: 7,
  isStacked: true,
  needs: ['throughput', 'response_time', 'database', 'external'],
  lines: {
    application: `clamp_min(${averageTime('')} - (${ofDatabase} or 0 * ${perRequest}) - (${ofExternal} or 0 * ${perRequest}), 0)`,
    database: ofDatabase,
    external: ofExternal,
  },
});

function ofAllTypes(expr: string): string {
  return `sum by (${hostLabels}) (${expr})`;
}

const requests = of.host('newrelic_application_host_requests_per_minute');
const times = per.hostAndType(of.host('newrelic_application_host_response_time_seconds'));
const errors = per.hostAndType(of.host('newrelic_application_host_errors_per_minute'));
const memory = of.wholeHost('newrelic_application_host_memory_used_bytes');
const cpu = of.wholeHost('newrelic_application_host_cpu_usage_ratio');
const hosts = ofAllTypes(per.hostAndType(requests));
const busyHosts = `${hosts} > 0`;
const byRequests = per.hostAndType(requests);
/** Each transaction type counts by its requests. */
const timeOfHosts = `${ofAllTypes(`${times} * ${byRequests}`)} / (${ofAllTypes(`${byRequests} and ${times}`)} > 0)`;
const errorsOfHosts = `${ofAllTypes(errors)} / (${ofAllTypes(`${byRequests} and ${errors}`)} > 0)`;
/** Also hosts without any traffic, if something else is known of them. */
const known = `${hosts} or ${sameHost} 0 * ${per.host(memory)} or ${sameHost} 0 * ${per.host(cpu)}`;

/** Only of the hosts that are listed. */
function columnOf(expr: string, column: Omit<Column, 'expr'>): Column {
  return {
    ...column,
    expr: `${expr} and ${sameHost} (topk(100, ${known}) or bottomk(100, ${known}))`,
  };
}

const hostTable = table('Hosts', {
  id: 105,
  description:
    'The selected hosts, the 100 busiest and the 100 quietest if there are more; a click on one selects it alone. Load: the throughput as a multiple of the average of the hosts with traffic; from 2 on it is orange, as errors from 5 % on and an Apdex below 0.7. Columns without a value are not read: response time, errors, Apdex, memory and CPU need response_time, errors, apdex, memory and cpu in metrics.',
  h: 10,
  sortBy: { Throughput: 'greatest' },
  labels: {
    host_name: { title: 'Host', links: [toHost] },
    host_id: { title: 'Host id', width: 90, isLast: true },
    app_name: { title: 'Application', width: 120, isLast: true },
    app_id: { title: 'Id', width: 95, isLast: true },
    account: { title: 'Account', width: 95, isLast: true },
  },
  columns: {
    Throughput: columnOf(hosts, { unit: 'reqpm', width: 120 }),
    Load: columnOf(`${hosts} / ${sameApp} group_left () avg by (account, app_id) (${busyHosts})`, {
      width: 70,
      decimals: 2,
      limit: [2, 'orange'],
    }),
    Errors: columnOf(errorsOfHosts, {
      unit: 'percentunit',
      width: 80,
      decimals: 2,
      limit: [errorLimit, 'orange'],
    }),
    Response: columnOf(timeOfHosts, { unit: 's', width: 85 }),
    Apdex: columnOf(per.host(of.wholeHost('newrelic_application_host_apdex_score')), {
      decimals: 2,
      width: 70,
      map: words.poorApdex,
    }),
    CPU: columnOf(per.host(cpu), { unit: 'percentunit', decimals: 1, width: 75 }),
    Memory: columnOf(per.host(memory), { unit: 'bytes', width: 90 }),
  },
});

/** Of the hosts with the most in the whole range, also those that have ended. */
function ofTopHosts(expr: string, total: string): string {
  return `${expr} and ${sameHost} topk($topn, ${total})`;
}

const total = ofAllTypes(per.hostAndType(totalOf(requests)));

const busiestHosts: readonly Panel[] = [
  graph('Throughput of the busiest hosts', {
    description:
      'Requests per minute of the selected hosts that served the most requests in the shown range.',
    unit: 'reqpm',
    isStacked: true,
    lines: { '{{host_name}}': ofTopHosts(hosts, total) },
  }),
  graph('Response time of the busiest hosts', {
    description:
      'Average response time of the selected hosts that served the most requests in the shown range.',
    unit: 's',
    needs: ['throughput', 'response_time'],
    lines: { '{{host_name}}': ofTopHosts(timeOfHosts, total) },
  }),
];

/** Of several applications the least even one. */
function unevenness(aggregate: 'max' | 'stddev'): string {
  const by = 'by (account, app_id)';
  return `max(${aggregate} ${by} (${busyHosts}) / avg ${by} (${busyHosts}))`;
}

const distribution: readonly Panel[] = [
  graph('Imbalance', {
    id: 104,
    description:
      'Throughput of the busiest host divided by the average of the hosts with traffic (1 is even), and their standard deviation divided by the average. Of several applications the least even one.',
    decimals: 2,
    softMax: 2,
    limit: [2, 'orange'],
    lines: {
      'busiest over average': unevenness('max'),
      'deviation over average': unevenness('stddev'),
    },
  }),
  graph('Hosts and instances', {
    id: 106,
    description:
      'Hosts and instances that New Relic lists, and hosts with traffic. A host that is gone stays listed for about an hour.',
    decimals: 0,
    lines: {
      'hosts listed': `sum(${per.app(of.app('newrelic_application_hosts'))})`,
      'instances listed': `sum(${per.app(of.app('newrelic_application_instances'))})`,
      'hosts with traffic': `count(${busyHosts})`,
    },
  }),
];

const resources: readonly Panel[] = [
  graph('Calls of databases and external services', {
    description: 'Calls per minute; those of databases by all selected transaction types.',
    unit: 'cpm',
    needs: ['database', 'external'],
    lines: { database: database.calls, external: external.calls },
  }),
  graph('Time of a call', {
    description: 'Average time of a call of a database, and of a call of an external service.',
    unit: 's',
    needs: ['database', 'external'],
    lines: { database: database.time, external: external.time },
  }),
  graph('Memory of the hosts', {
    description:
      'Physical memory that the application uses, on the hosts with the most in the shown range, and the average of all hosts.',
    unit: 'bytes',
    needs: ['memory'],
    overrides: [inBackground('average')],
    lines: {
      '{{host_name}}': ofTopHosts(per.host(memory), per.host(totalOf(memory))),
      average: `avg(${per.app(of.app('newrelic_application_memory_used_bytes'))})`,
    },
  }),
  graph('CPU of the hosts', {
    description:
      'CPU time that the application uses, 100 % being one core, on the hosts with the most in the shown range. If no host is polled, the sum that New Relic gives for the application.',
    unit: 'percentunit',
    needs: ['cpu'],
    lines: {
      '{{host_name}}': ofTopHosts(per.host(cpu), per.host(totalOf(cpu))),
      application: `avg(${per.app(of.app('newrelic_application_cpu_usage_ratio'))}) unless on () ${per.host(cpu)}`,
    },
  }),
];

export const application: DashboardOptions = {
  name: 'application',
  title: 'New Relic / Application',
  description:
    'One application: requests, errors and response time, its hosts and how evenly the load is distributed.',
  variables: applicationVariables,
  open: [
    ...trouble(of.app, 'application'),
    state,
    ...signalTiles('application'),
    ...signals,
    layers,
    hostTable,
    ...busiestHosts,
  ],
  closed: {
    'Distribution of the load': distribution,
    'Databases, external services, memory and CPU': resources,
  },
};
