import type { Row } from './dashboard.ts';
import { bars, graph, heat } from './panels.ts';
import { ofApp, ofHost, ofType, perApp, perHost, perType } from './selectors.ts';
import { table } from './table.ts';

const hosts = perHost(ofHost('newrelic_application_host_requests_per_minute'));
const withTraffic = `${hosts} > 0`;
const byHost = 'sum by (host_id, host_name)';
const legend = '{{host_name}}';
const application = perType(ofType('newrelic_application_requests_per_minute'));

export const applicationHosts: Row = {
  title: 'Hosts',
  panels: [
    graph({
      title: 'Throughput by host',
      description: 'Requests per minute of each selected host.',
      unit: 'rpm',
      height: 10,
      isStacked: true,
      queries: [{ expr: `${byHost} (${hosts})`, legend }],
    }),
    heat({
      title: 'Load of the hosts',
      description:
        'Requests per minute of each selected host as a colour: a dark line is a busy host.',
      unit: 'rpm',
      height: 10,
      queries: [{ expr: `${byHost} (${hosts})`, legend }],
    }),
    graph({
      title: 'Imbalance',
      description:
        'Throughput of the busiest host divided by the average of the hosts with traffic (1 is even), and their standard deviation divided by the average.',
      unit: 'none',
      thresholds: [[2, 'red']],
      queries: [
        { expr: `max(${withTraffic}) / avg(${withTraffic})`, legend: 'busiest over average' },
        { expr: `stddev(${withTraffic}) / avg(${withTraffic})`, legend: 'deviation over average' },
      ],
    }),
    graph({
      title: 'Hosts and instances',
      description:
        'Hosts and instances that New Relic lists, and hosts with traffic. A host that is gone stays listed for about an hour.',
      unit: 'short',
      isStepped: true,
      queries: [
        { expr: perApp(ofApp('newrelic_application_hosts')), legend: 'hosts listed' },
        { expr: perApp(ofApp('newrelic_application_instances')), legend: 'instances listed' },
        { expr: `count(${withTraffic})`, legend: 'hosts with traffic' },
      ],
    }),
    bars({
      title: 'Busiest hosts',
      description: 'Current requests per minute.',
      unit: 'rpm',
      width: 8,
      queries: [{ expr: `topk($topn, ${byHost} (${hosts}))`, legend }],
    }),
    bars({
      title: 'Quietest hosts',
      description: 'Current requests per minute.',
      unit: 'rpm',
      width: 8,
      queries: [{ expr: `bottomk($topn, ${byHost} (${hosts}))`, legend }],
    }),
    graph({
      title: 'Application and sum of its hosts',
      description:
        'They differ a little, because New Relic rounds each value. A large difference means that some hosts are not selected above, or not polled. Sidecars publish no value of the application.',
      unit: 'rpm',
      width: 8,
      queries: [
        { expr: `sum(${application})`, legend: 'application' },
        { expr: `sum(${hosts})`, legend: 'sum of the hosts' },
      ],
    }),
    table({
      title: 'Hosts',
      description: 'Current throughput of each selected host, and its share of the total.',
      labels: { host_name: 'Host', host_id: 'Id' },
      columns: [
        { title: 'Throughput', unit: 'rpm', expr: `${byHost} (${hosts})` },
        {
          title: 'Share',
          unit: 'percentunit',
          expr: `${byHost} (${hosts}) / on () group_left () (sum(${hosts}) > 0)`,
        },
      ],
    }),
  ],
};
