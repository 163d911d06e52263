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

type Asked = 'process' | 'account' | 'app' | 'type' | 'host' | 'wholeHost';
type AskedOfFew = 'listed' | 'listedType' | 'busiestType';

/** What series are asked for. */
export const of: Readonly<Record<Asked | AskedOfFew, Selector>> = {
  /** No account. */
  process: selectorOf(target),
  account: selectorOf(account),
  app: selectorOf(app),
  /** With a transaction type beside the application. */
  type: selectorOf(`${app},${type}`),
  /** Only of the applications that the table of applications lists, which a variable finds out once. */
  listed: selectorOf(`${app},${listed}`),
  listedType: selectorOf(`${app},${listed},${type}`),
  /** Only of the busiest applications, which a variable finds out once. */
  busiestType: selectorOf(`${app},app_id=~"$busiest_apps",${type}`),
  host: selectorOf(`${app},host_id=~"$host",${type}`),
  /** What a host has whatever the transaction type is. */
  wholeHost: selectorOf(`${app},host_id=~"$host"`),
};

/** The firing alerts about applications. They have no `job` and no `instance`. */
export const alertsOfApps =
  'ALERTS{cluster=~"$cluster",account=~"$account",app_id=~"$app",alertname=~"NewRelicApplication.*",alertstate="firing"}';

/** The labels of an application, and of one whatever its name is. Its id is unique at New Relic: clusters may share it. */
export const appLabels = 'account, app_id, app_name';
export const sameApp = 'on (account, app_id)';
export const hostLabels: string = `${appLabels}, host_id, host_name`;
export const sameHost = 'on (account, app_id, host_id)';
export const exporterLabels = 'cluster, job, instance';
export const sameExporter: string = `on (${exporterLabels})`;

/** An expression about accounts or applications, apart for each cluster or exporter. */
export function inEach(labels: string, expr: string): string {
  return expr.replaceAll(/\b(by|on) \(account\b/g, `$1 (${labels}, account`);
}

function highestBy(labels: string): (selected: string) => string {
  return (selected) => `max by (${labels}) (${selected})`;
}

type Aggregation = Readonly<
  Record<'app' | 'type' | 'host' | 'hostAndType', (selected: string) => string>
>;

/** One value for each of them, however many exporters poll it. */
export const per: Aggregation = {
  app: highestBy(appLabels),
  type: highestBy(`${appLabels}, transaction_type`),
  host: highestBy(hostLabels),
  hostAndType: highestBy(`${hostLabels}, transaction_type`),
};

/** What counters of accounts grow by in a minute, as a sum for each combination of the labels. */
export function perMinute(labels: string, counter: string, more?: string): string {
  return `60 * sum by (${labels}) (rate(${of.account(counter, more)}[$__rate_interval]))`;
}

/** What grows with the value and with how long it was there in the shown range. */
export function totalOf(selected: string): string {
  return `sum_over_time(${selected}[$__range] @ end())`;
}

/** How much a counter has grown in the shown range. */
export function growthOf(counter: string): string {
  return `increase(${counter}[$__range] @ end())`;
}

/** At the same time a week ago. */
export function aWeekAgo(selected: string): string {
  return `${selected} offset 1w`;
}

/** How many there are of the `matching` ones, 0 if there are only others, nothing if there are none. */
export function countOf(matching: string, all: string, count = 'count'): string {
  return `${count} (${matching}) or 0 * ${count} (${all})`;
}
