import {
  appLabels,
  loneHosts,
  ofAccount,
  ofProcess,
  perApp,
  type Selector,
  sameApp,
} from './selectors.ts';

/** So long what exporters that are down have said is remembered. */
const memory = '[1d]';
/** So long an exporter that is down is remembered itself, as the alert NewRelicExporterDown does. */
const exporterMemory = '[7d]';
const sameProcess = 'on (cluster, job, instance)';
const isDown = `and ${sameProcess} ${ofProcess('up')} == 0`;
const sameAccount = 'on (cluster, account)';
const sameAccountOfApps = 'on (account)';

/**
 * 1 for each exporter that Prometheus can scrape, 0 for each that it cannot. As the alert
 * NewRelicExporterDown has it: what has shown itself as an exporter is one.
 */
export const exporterUp: string = `(max by (cluster, job, instance) (${ofProcess('up')}) and ${sameProcess} last_over_time(${ofProcess('newrelic_exporter_build_info')}${exporterMemory}))`;

/** A value of each account, with what exporters that are down said last where none else says it. */
function knownOfAccount(aggregate: 'min' | 'max', metric: string, lost = ''): string {
  const selected = ofAccount(metric);
  const present = `${aggregate} by (cluster, account) (${selected})`;
  const past = `${aggregate} by (cluster, account) (last_over_time(${selected}${memory}) ${isDown})`;
  return `(${present} or ${sameAccount} ${lost}${past})`;
}

/**
 * 1 for each account whose last discovery succeeded, 0 for each where it failed, as the alert
 * NewRelicExporterDiscoveryFailing has it, or whose exporters are all down.
 */
export const accountUp: string = knownOfAccount('min', 'newrelic_up', '0 * ');

/** A value of each account of each exporter, and of each application there if `labels` has its id. */
export function knownAtExporters(labels: string, metric: string, lost = ''): string {
  const selected = ofAccount(metric);
  const past = `max by (${labels}) (last_over_time(${selected}${memory}) ${isDown})`;
  return `(max by (${labels}) (${selected}) or ${lost}${past})`;
}

/** When a poll of each application last got all that was asked for. */
export function lastSuccess(select: Selector): string {
  const selected = select('newrelic_application_last_success_timestamp_seconds');
  const past = `max by (${appLabels}) (last_over_time(${selected}${memory}) ${isDown})`;
  return `(${perApp(selected)} or ${sameApp} ${past})`;
}

/**
 * Each application whose last complete poll is too long ago, as NewRelicExporterDataStale has it: an
 * account that is throttled stretches its intervals, and yet drops values after stale_after.
 */
export function stale(select: Selector): string {
  const interval = `max by (account) (${knownOfAccount('max', 'newrelic_exporter_poll_interval_seconds')})`;
  const staleAfter = `min by (account) (${knownOfAccount('min', 'newrelic_exporter_stale_after_seconds')})`;
  const failing = `${perApp(select('newrelic_application_poll_success'))} == 0`;
  const isOlderThan = `time() - ${lastSuccess(select)} > ${sameAccountOfApps} group_left ()`;
  return `(${isOlderThan} (3 * ${interval}) or ${isOlderThan} ${staleAfter} and ${sameApp} ${failing})`;
}

/** 0 complete, 1 failing, 2 stale: the worst is the greatest. */
export function pollOf(select: Selector): string {
  const success = perApp(select('newrelic_application_poll_success'));
  return `(2 + 0 * ${stale(select)} or ${sameApp} 1 - ${success})`;
}

/** How many there are of the `matching` ones, 0 if there are only others, nothing if there are none. */
export function countOf(matching: string, all: string): string {
  return `count(${matching}) or 0 * count(${all})`;
}

/**
 * The id of each application, and as `text` what people know it by: its name, with the account and
 * the id because several may have the same name.
 */
export function appNames(): string {
  const labels = 'account, app_id, app_name';
  const info = ofAccount('newrelic_application_info');
  const all = [
    `group by (${labels}) (${info})`,
    `group by (${labels}) (last_over_time(${info}${memory}) ${isDown})`,
    `group by (${labels}) (${loneHosts(ofAccount)})`,
  ].join(' or on (account, app_id) ');
  const named = `label_join(${all}, "text", " · ", "app_name", "account", "app_id")`;
  return `group by (app_id, text) (${named})`;
}
