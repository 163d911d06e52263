import { unhealthy } from './health.ts';
import { pollOf } from './known.ts';
import { alertsOfApps, loneHosts, ofApp, perApp, sameApp, throughput } from './selectors.ts';
import { totalOf } from './series.ts';

/** The greatest part of the throughput, which costs less than all of it and ranks as well. */
const ranked = [
  perApp(ofApp('newrelic_application_requests_per_minute')),
  perApp(loneHosts(ofApp)),
  `0 * ${perApp(ofApp('newrelic_application_info'))}`,
].join(` or ${sameApp} `);

/** What a table lists of many applications, so that 10,000 of them do not stop the browser. */
export function listedApps(): string {
  const silent = `${perApp(ofApp('newrelic_application_reporting'))} == 0`;
  const withAlerts = `${perApp(ofApp('newrelic_application_info'))} and ${sameApp} ${alertsOfApps}`;
  const all = [withAlerts, `${pollOf(ofApp)} > 0`, unhealthy, silent, ranked].map(
    (some) => `topk(100, ${some})`,
  );
  return `group by (app_id) (${all.join(' or ')})`;
}

/** The applications with the most requests in the shown range. */
export function busiestApps(): string {
  const total = `sum by (account, app_id, app_name) ${throughput({ at: totalOf })}`;
  return `group by (app_id) (topk($topn, ${total}))`;
}
