import {
  app,
  both,
  eu,
  exporter,
  exporterLabels,
  healthy,
  host,
  itself,
  loneHost,
  nothing,
  oddlyNamed,
  of,
  renamed,
  type Situation,
  sidecars,
  web,
} from './fleet.ts';

/** What users feel: in clusters, of sidecars, of hosts. */
export const signalSituations: readonly Situation[] = [
  {
    when: 'an application calls databases and external services',
    series: {
      ...both,
      ...app(eu, 'eu1', {
        [`database_calls_per_minute${web}`]: '200x90',
        [`database_response_time_seconds${web}`]: '0.05x90',
        external_calls_per_minute: '40x90',
        external_response_time_seconds: '0.5x90',
        cpu_usage_ratio: '2.5x90',
      }),
    },
    shows: {
      'application: Response time by layer': {
        application: 0.725,
        database: 10 / 400,
        external: 20 / 400,
      },
      'application: Calls of databases and external services': { database: 200, external: 40 },
      'application: Time of a call': { database: 0.05, external: 0.5 },
      'application: CPU of the hosts': { application: 2.5 },
      'application: Throughput': { web: 100, other: 300 },
      'application: Response time': { web: 0.2, other: 1, together: 0.8 },
    },
  },
  {
    when: 'only throughput is asked for',
    series: app(eu, 'eu1', {
      'info{language="java"}': '1x90',
      [`requests_per_minute${web}`]: '100x90',
      summary_requests_per_minute: '100x90',
      summary_response_time_seconds: '0.3x90',
      summary_error_ratio: '0.02x90',
      summary_apdex_score: '0.6x90',
    }),
    shows: {
      'overview: Applications': {
        'eu eu1': { Limits: 1, Throughput: 100, Response: 0.3, Errors: 0.02, Apdex: 0.6 },
      },
      'overview: Response time now': { now: 0.3 },
      'application: Error ratio': { together: 0.02 },
      'application: Response time': { together: 0.3 },
      'application: Apdex': { now: 0.6 },
      'application: Response time by layer': nothing,
    },
  },
  {
    when: 'there are only sidecars',
    series: sidecars,
    shows: {
      'overview: Throughput now': { now: 75 },
      'overview: Published': { applications: 1, hosts: 2 },
      'overview: Apdex now': { now: 0.82 },
      'overview: Applications': {
        'eu eu1': { Throughput: 75, Response: 2.57142857, Errors: 0.075, Apdex: 0.82 },
      },
      'application: Throughput': { web: 40, other: 35 },
      'application: Response time': { web: 1.5, other: 4, together: 2.57142857 },
      'application: Apdex': { now: 0.82 },
      'overview: Polls failing': 1,
      'overview: Values stale': nothing,
      'overview: Accounts': { eu: { Up: 1, 'Polls failing': 1 } },
      'application: Polls failing': 1,
      'exporter: Accounts': { 'b eu': { Up: 1, 'Polls failing': 1 } },
      'application: Hosts': {
        'eu eu1 h"a': {
          Throughput: 60,
          Load: 1.6,
          Response: 2.5,
          Errors: 0.1,
          Apdex: 0.9,
          Memory: 3e8,
          CPU: 0.5,
        },
        'eu eu1 hb': { Throughput: 15, Load: 0.4, Response: 3, Apdex: 0.5, Memory: 2e8 },
        'eu eu1 hc': { Memory: 1e8 },
      },
      'application: Hosts and instances': { 'hosts with traffic': 2 },
      'application: Imbalance': { 'busiest over average': 1.6, 'deviation over average': 0.6 },
      'exporter: Failed polls by exporter': { 'eu, b': 1 },
    },
  },
  {
    when: 'there are only sidecars, and web transactions of one host are chosen',
    series: sidecars,
    choice: { transaction_type: 'web', host: '1ha' },
    shows: {
      'application: Response time': { web: 1.5, together: 1.5 },
      'application: Hosts': { 'eu eu1 h"a': { Throughput: 30, Response: 1, Memory: 3e8 } },
    },
  },
  {
    when: 'sidecars stand beside an exporter of the application',
    whole: '(s)',
    series: { ...sidecars, ...renamed },
    shows: {
      'overview: Throughput now': { now: 205 },
      'overview: Published': { applications: 1, hosts: 4 },
      'application: Throughput now': { now: 205 },
    },
  },
  {
    when: 'an exporter publishes one application, and of another nothing but a host',
    whole: '()',
    series: { ...sidecars, ...itself, ...loneHost },
    shows: {
      'overview: Throughput now': { now: 209 },
      'overview: Published': { applications: 2, hosts: 5 },
    },
  },
  {
    // Otherwise the lines of last week would be wrong.
    when: 'an exporter was a sidecar a week ago, and another one was not',
    isAWeekLater: true,
    whole: '(a)',
    series: {
      ...exporter('a', 'eu'),
      ...of(`${exporterLabels('s')},account="eu"`, { newrelic_up: '1x90' }),
      ...app(`${exporterLabels('s')},account="eu"`, 'eu2', healthy(90)),
    },
    shows: { 'overview: Published': { applications: 2, hosts: 8 } },
  },
  {
    when: 'hosts come and go',
    series: {
      ...both,
      ...host('a', 'gone', { [`requests_per_minute${web}`]: '900x40' }),
      ...host('a', 'new', { [`requests_per_minute${web}`]: '_x50 100x40' }),
      ...Object.assign(
        {},
        ...['p', 'q', 'r', 's'].map((name) =>
          host('a', name, { [`requests_per_minute${web}`]: '50x90' }),
        ),
      ),
    },
    choice: { topn: '5' },
    shows: {
      // "new" has served less than those that were there all the time.
      'application: Throughput of the busiest hosts': {
        gone: Number.NaN,
        p: 50,
        q: 50,
        r: 50,
        s: 50,
      },
      'application: Hosts and instances': {
        'hosts listed': 4,
        'instances listed': 4,
        'hosts with traffic': 5,
      },
    },
  },
  {
    when: 'names have characters of their own meaning',
    series: oddlyNamed,
    shows: { 'overview: Throughput now': { now: 253 } },
  },
  {
    when: 'the budget of a minute is sent in one second of it',
    series: {
      ...exporter('a', 'eu'),
      ...of(eu, { 'newrelic_exporter_api_requests_total{code="200"}': '0+600x90' }),
    },
    shows: { 'exporter: Use of the budget': { eu: 1 } },
  },
];
