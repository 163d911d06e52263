/**
 * Matchers that every query has, so that the variables work everywhere. `job` and `instance` are
 * written exactly as the dashboard linter expects them.
 */
const target = 'cluster=~"$cluster",job=~"$job",instance=~"$instance"';
const account = `${target},account=~"$account"`;
/** By id: a name may stand for several applications, and may have characters of its own meaning. */
const app = `${account},app_id=~"$app"`;
const type = 'transaction_type=~"$transaction_type"';
const listed = 'app_id=~"$listed_apps"';

/** `metric{…}` with the matchers of the variables and more, such as `status="red"`. */
export type Selector = (metric: string, more?: string) => string;

function selectorOf(matchers: string): Selector {
  return (metric, more) => `${metric}{${matchers}${more === undefined ? '' : `,${more}`}}`;
}

/** Of a process: no account. */
export const ofProcess: Selector = selectorOf(target);
export const ofAccount: Selector = selectorOf(account);
export const ofApp: Selector = selectorOf(app);
/** With a transaction type beside the application. */
export const ofType: Selector = selectorOf(`${app},${type}`);
/** Only of the applications that the table of applications lists, which a variable finds out once. */
export const ofListed: Selector = selectorOf(`${app},${listed}`);
export const ofListedType: Selector = selectorOf(`${app},${listed},${type}`);
/** Only of the busiest applications, which a variable finds out once. */
export const ofBusiestType: Selector = selectorOf(`${app},app_id=~"$busiest_apps",${type}`);
export const ofHost: Selector = selectorOf(`${app},host_id=~"$host",${type}`);
/** What a host has whatever the transaction type is. */
export const ofWholeHost: Selector = selectorOf(`${app},host_id=~"$host"`);

/** The labels of an application, and of one whatever its name is. Its id is unique at New Relic: clusters may share it. */
export const appLabels = 'account, app_id, app_name';
export const sameApp = 'on (account, app_id)';
export const sameHost = 'on (account, app_id, host_id)';

/** An expression about applications, apart for each cluster: what its own exporters know. */
export function inEachCluster(expr: string): string {
  return expr.replaceAll(/\b(by|on) \(account\b/g, '$1 (cluster, account');
}

/** The firing alerts about applications. They have no `job` and no `instance`. */
export const alertsOfApps =
  'ALERTS{cluster=~"$cluster",account=~"$account",app_id=~"$app",alertname=~"NewRelicApplication.*",alertstate="firing"}';

/** How an application is called in legends: also apart from others of the same name. */
export const appLegend = '{{app_name}} · {{account}} · {{app_id}}';

/** One value for each application, however many exporters poll it. */
export function perApp(selected: string): string {
  return `max by (${appLabels}) (${selected})`;
}

/** One value for each application and transaction type. */
export function perType(selected: string): string {
  return `max by (${appLabels}, transaction_type) (${selected})`;
}

export const hostLabels: string = `${appLabels}, host_id, host_name`;
const sameAppAndType = 'on (account, app_id, transaction_type)';

/** One value for each host and transaction type of an application. */
export function perHostAndType(selected: string): string {
  return `max by (${hostLabels}, transaction_type) (${selected})`;
}

/** One value for each host of an application: the sum of its transaction types. */
export function perHost(selected: string): string {
  return `sum by (${hostLabels}) (${perHostAndType(selected)})`;
}

const hostRequests = 'newrelic_application_host_requests_per_minute';

/**
 * The exporters that publish no host without its application, in contrast to sidecars, now and a
 * week ago. Their hosts need not be looked at to know an application. One that it misses, because it
 * had another instance for some of the time, only makes queries slower.
 */
export function wholeExporters(): string {
  const info = ofAccount('newrelic_application_info');
  const hosts = ofAccount(hostRequests);
  const lone = `${hosts} unless ${sameApp} ${info}`;
  const loneLastWeek = `${aWeekAgo(hosts)} unless ${sameApp} ${aWeekAgo(info)}`;
  const all = `group by (instance) (${info} or ${aWeekAgo(info)})`;
  return `${all} unless on (instance) (${lone}) unless on (instance) (${loneLastWeek})`;
}

/** Hosts that may be all there is of an application: those that `wholeExporters` does not publish. */
export function loneHosts(select: Selector, name = 'requests_per_minute'): string {
  return select(`newrelic_application_host_${name}`, 'instance!~"$whole_exporters"');
}

interface RateOptions {
  /** Another moment: what becomes of a selector. */
  readonly at?: (selected: string) => string;
  /** With the transaction type, if the metric has one. */
  readonly select?: Selector;
}

function ownOrHosts(own: string, hosts: string): string {
  const sum = `sum by (${appLabels}, transaction_type) (${hosts})`;
  return `(${own} or ${sameAppAndType} ${sum})`;
}

/**
 * A rate of each application and transaction type. Where only sidecars export an application it has no
 * value of its own: then the sum of its hosts.
 */
export function rate(
  name: string,
  { at = (selected) => selected, select = ofType }: RateOptions = {},
): string {
  const own = perType(at(select(`newrelic_application_${name}`)));
  return ownOrHosts(own, perHostAndType(at(loneHosts(select, name))));
}

export function throughput(options?: RateOptions): string {
  return rate('requests_per_minute', options);
}

/** What `averageTime` takes the average of. */
interface TimedCalls {
  /** An average time of a call, without the prefix of its metric. */
  readonly time: string;
  /** How many of these calls there are in a minute. */
  readonly calls: string;
}

/** The average time of a call by these labels: each application, type and host counts by its calls. */
export function averageTime(
  by: string,
  { time, calls }: TimedCalls,
  { at = (selected) => selected, select = ofType }: RateOptions = {},
): string {
  const own = (name: string): string => perType(at(select(`newrelic_application_${name}`)));
  const hosts = (name: string): string => perHostAndType(at(loneHosts(select, name)));
  const spent = ownOrHosts(`${own(time)} * ${own(calls)}`, `${hosts(time)} * ${hosts(calls)}`);
  const timed = ownOrHosts(`${own(calls)} and ${own(time)}`, `${hosts(calls)} and ${hosts(time)}`);
  const sum = by === '' ? 'sum' : `sum by (${by}) `;
  return `${sum}${spent} / (${sum}${timed} > 0)`;
}

/** Errors per request by these labels; only of requests whose errors are known. */
export function errorRatio(by: string, options?: RateOptions): string {
  const errors = rate('errors_per_minute', options);
  const requests = `(${throughput(options)} and ${sameAppAndType} ${errors})`;
  const sum = by === '' ? 'sum' : `sum by (${by}) `;
  return `${sum}${errors} / (${sum}${requests} > 0)`;
}

/** For `rate` and its like: at the same time a week ago. */
export function aWeekAgo(selected: string): string {
  return `${selected} offset 1w`;
}

/** One value for each application, whether it is exported itself or only hosts of it. */
export function anyApp(select: Selector): string {
  const own = perApp(select('newrelic_application_info'));
  return `(${own} or ${sameApp} ${perApp(loneHosts(select))})`;
}

/** The number of hosts of each application; of those that sidecars export, the hosts with one. */
export function hostsPerApp(select: Selector): string {
  const known = perApp(select('newrelic_application_hosts'));
  const exported = `max by (${appLabels}, host_id) (${loneHosts(select)})`;
  return `(${known} or ${sameApp} count by (${appLabels}) (${exported}))`;
}
