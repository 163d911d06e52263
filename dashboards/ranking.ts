import { unhealthy } from './health.ts';
import { pollOf } from './known.ts';
import { loneHosts, ofApp, perApp, sameApp, throughput } from './selectors.ts';
import { lastOf } from './series.ts';

/** The greatest part of the throughput, which costs less than all of it and ranks as well. */
const ranked = [
  perApp(ofApp('newrelic_application_requests_per_minute')),
  perApp(loneHosts(ofApp)),
  `0 * ${perApp(ofApp('newrelic_application_info'))}`,
].join(` or ${sameApp} `);

/** What a table lists of many applications, so that 10,000 of them do not stop the browser. */
export function listedApps(): string {
  const all = `topk(100, ${pollOf(ofApp)} > 0) or topk(100, ${unhealthy}) or topk(100, ${ranked})`;
  return `group by (app_id) (${all})`;
}

/** The applications that were the busiest when they were last seen in the shown range. */
export function busiestApps(): string {
  const last = `sum by (account, app_id, app_name) ${throughput({ at: lastOf })}`;
  return `group by (app_id) (topk($topn, ${last}))`;
}
