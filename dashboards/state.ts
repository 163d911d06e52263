import { apdexLimit, errorLimit } from './colors.ts';
import {
  alertsOfApps,
  appLabels,
  exporterLabels,
  inEach,
  of,
  per,
  type Selector,
  sameApp,
  sameExporter,
  totalOf,
} from './selectors.ts';
import { anyApp, chosenApps, loneHosts, signalOf, throughput } from './signals.ts';

/** So long what exporters that are down have said is remembered. */
const memory = '[1d]';
/** So long an exporter that is down is remembered itself, as the alert NewRelicExporterDown does. */
const exporterMemory = '[7d]';
const isDown = `and ${sameExporter} ${of.process('up')} == 0`;

/**
 * 1 for each exporter that Prometheus can scrape, 0 for each that it cannot. As the alert
 * NewRelicExporterDown has it: what has shown itself as an exporter is one.
 */
export const exporterUp: string = `(max by (cluster, job, instance) (${of.process('up')}) and ${sameExporter} last_over_time(${of.process('newrelic_exporter_build_info')}${exporterMemory}))`;

/** A value of each account, with what exporters that are down said last where none else says it. */
function knownOfAccount(aggregate: 'min' | 'max', metric: string, lost = ''): string {
  const selected = of.account(metric);
  const past = `${aggregate} by (account) (last_over_time(${selected}${memory}) ${isDown})`;
  return `(${aggregate} by (account) (${selected}) or on (account) ${lost}${past})`;
}

/**
 * 1 for each account whose last discovery (with queries only: one of the last two) succeeded, 0 for each where
 * it failed, as the alert NewRelicExporterDiscoveryFailing has it, or whose exporters are all down.
 */
export function accountUp(labels: string): string {
  return inEach(labels, knownOfAccount('min', 'newrelic_up', '0 * '));
}

/** When a poll of each application last got all that was asked for. */
export function lastSuccess(select: Selector): string {
  const selected = select('newrelic_application_last_success_timestamp_seconds');
  const past = `max by (${appLabels}) (last_over_time(${selected}${memory}) ${isDown})`;
  return `(${per.app(selected)} or ${sameApp} ${past})`;
}

/** 1 for each application whose last poll got all that was asked for, otherwise 0. */
export function polled(select: Selector): string {
  return per.app(select('newrelic_application_poll_success'));
}

const labels = `(${exporterLabels}, account)`;
/** Each account of an exporter that publishes hosts alone and counted failed polls in the last minutes. */
const failingSidecars = [
  `sum by ${labels} (increase(${of.account('newrelic_exporter_polls_failed_total')}[5m])) > 0`,
  `group by ${labels} (${of.account('newrelic_application_poll_success')})`,
].join(` unless on ${labels} `);
const hasHosts = `and on ${labels} group by ${labels} (last_over_time(${loneHosts(of.app)}[$__range]))`;

/**
 * Each application whose last poll did not get all that was asked for, and each failing sidecar: of
 * few applications only those that had a host of them, of many all, which costs less.
 */
export function failing(select: Selector, areFew = false): string {
  return `${polled(select)} == 0 or (${failingSidecars}${areFew ? ` ${hasHosts}` : ''})`;
}

/**
 * Each application whose last complete poll is too long ago, as NewRelicExporterDataStale has it: an
 * account that is throttled stretches its intervals, and yet drops values after stale_after.
 */
export function stale(select: Selector): string {
  const interval = knownOfAccount('max', 'newrelic_exporter_poll_interval_seconds');
  const staleAfter = `min by (account) (${of.account('newrelic_exporter_stale_after_seconds')})`;
  const last = per.app(select('newrelic_application_last_success_timestamp_seconds'));
  const isOver = '> on (account) group_left ()';
  return `(time() - ${lastSuccess(select)} ${isOver} (3 * ${interval}) or time() - ${last} ${isOver} ${staleAfter} and ${sameApp} ${polled(select)} == 0)`;
}

/** 0 complete, 1 failing, 2 stale: the worst is the greatest. */
export function pollOf(select: Selector): string {
  return `(2 + 0 * ${stale(select)} or ${sameApp} 1 - ${polled(select)})`;
}

function healthIs(select: Selector, matcher: string): string {
  return per.app(`${select('newrelic_application_health_status', matcher)} == 1`);
}

/** Only 3 orange and 4 red, which costs half as much. */
export function unhealthy(select: Selector): string {
  return `(4 * ${healthIs(select, 'status="red"')} or 3 * ${healthIs(select, 'status="orange"')})`;
}

/** 1 gray, which New Relic knows nothing of, 2 green, 3 orange, 4 red: the worst is the greatest, and wins. */
export function healthOf(select: Selector): string {
  return `(${unhealthy(select)} or 2 * ${healthIs(select, 'status="green"')} or ${healthIs(select, 'status!~"green|orange|red"')})`;
}

/** Each application that reports nothing to New Relic. */
export function silent(select: Selector): string {
  return `${per.app(select('newrelic_application_reporting'))} == 0`;
}

/** How many alerts fire about each application. */
export function alertsPerApp(select: Selector): string {
  return `${per.app(select('newrelic_application_info'))} * ${sameApp} group_left () count by (account, app_id) (${alertsOfApps})`;
}

/** How many of the limits of errors and Apdex each application does not keep, from 1 on. */
function limitsBroken(): string {
  const errors = signalOf('error_ratio', chosenApps, ` > ${errorLimit}`);
  const scores = signalOf('apdex_score', chosenApps, ` < ${apdexLimit}`);
  return `count by (${appLabels}) (${errors} or label_replace(${scores}, "limit", "apdex", "", ""))`;
}

/** With the list once instead of in each selector, where it is too long for some proxies. */
export function limitsOfListed(): string {
  return `${limitsBroken()} and ${sameApp} ${anyApp(of.listed)}`;
}

/** What a table lists of many applications, so that 10,000 of them do not stop the browser. */
export function appsToList(): string {
  /** The greatest part of the throughput, which costs less than all of it and ranks as well. */
  const ranked = [
    per.app(of.app('newrelic_application_requests_per_minute')),
    per.app(loneHosts(of.app)),
    `0 * ${per.app(of.app('newrelic_application_info'))}`,
  ].join(` or ${sameApp} `);
  const troubled = [
    alertsPerApp(of.app),
    `${pollOf(of.app)} > 0`,
    limitsBroken(),
    unhealthy(of.app),
    silent(of.app),
  ];
  const all = [...troubled, ranked].map((some) => `topk(100, ${some})`);
  return `group by (app_id) (${all.join(' or ')})`;
}

/** The applications with the most requests in the shown range. */
export function busiestApps(): string {
  const total = `sum by (${appLabels}) ${throughput({ at: totalOf })}`;
  return `group by (app_id) (topk($topn, ${total}))`;
}

/**
 * The id of each application, and as `text` what people know it by: its name, with the account and
 * the id because several may have the same name.
 */
export function appNames(): string {
  const info = of.account('newrelic_application_info');
  const all = [
    `group by (${appLabels}) (${info})`,
    `group by (${appLabels}) (last_over_time(${info}${memory}) ${isDown})`,
    `group by (${appLabels}) (${loneHosts(of.account)})`,
  ].join(` or ${sameApp} `);
  const named = `label_join(${all}, "text", " · ", "app_name", "account", "app_id")`;
  return `group by (app_id, text) (${named})`;
}
