/**
 * Matchers that every query has, so that the variables work everywhere. `job` and `instance` are
 * written exactly as the dashboard linter expects them.
 */
const target = 'cluster=~"$cluster",job=~"$job",instance=~"$instance"';
const account = `${target},account=~"$account"`;
/** By id: a name may stand for several applications, and may have characters of its own meaning. */
const app = `${account},app_id=~"$app"`;
const type = 'transaction_type=~"$transaction_type"';

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
export const ofHost: Selector = selectorOf(`${app},host_name=~"$host",${type}`);

/** The labels of an application, and of one whatever its name is. */
export const appLabels = 'cluster, account, app_id, app_name';
export const sameApp = 'on (cluster, account, app_id)';

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

const hostLabels = `${appLabels}, host_id, host_name`;

/** One value for each host of an application: the sum of its transaction types. */
export function perHost(selected: string): string {
  return `sum by (${hostLabels}) (max by (${hostLabels}, transaction_type) (${selected}))`;
}

const hostRequests = 'newrelic_application_host_requests_per_minute';

/**
 * The throughput of each application and transaction type, at another moment by what `at` makes of a
 * selector. Where only sidecars export an application it has no value of its own: then the sum of
 * its hosts.
 */
export function throughput(at: (selected: string) => string = (selected) => selected): string {
  const own = perType(at(ofType('newrelic_application_requests_per_minute')));
  const hosts = `max by (${hostLabels}, transaction_type) (${at(ofType(hostRequests))})`;
  const sum = `sum by (${appLabels}, transaction_type) (${hosts})`;
  return `(${own} or on (cluster, account, app_id, transaction_type) ${sum})`;
}

/** For `throughput`: at the same time a week ago. */
export function aWeekAgo(selected: string): string {
  return `${selected} offset 1w`;
}

/** One value for each application, whether it is exported itself or only hosts of it. */
export function anyApp(select: Selector): string {
  const own = perApp(select('newrelic_application_info'));
  return `(${own} or ${sameApp} ${perApp(select(hostRequests))})`;
}

/** The number of hosts of each application; of those that sidecars export, the hosts with one. */
export function hostsPerApp(): string {
  const listed = perApp(ofApp('newrelic_application_hosts'));
  const exported = `max by (${appLabels}, host_id) (${ofApp(hostRequests)})`;
  return `(${listed} or ${sameApp} count by (${appLabels}) (${exported}))`;
}
