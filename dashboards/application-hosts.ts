import type { Row } from './dashboard.ts';
import { graph } from './graph.ts';
import { eachHost } from './host-table.ts';
import { bars } from './panels.ts';
import { ofApp, ofHost, ofType, perApp, perHost, perType, sameHost } from './selectors.ts';
import { totalOf } from './series.ts';

const requests = 'newrelic_application_host_requests_per_minute';
const hosts = perHost(ofHost(requests));
const withTraffic = `${hosts} > 0`;
/** The same ones at each moment, also those that have ended. */
const busiest = `${hosts} and ${sameHost} topk($topn, ${perHost(totalOf(ofHost(requests)))})`;
const legend = '{{host_name}}';
const application = perType(ofType('newrelic_application_requests_per_minute'));

/** Of several applications the least even one. */
function unevenness(aggregate: 'max' | 'stddev'): string {
  const by = 'by (account, app_id)';
  return `max(${aggregate} ${by} (${withTraffic}) / avg ${by} (${withTraffic}))`;
}

export const applicationHosts: Row = {
  title: 'Hosts',
  panels: [
    graph({
      title: 'Throughput of the busiest hosts',
      description:
        'Requests per minute of the selected hosts that served the most requests in the shown range.',
      unit: 'reqpm',
      width: 24,
      height: 10,
      isStacked: true,
      queries: [{ expr: busiest, legend }],
    }),
    graph({
      title: 'Application and sum of its hosts',
      description:
        'They differ a little, because New Relic rounds each value. A large difference means that some hosts are not selected above, or not polled. Sidecars publish no value of the application.',
      unit: 'reqpm',
      width: 8,
      queries: [
        { expr: `sum(${application})`, legend: 'application' },
        { expr: `sum(${hosts})`, legend: 'sum of the hosts' },
      ],
    }),
    graph({
      id: 104,
      title: 'Imbalance',
      description:
        'Throughput of the busiest host divided by the average of the hosts with traffic (1 is even), and their standard deviation divided by the average. Of several applications the least even one.',
      unit: 'none',
      width: 8,
      decimals: 2,
      softMax: 2,
      thresholds: [[2, 'red']],
      queries: [
        { expr: unevenness('max'), legend: 'busiest over average' },
        { expr: unevenness('stddev'), legend: 'deviation over average' },
      ],
    }),
    graph({
      id: 106,
      title: 'Hosts and instances',
      description:
        'Hosts and instances that New Relic lists, and hosts with traffic. A host that is gone stays listed for about an hour.',
      unit: 'none',
      width: 8,
      decimals: 0,
      isStepped: true,
      queries: [
        { expr: `sum(${perApp(ofApp('newrelic_application_hosts'))})`, legend: 'hosts listed' },
        {
          expr: `sum(${perApp(ofApp('newrelic_application_instances'))})`,
          legend: 'instances listed',
        },
        { expr: `count(${withTraffic})`, legend: 'hosts with traffic' },
      ],
    }),
    bars({
      id: 105,
      width: 24,
      title: 'Quietest hosts',
      description:
        'Current requests per minute. The busiest host stands first, so that the bars are as long as beside.',
      unit: 'reqpm',
      queries: [
        { expr: `topk(1, ${hosts})`, legend: `busiest: ${legend}` },
        { expr: `bottomk($topn, ${hosts})`, legend },
      ],
    }),
    eachHost,
  ],
};
