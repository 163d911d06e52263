/**
 * Matchers that every query has, so that the variables work everywhere. `job` and `instance` are
 * written exactly as the dashboard linter expects them.
 */
const target = 'cluster=~"$cluster",job=~"$job",instance=~"$instance"';

/** `metric{…}` with the matchers of the variables and more, such as `status="red"`. */
export type Selector = (metric: string, more?: string) => string;

function selectorOf(matchers: string): Selector {
  return (metric, more) => `${metric}{${matchers}${more === undefined ? '' : `,${more}`}}`;
}

/** Of a process: no account. */
export const ofProcess: Selector = selectorOf(target);
export const ofAccount: Selector = selectorOf(`${target},account=~"$account"`);
export const ofApp: Selector = selectorOf(`${target},account=~"$account",app_name=~"$app"`);
/** With a transaction type beside the application. */
export const ofType: Selector = selectorOf(
  `${target},account=~"$account",app_name=~"$app",transaction_type=~"$transaction_type"`,
);
export const ofHost: Selector = selectorOf(
  `${target},account=~"$account",app_name=~"$app",host_name=~"$host",transaction_type=~"$transaction_type"`,
);

const appLabels = 'cluster, account, app_id, app_name';

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

const sameApp = 'on (cluster, account, app_id)';
const hostRequests = 'newrelic_application_host_requests_per_minute';

/**
 * The throughput of each application and transaction type; `offset` such as `1w` for the past. Where
 * only sidecars export an application it has no value of its own: then the sum of its hosts.
 */
export function throughput(offset?: string): string {
  const at = offset === undefined ? '' : ` offset ${offset}`;
  const own = perType(`${ofType('newrelic_application_requests_per_minute')}${at}`);
  const hosts = `max by (${hostLabels}, transaction_type) (${ofType(hostRequests)}${at})`;
  const sum = `sum by (${appLabels}, transaction_type) (${hosts})`;
  return `(${own} or on (cluster, account, app_id, transaction_type) ${sum})`;
}

/** One value for each application, whether it is exported itself or only hosts of it. */
export function anyApp(): string {
  const own = perApp(ofApp('newrelic_application_info'));
  return `(${own} or ${sameApp} ${perApp(ofApp(hostRequests))})`;
}

/** The number of hosts of each application; of those that sidecars export, the hosts with one. */
export function hostsPerApp(): string {
  const listed = perApp(ofApp('newrelic_application_hosts'));
  const exported = `max by (${appLabels}, host_id) (${ofApp(hostRequests)})`;
  return `(${listed} or ${sameApp} count by (${appLabels}) (${exported}))`;
}
