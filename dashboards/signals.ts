import { appLabels, aWeekAgo, hostLabels, of, per, type Selector, sameApp } from './selectors.ts';

const hostRequests = 'newrelic_application_host_requests_per_minute';
const sameAppAndType = 'on (account, app_id, transaction_type)';

/**
 * The exporters that publish no host without its application, in contrast to sidecars, now and a
 * week ago. Their hosts need not be looked at to know an application. One that it misses, because it
 * had another instance for some of the time, only makes queries slower.
 */
export function wholeExporters(): string {
  const info = of.account('newrelic_application_info');
  const hosts = of.account(hostRequests);
  const lone = `${hosts} unless ${sameApp} ${info}`;
  const loneLastWeek = `${aWeekAgo(hosts)} unless ${sameApp} ${aWeekAgo(info)}`;
  const all = `group by (instance) (${info} or ${aWeekAgo(info)})`;
  return `${all} unless on (instance) (${lone}) unless on (instance) (${loneLastWeek})`;
}

/** Hosts that may be all there is of an application: those that `wholeExporters` does not publish. */
export function loneHosts(select: Selector, name = 'requests_per_minute'): string {
  return select(`newrelic_application_host_${name}`, 'instance!~"$whole_exporters"');
}

/** One value for each application, whether it is exported itself or only hosts of it. */
export function anyApp(select: Selector): string {
  const own = per.app(select('newrelic_application_info'));
  return `(${own} or ${sameApp} ${per.app(loneHosts(select))})`;
}

/** The number of hosts of each application; of those that sidecars export, the hosts with one. */
export function hostsPerApp(select: Selector): string {
  const known = per.app(select('newrelic_application_hosts'));
  const exported = `max by (${appLabels}, host_id) (${loneHosts(select)})`;
  return `(${known} or ${sameApp} count by (${appLabels}) (${exported}))`;
}

/** Another moment: what becomes of a selector. */
export type Moment = (selected: string) => string;

interface SignalOptions {
  readonly at?: Moment;
  /** With the transaction type, if the metric has one. */
  readonly select?: Selector;
}

function now(selected: string): string {
  return selected;
}

function sumBy(by: string): string {
  return by === '' ? 'sum' : `sum by (${by}) `;
}

function ownOrHosts(own: string, hosts: string): string {
  const sum = `sum by (${appLabels}, transaction_type) (${hosts})`;
  return `(${own} or ${sameAppAndType} ${sum})`;
}

/**
 * A rate of each application and transaction type. Where only sidecars export an application it has no
 * value of its own: then the sum of its hosts.
 */
export function rate(name: string, { at = now, select = of.type }: SignalOptions = {}): string {
  const own = per.type(at(select(`newrelic_application_${name}`)));
  return ownOrHosts(own, per.hostAndType(at(loneHosts(select, name))));
}

export function throughput(options?: SignalOptions): string {
  return rate('requests_per_minute', options);
}

/** The average time of what by these labels: each application, type and host counts by its calls. */
export function averageTime(
  by: string,
  what: 'requests' | 'database' | 'external' = 'requests',
  { at = now, select = of.type }: SignalOptions = {},
): string {
  const [time, calls] =
    what === 'requests'
      ? ['response_time_seconds', 'requests_per_minute']
      : [`${what}_response_time_seconds`, `${what}_calls_per_minute`];
  // Both of one exporter at once, which costs less than each of any.
  const joined = (operator: '*' | 'and'): string => {
    const own = [calls, time].map((name) => at(select(`newrelic_application_${name}`)));
    const hosts = [calls, time].map((name) => at(loneHosts(select, name)));
    const join = ` ${operator} `;
    return ownOrHosts(per.type(own.join(join)), per.hostAndType(hosts.join(join)));
  };
  return `${sumBy(by)}${joined('*')} / (${sumBy(by)}${joined('and')} > 0)`;
}

/** Errors per request by these labels; only of requests whose errors are known. */
export function errorRatio(by: string, { at = now, select = of.type }: SignalOptions = {}): string {
  const [calls, errors] = ['requests_per_minute', 'errors_per_minute'];
  const own = [calls, errors].map((name) => at(select(`newrelic_application_${name}`)));
  const hosts = [calls, errors].map((name) => per.hostAndType(at(loneHosts(select, name))));
  const requests = ownOrHosts(per.type(own.join(' and ')), hosts.join(` and ${sameAppAndType} `));
  return `${sumBy(by)}${rate(errors, { at, select })} / (${sumBy(by)}${requests} > 0)`;
}

/** The Apdex score of each application; where only sidecars export it, each host counts by its requests. */
function apdex(at: Moment, select: Selector): string {
  const own = per.app(at(select('newrelic_application_apdex_score')));
  const scores = per.host(at(loneHosts(select, 'apdex_score')));
  const requests = `sum by (${hostLabels}) (${per.hostAndType(at(loneHosts(select)))})`;
  const sum = `sum by (${appLabels})`;
  return `(${own} or ${sameApp} ${sum} (${scores} * ${requests}) / (${sum} (${requests} and ${scores}) > 0))`;
}

/** Which applications: all that are chosen, or only those that the table of applications lists. */
export interface Scope {
  readonly app: Selector;
  readonly type: Selector;
}

export const chosenApps: Scope = { app: of.app, type: of.type };
export const listedApps: Scope = { app: of.listed, type: of.listedType };

type Signal = 'error_ratio' | 'response_time_seconds' | 'apdex_score';

/** New Relic's own summary, which must not take the place of what was read and is lost as polls fail. */
function summaryOf(name: string, select: Selector, limit = ''): string {
  const summary = per.app(select(`newrelic_application_summary_${name}`));
  const failing = per.app(`${of.app('newrelic_application_poll_success')} == 0`);
  return `(${summary}${limit} unless ${sameApp} ${failing})`;
}

/**
 * A signal of each application: of the polled window where it is read, otherwise of New Relic's
 * summary. With a limit such as ` > 1` only of those that it holds for.
 */
export function signalOf(name: Signal, { app, type }: Scope, limit = ''): string {
  const polled = {
    error_ratio: errorRatio(appLabels, { select: type }),
    response_time_seconds: averageTime(appLabels, 'requests', { select: type }),
    apdex_score: apdex(now, app),
  }[name];
  return `(${polled} or ${sameApp} ${summaryOf(name, app, limit)})${limit}`;
}

/** The average of a signal of all applications where it is read; each counts by its requests. */
export function averageOf(name: Signal, at: Moment = now): string {
  const scores = apdex(at, of.app);
  const requests = `sum by (account, app_id) ${throughput({ at })}`;
  return {
    error_ratio: errorRatio('', { at }),
    response_time_seconds: averageTime('', 'requests', { at }),
    apdex_score: `sum(${scores} * ${sameApp} group_left () ${requests}) / (sum(${requests} and ${sameApp} ${scores}) > 0)`,
  }[name];
}

/** As `averageOf`; where no application has it, of New Relic's summaries. */
export function averageOrSummary(name: Signal): string {
  const [each, calls] = [summaryOf(name, of.app), summaryOf('requests_per_minute', of.app)];
  return `${averageOf(name)} or sum(${each} * ${calls}) / (sum(${calls} and ${each}) > 0)`;
}
