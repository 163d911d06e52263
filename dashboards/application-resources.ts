import { needs } from './asked.ts';
import type { Row } from './dashboard.ts';
import { graph } from './graph.ts';
import { inBackground, transactionColors } from './overrides.ts';
import {
  averageTime,
  hostLabels,
  ofApp,
  ofWholeHost,
  perApp,
  rate,
  sameHost,
} from './selectors.ts';
import { lastOf } from './series.ts';

const database = { time: 'database_response_time_seconds', calls: 'database_calls_per_minute' };
const external = { time: 'external_response_time_seconds', calls: 'external_calls_per_minute' };
const type = '{{transaction_type}}';

const cpu = hostGauge('cpu_usage_ratio');
const memory = hostGauge('memory_used_bytes');

interface HostGauge {
  readonly ofHosts: string;
  /** Of the hosts with the most: the same ones at each moment. */
  readonly highest: string;
  /** What New Relic gives for the application as a whole, of several ones the average. */
  readonly ofApplication: string;
}

function hostGauge(name: string): HostGauge {
  const selected = ofWholeHost(`newrelic_application_host_${name}`);
  const ofHosts = `max by (${hostLabels}) (${selected})`;
  const last = `max by (${hostLabels}) (${lastOf(selected)})`;
  return {
    ofHosts,
    highest: `${ofHosts} and ${sameHost} topk($topn, ${last})`,
    ofApplication: `avg(${perApp(ofApp(`newrelic_application_${name}`))})`,
  };
}

export const applicationResources: Row = {
  title: 'Database, external services, memory and CPU',
  isCollapsed: true,
  panels: [
    graph({
      title: 'Database calls',
      description: 'Calls of databases per minute, by the transaction type that makes them.',
      unit: 'cpm',
      width: 6,
      isStacked: true,
      noValue: needs('database'),
      overrides: transactionColors,
      queries: [
        { expr: `sum by (transaction_type) ${rate('database_calls_per_minute')}`, legend: type },
      ],
    }),
    graph({
      title: 'Time of a database call',
      description: 'Average time of a call of a database, by the transaction type that makes it.',
      unit: 's',
      width: 6,
      noValue: needs('database'),
      overrides: transactionColors,
      queries: [{ expr: averageTime('transaction_type', database), legend: type }],
    }),
    graph({
      title: 'External calls',
      description: 'Calls of external services per minute.',
      unit: 'cpm',
      width: 6,
      noValue: needs('external'),
      queries: [
        { expr: `sum${rate('external_calls_per_minute', { select: ofApp })}`, legend: 'calls' },
      ],
    }),
    graph({
      title: 'Time of an external call',
      description: 'Average time of a call of an external service.',
      unit: 's',
      width: 6,
      noValue: needs('external'),
      queries: [{ expr: averageTime('', external, { select: ofApp }), legend: 'average' }],
    }),
    graph({
      title: 'Memory of the hosts',
      description:
        'Physical memory that the application uses, on the hosts where it was the most when they were last seen, and the average of all hosts.',
      unit: 'bytes',
      noValue: needs('memory'),
      overrides: [inBackground('average')],
      queries: [
        { expr: memory.highest, legend: '{{host_name}}' },
        { expr: memory.ofApplication, legend: 'average' },
      ],
    }),
    graph({
      title: 'CPU of the hosts',
      description:
        'CPU time that the application uses, 100 % being one core, on the hosts where it was the most when they were last seen. If no host is polled, the sum that New Relic gives for the application.',
      unit: 'percentunit',
      noValue: needs('cpu'),
      queries: [
        { expr: cpu.highest, legend: '{{host_name}}' },
        { expr: `${cpu.ofApplication} unless on () ${cpu.ofHosts}`, legend: 'application' },
      ],
    }),
  ],
};
