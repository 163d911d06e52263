import { toHost } from './links.ts';
import { poorApdex } from './mappings.ts';
import type { Panel } from './panel.ts';
import {
  hostLabels,
  ofHost,
  ofWholeHost,
  perHost,
  perHostAndType,
  sameApp,
  sameHost,
} from './selectors.ts';
import { type Column, table } from './table.ts';

function wholeHost(name: string): string {
  return `max by (${hostLabels}) (${ofWholeHost(`newrelic_application_host_${name}`)})`;
}

const requests = ofHost('newrelic_application_host_requests_per_minute');
const times = ofHost('newrelic_application_host_response_time_seconds');
const hosts = perHost(requests);
const memory = wholeHost('memory_used_bytes');
const cpu = wholeHost('cpu_usage_ratio');
/** Also hosts without any traffic, if something else is known of them. */
const known = `${hosts} or ${sameHost} 0 * ${memory} or ${sameHost} 0 * ${cpu}`;
const listed = `topk(200, ${known})`;
/** Each transaction type counts by its requests. */
const spent = `sum by (${hostLabels}) (${perHostAndType(times)} * ${perHostAndType(requests)})`;
const timed = `sum by (${hostLabels}) (${perHostAndType(requests)} and ${perHostAndType(times)})`;

/** A column of which only the listed hosts are asked for. */
function ofListedHosts({ expr, ...column }: Column): Column {
  return { ...column, expr: `${expr} and ${sameHost} ${listed}` };
}

export const eachHost: Panel = table({
  title: 'Each host',
  description:
    'The selected hosts, the 200 busiest if there are more; a click on one selects it alone. Share: of the requests of its application. A column is shaded by the greatest value in it. Columns without a value are not read: response time, errors, Apdex, memory and CPU need response_time, errors, apdex, memory and cpu in metrics.',
  height: 12,
  sortBy: [['Throughput', 'greatest']],
  labels: {
    host_name: { title: 'Host', width: 180, links: [toHost()] },
    host_id: { title: 'Host id', width: 90, isLast: true },
    app_name: { title: 'Application', isLast: true },
    app_id: { title: 'Id', width: 100, isLast: true },
    account: { title: 'Account', width: 95, isLast: true },
  },
  columns: [
    { title: 'Throughput', unit: 'reqpm', width: 110, expr: `topk(200, ${hosts})` },
    ofListedHosts({
      title: 'Share',
      unit: 'percentunit',
      width: 70,
      decimals: 1,
      expr: `${hosts} / ${sameApp} group_left () (sum by (account, app_id) (${hosts}) > 0)`,
    }),
    ofListedHosts({
      title: 'Response',
      unit: 's',
      width: 85,
      cell: 'shade',
      expr: `${spent} / (${timed} > 0)`,
    }),
    ofListedHosts({
      title: 'Errors',
      unit: 'cpm',
      width: 85,
      cell: 'shade',
      expr: perHost(ofHost('newrelic_application_host_errors_per_minute')),
    }),
    ofListedHosts({
      title: 'Apdex',
      unit: 'none',
      decimals: 2,
      width: 70,
      cell: 'state',
      mappings: [poorApdex],
      expr: wholeHost('apdex_score'),
    }),
    ofListedHosts({ title: 'Memory', unit: 'bytes', width: 90, cell: 'shade', expr: memory }),
    ofListedHosts({
      title: 'CPU',
      unit: 'percentunit',
      decimals: 1,
      width: 75,
      cell: 'shade',
      expr: cpu,
    }),
  ],
});
