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

/** One value for each host of an application: the sum of its transaction types. */
export function perHost(selected: string): string {
  const labels = `${appLabels}, host_id, host_name`;
  return `sum by (${labels}) (max by (${labels}, transaction_type) (${selected}))`;
}
