/** Samples of series, one each minute from the beginning of a situation; see `samplesOf`. */
export type SeriesInput = Readonly<Record<string, string>>;

/** What a panel shows: its one number, or numbers by names; of a table the cells of each row. */
export type Shown = number | Readonly<Record<string, number | Readonly<Record<string, number>>>>;

interface Situation {
  readonly when: string;
  /** The one before is then its last week. */
  readonly isAWeekLater?: true;
  readonly series: SeriesInput;
  /** The minute that is looked at. */
  readonly at?: number;
  /** What is chosen, where it is not "All". */
  readonly choice?: Readonly<Record<string, string>>;
  readonly shows: Readonly<Record<string, Shown>>;
  /** The exporters whose hosts need not be looked at. */
  readonly whole?: string;
}

const web = '{transaction_type="web"}';
const other = '{transaction_type="other"}';

/** Series with these labels, before those that their own names have. */
function of(labels: string, values: SeriesInput): SeriesInput {
  const named = Object.entries(values).map(([name, samples]) => {
    const [metric = '', own = '}'] = name.split('{');
    return [`${metric}{${labels}${own === '}' ? '' : ','}${own}`, samples] as const;
  });
  return Object.fromEntries(named);
}

function prefixed(prefix: string, values: SeriesInput): SeriesInput {
  return Object.fromEntries(Object.entries(values).map(([name, text]) => [prefix + name, text]));
}

/** An application of an exporter. */
function app(labels: string, id: string, values: SeriesInput): SeriesInput {
  return of(
    `${labels},app_id="${id}",app_name="app ${id}"`,
    prefixed('newrelic_application_', values),
  );
}

/** As all is well: 400 requests a minute, 1 % errors, 0.8 s on average. */
function healthy(minutes: number): SeriesInput {
  const always = (value: number): string => `${value}x${minutes}`;
  return {
    'info{language="java"}': always(1),
    poll_success: always(1),
    last_success_timestamp_seconds: `@0+60x${minutes}`,
    window_end_timestamp_seconds: `@-60+60x${minutes}`,
    reporting: always(1),
    'health_status{status="green"}': always(1),
    'health_status{status="red"}': always(0),
    'health_status{status="orange"}': always(0),
    [`requests_per_minute${web}`]: always(100),
    [`requests_per_minute${other}`]: always(300),
    [`response_time_seconds${web}`]: always(0.2),
    [`response_time_seconds${other}`]: always(1),
    [`errors_per_minute${web}`]: always(1),
    [`errors_per_minute${other}`]: always(3),
    apdex_score: always(0.9),
    hosts: always(4),
    instances: always(4),
  };
}

interface Life {
  /** How long Prometheus can scrape it. */
  readonly minutes?: number;
  readonly labels?: string;
}

function exporterLabels(instance: string, labels = ''): string {
  return `${labels}job="nr",instance="${instance}"`;
}

/** One exporter with one account of two applications, polled each minute. */
function exporter(
  instance: string,
  account: string,
  { minutes = 90, labels }: Life = {},
): SeriesInput {
  const always = (value: number): string => `${value}x${minutes}`;
  const process = exporterLabels(instance, labels);
  const ofAccount = `${process},account="${account}"`;
  return {
    ...of(process, {
      up: minutes === 90 ? '1x90' : `1x${minutes} 0x${89 - minutes}`,
      'newrelic_exporter_build_info{version="1",revision="x",node_version="v24"}': always(1),
      process_start_time_seconds: `@-3600x${minutes}`,
      newrelic_exporter_shard: always(0),
      newrelic_exporter_total_shards: always(1),
      newrelic_exporter_config_last_reload_successful: always(1),
    }),
    ...of(ofAccount, {
      newrelic_up: always(1),
      newrelic_exporter_poll_interval_seconds: always(60),
      newrelic_exporter_stale_after_seconds: always(240),
      newrelic_exporter_api_budget_requests_per_minute: always(600),
      newrelic_exporter_api_demand_requests_per_minute: always(300),
      'newrelic_exporter_api_requests_total{code="200"}': `0+300x${minutes}`,
      'newrelic_exporter_api_request_failures_total{reason="server"}': always(0),
      newrelic_exporter_api_backoff_until_timestamp_seconds: always(0),
      newrelic_exporter_api_key_readable: always(1),
    }),
    ...app(ofAccount, `${account}1`, healthy(minutes)),
    ...app(ofAccount, `${account}2`, healthy(minutes)),
  };
}

const eu = `${exporterLabels('a')},account="eu"`;
const us = `${exporterLabels('b')},account="us"`;
const both = { ...exporter('a', 'eu'), ...exporter('b', 'us') };
const apps = ['1', '2'];

/** Polls of an account that fail from one minute to another, and what is dropped after four minutes. */
function failedPolls(labels: string, account: string, from: number, to: number): SeriesInput {
  const gap = (value: number): string =>
    `${value}x${from + 3} _x${to - from - 5} ${value}x${90 - to}`;
  const stopped = `@0+60x${from} @${from * 60}x${to - from - 2} @${to * 60}+60x${90 - to}`;
  return Object.assign(
    {},
    ...apps.map((id) =>
      app(labels, account + id, {
        poll_success: `1x${from} 0x${to - from - 2} 1x${90 - to}`,
        last_success_timestamp_seconds: stopped,
        [`requests_per_minute${web}`]: gap(100),
        [`requests_per_minute${other}`]: gap(300),
      }),
    ),
  ) as SeriesInput;
}

/** A host and what it serves, from one minute to another. */
function host(instance: string, name: string, values: SeriesInput): SeriesInput {
  const labels = `${exporterLabels(instance)},account="eu",app_id="eu1",app_name="app eu1",host_id="1${name.replace('"', '')}",host_name=${JSON.stringify(name)}`;
  return of(labels, prefixed('newrelic_application_host_', values));
}

/** Sidecars, each with its host; what "b" needs for other transactions is not known, "c" is idle. */
const sidecars: SeriesInput = {
  ...host('a', 'h"a', {
    [`requests_per_minute${web}`]: '30x90',
    [`requests_per_minute${other}`]: '30x90',
    [`response_time_seconds${web}`]: '1x90',
    [`response_time_seconds${other}`]: '4x90',
    [`errors_per_minute${web}`]: '3x90',
    apdex_score: '0.9x90',
    memory_used_bytes: '3e8x90',
    cpu_usage_ratio: '0.5x90',
  }),
  ...host('b', 'hb', {
    [`requests_per_minute${web}`]: '10x90',
    [`requests_per_minute${other}`]: '5x90',
    [`response_time_seconds${web}`]: '3x90',
    apdex_score: '0.5x90',
    memory_used_bytes: '2e8x90',
  }),
  ...host('c', 'hc', { memory_used_bytes: '1e8x90' }),
  ...of(`${exporterLabels('c')},account="eu"`, {
    newrelic_up: '1x90',
    newrelic_exporter_polls_total: '0+1x90',
    newrelic_exporter_polls_failed_total: '0+1x90',
  }),
};
/** One more exporter, of the application itself, under a name that the sidecars do not know yet. */
const itself = app(`${exporterLabels('s')},account="eu"`, 'eu1', {
  'info{language="java"}': '1x90',
  [`requests_per_minute${web}`]: '200x90',
  [`requests_per_minute${other}`]: '5x90',
  hosts: '4x90',
});
const renamed = Object.fromEntries(
  Object.entries(itself).map(([name, values]) => [name.replace('app eu1', 'new name'), values]),
);
/** It has another application, of which it publishes nothing but a host. */
const loneHost = of(
  `${exporterLabels('s')},account="eu",app_id="eu2",app_name="app eu2",host_id="9",host_name="nine"`,
  { [`newrelic_application_host_requests_per_minute${web}`]: '4x90' },
);

const firing = (alert: string, labels: string): string =>
  `ALERTS{alertname="NewRelicApplication${alert}",alertstate="firing",${labels},account="eu",app_id="eu1",app_name="app eu1"}`;

const allWell = {
  'Exporters down': 0,
  'Accounts failing': 0,
  'Polls failing': 0,
  'Values stale': 0,
};

/** The first tiles, which all dashboards have. */
function trouble(tiles: Readonly<Record<string, Shown>>): Readonly<Record<string, Shown>> {
  const dashboards = ['overview', 'exporter'];
  return Object.fromEntries(
    dashboards.flatMap((name) =>
      Object.entries({ ...allWell, ...tiles }).map(([title, shown]) => [
        `${name}: ${title}`,
        shown,
      ]),
    ),
  );
}

const nothing = {};
const wellAccount = {
  Up: 1,
  Applications: 2,
  'Polls failing': 0,
  'Values stale': 0,
  'Oldest poll': 0,
  'Calls failing': 0,
  'Pause after 429': 0,
  Unmatched: 0,
};
const wellApp = {
  Poll: 0,
  Health: 2,
  Reporting: 1,
  Throughput: 400,
  Hosts: 4,
  Response: 0.8,
  Errors: 0.01,
  Apdex: 0.9,
  Age: 60,
};

export const situations: readonly Situation[] = [
  {
    when: 'all is well',
    series: both,
    shows: {
      ...trouble({}),
      'overview: With alerts': 0,
      'overview: Unhealthy': { red: 0, orange: 0 },
      'overview: Not reporting': 0,
      'overview: Published': { applications: 4, hosts: 16 },
      'overview: Throughput now': { now: 1600 },
      'overview: Error ratio now': { now: 0.01 },
      'overview: Response time now': { now: 0.8 },
      'overview: Apdex now': { now: 0.9 },
      'overview: Applications': {
        'eu eu1': wellApp,
        'eu eu2': wellApp,
        'us us1': wellApp,
        'us us2': wellApp,
      },
      'overview: Accounts': {
        eu: wellAccount,
        us: wellAccount,
      },
      'application: State in New Relic': { alerts: 0, poll: 0, reporting: 1, health: 2 },
      'application: Application': { 'app eu1': 1 },
      'application: Throughput now': { now: 400 },
      'exporter: Configuration valid': 1,
      'exporter: Shards missing': 0,
      'exporter: Highest demand': 0.5,
      'exporter: Unmatched entries': 0,
      'exporter: Use of the budget': { eu: 0.5, us: 0.5 },
      'exporter: Exporters': {
        a: { Up: 1, 'Configuration valid': 1, 'Running for': 7200, Shard: 0, Of: 1 },
        b: { Up: 1, 'Configuration valid': 1, 'Running for': 7200, Shard: 0, Of: 1 },
      },
      'exporter: Failing applications': nothing,
      'exporter: Failed calls by reason': { none: 0 },
    },
  },
  {
    when: 'half of the traffic of last week is left, and it fails',
    isAWeekLater: true,
    series: {
      ...exporter('a', 'eu'),
      ...Object.assign(
        {},
        ...apps.map((id) =>
          app(eu, `eu${id}`, { [`errors_per_minute${web}`]: '37x90', apdex_score: '0.5x90' }),
        ),
      ),
    },
    shows: {
      'overview: Throughput now': { now: 800, 'since last week': -0.5 },
      'overview: Error ratio now': { now: 0.1, 'since last week': 0.09 },
      'overview: Response time now': { now: 0.8, 'since last week': 0 },
      'overview: Apdex now': { now: 0.5, 'since last week': -0.4 },
      'application: Throughput': { web: 100, other: 300, 'last week': 400 },
      'application: Apdex': { now: 0.5, 'last week': 0.9 },
    },
  },
  {
    when: 'one of two exporters is down',
    series: { ...exporter('a', 'eu'), ...exporter('b', 'us', { minutes: 30 }) },
    shows: {
      ...trouble({ 'Exporters down': 1, 'Accounts failing': 1, 'Values stale': 2 }),
      'overview: Throughput now': { now: 800 },
      'overview: Applications': {
        'eu eu1': wellApp,
        'eu eu2': wellApp,
        'us us1': { Poll: 2 },
        'us us2': { Poll: 2 },
      },
      'overview: Accounts': { eu: wellAccount, us: { Up: 0, 'Oldest poll': 1800 } },
      'exporter: Accounts': {
        'a eu': { Up: 1, 'Values stale': 0 },
        'b us': { Up: 0, 'Values stale': 2, 'Oldest poll': 1800 },
      },
      'exporter: Exporters': { a: { Up: 1 }, b: { Up: 0 } },
      'exporter: Failing applications': {
        'us us1': { 'Last complete poll': 1800 },
        'us us2': { 'Last complete poll': 1800 },
      },
    },
  },
  {
    when: 'all exporters are down',
    series: { ...exporter('a', 'eu', { minutes: 30 }), ...exporter('b', 'us', { minutes: 30 }) },
    // Of polls nothing is known, which is no 0.
    shows: {
      ...trouble({
        'Exporters down': 2,
        'Accounts failing': 2,
        'Polls failing': nothing,
        'Values stale': 4,
      }),
      'overview: Throughput now': nothing,
    },
  },
  {
    when: 'one of two exporters of the same account is down',
    series: { ...exporter('a', 'eu'), ...exporter('b', 'eu', { minutes: 30 }) },
    shows: trouble({ 'Exporters down': 1 }),
  },
  {
    when: 'a pod has been replaced',
    series: {
      ...exporter('a', 'eu'),
      ...exporter('b', 'us', { minutes: 30 }),
      ...of(exporterLabels('b'), { up: '1x30' }),
    },
    shows: trouble({}),
  },
  {
    when: 'Prometheus has lost every exporter',
    series: {
      ...exporter('a', 'eu', { minutes: 30 }),
      ...of(exporterLabels('a'), { up: '1x30' }),
      'up{job="node",instance="d"}': '0x90',
    },
    shows: trouble({
      'Exporters down': nothing,
      'Accounts failing': nothing,
      'Polls failing': nothing,
      'Values stale': nothing,
    }),
  },
  {
    when: 'the key of an account is refused',
    series: {
      ...both,
      ...failedPolls(us, 'us', 30, 89),
      ...of(us, {
        newrelic_up: '1x30 0x59',
        newrelic_exporter_api_key_readable: '0x90',
        'newrelic_exporter_api_requests_total{code="200"}': '0+300x30 9000x59',
        'newrelic_exporter_api_requests_total{code="401"}': '0x30 0+4x59',
        'newrelic_exporter_api_request_failures_total{reason="auth"}': '0x30 0+4x59',
      }),
    },
    shows: {
      ...trouble({ 'Accounts failing': 1, 'Polls failing': 2, 'Values stale': 2 }),
      'overview: Accounts': {
        eu: wellAccount,
        us: { Up: 0, 'Polls failing': 2, 'Values stale': 2, 'Calls failing': 1 },
      },
      'exporter: Accounts': {
        'a eu': { 'Polls failing': 0, Demand: 0.5, Key: 1 },
        'b us': { Up: 0, 'Polls failing': 2, 'Values stale': 2, 'Failed calls': 4, Key: 0 },
      },
      'exporter: Failed calls by reason': { auth: 4 },
    },
  },
  {
    when: 'a quarter of the requests of an application fails',
    series: {
      ...both,
      ...app(eu, 'eu1', {
        [`errors_per_minute${web}`]: '25x90',
        [`errors_per_minute${other}`]: '75x90',
        apdex_score: '0.63x90',
      }),
      [firing('ErrorRatioHigh', exporterLabels('a'))]: '1x90',
      [firing('ApdexLow', exporterLabels('a'))]: '1x90',
    },
    shows: {
      ...trouble({}),
      'overview: With alerts': 1,
      'overview: Error ratio now': { now: 0.07 },
      'overview: Apdex now': { now: 0.8325 },
      'overview: Applications': {
        'eu eu1': { ...wellApp, Alerts: 2, Limits: 2, Errors: 0.25, Apdex: 0.63 },
        'eu eu2': wellApp,
        'us us1': wellApp,
        'us us2': wellApp,
      },
      'application: State in New Relic': { alerts: 2, poll: 0, reporting: 1, health: 2 },
      'application: Error ratio now': { now: 0.25 },
      'application: Error ratio': { web: 0.25, other: 0.25, together: 0.25 },
    },
  },
  {
    when: 'New Relic is unhappy with one application, and another one is silent',
    series: {
      ...both,
      ...app(eu, 'eu1', { 'health_status{status="red"}': '1x90' }),
      ...app(us, 'us2', { 'health_status{status="orange"}': '1x90', reporting: '0x90' }),
      ...of(eu, { 'newrelic_exporter_app_missing{selector="id=9"}': '1x90' }),
    },
    shows: {
      'overview: Unhealthy': { red: 1, orange: 1 },
      'overview: Not reporting': 1,
      'overview: Applications': {
        'eu eu1': { ...wellApp, Health: 4 },
        'eu eu2': wellApp,
        'us us1': wellApp,
        'us us2': { ...wellApp, Health: 3, Reporting: 0 },
      },
      'exporter: Unmatched entries': 1,
      'exporter: Entries that match nothing': { 'eu id=9': { Exporters: 1 } },
    },
  },
  {
    when: 'a shard is missing, and an exporter refuses its configuration',
    series: {
      ...both,
      ...of(exporterLabels('a'), { newrelic_exporter_total_shards: '3x90' }),
      ...of(exporterLabels('b'), {
        newrelic_exporter_shard: '1x90',
        newrelic_exporter_total_shards: '3x90',
        newrelic_exporter_config_last_reload_successful: '0x90',
      }),
    },
    shows: {
      'exporter: Shards missing': 1,
      'exporter: Configuration valid': 0,
      'exporter: Exporters': { a: { Shard: 0, Of: 3 }, b: { 'Configuration valid': 0, Shard: 1 } },
    },
  },
  {
    when: 'an account is throttled for five minutes, and its intervals are stretched',
    series: {
      ...both,
      ...failedPolls(us, 'us', 55, 89),
      ...of(us, {
        newrelic_exporter_poll_interval_seconds: '60x55 141x34',
        newrelic_exporter_api_budget_requests_per_minute: '600x55 300x34',
        newrelic_exporter_api_backoff_until_timestamp_seconds: '0x55 @3630x34',
        'newrelic_exporter_api_request_failures_total{reason="throttled"}': '0x55 0+60x34',
      }),
    },
    shows: {
      ...trouble({ 'Polls failing': 2, 'Values stale': 2 }),
      'overview: Throughput now': { now: 800 },
      'overview: Accounts': {
        eu: wellAccount,
        us: { Up: 1, 'Values stale': 2, 'Pause after 429': 30 },
      },
      'exporter: Accounts': {
        'a eu': { Pause: 0 },
        'b us': { Pause: 30, 'Values stale': 2, 'Failed calls': 60, Demand: 1 },
      },
      'exporter: Failed calls by reason': { throttled: 60 },
      'exporter: Use of the budget': { eu: 0.5, us: 1 },
    },
  },
  ...([
    { at: 50, when: 'in an outage of half an hour', bad: 4, now: nothing, failed: 10 },
    { at: 75, when: 'after an outage of half an hour', bad: 0, now: { now: 1600 }, failed: 0 },
  ].map(({ at, when, bad, now, failed }) => ({
    when,
    at,
    series: {
      ...both,
      ...failedPolls(eu, 'eu', 30, 62),
      ...failedPolls(us, 'us', 30, 62),
      ...of(eu, {
        'newrelic_exporter_api_request_failures_total{reason="connect"}': '0x30 0+10x30 300x28',
      }),
    },
    shows: {
      ...trouble({ 'Polls failing': bad, 'Values stale': bad }),
      'overview: Throughput now': now,
      'exporter: Failed calls by reason': { connect: failed },
    },
  })) satisfies readonly Situation[]),
  {
    when: 'exporters of two clusters poll the same account',
    series: {
      ...exporter('a', 'eu', { labels: 'cluster="x",' }),
      ...exporter('b', 'eu', { labels: 'cluster="y",' }),
      [firing('ApdexLow', exporterLabels('a', 'cluster="x",'))]: '1x90',
      [firing('ApdexLow', exporterLabels('b', 'cluster="y",'))]: '1x90',
    },
    shows: {
      ...trouble({}),
      'overview: With alerts': 1,
      'overview: Published': { applications: 2, hosts: 8 },
      'overview: Throughput now': { now: 800 },
      'overview: Error ratio now': { now: 0.01 },
      'overview: Response time now': { now: 0.8 },
      'overview: Apdex now': { now: 0.9 },
      'overview: Applications': { 'eu eu1': { ...wellApp, Alerts: 2 }, 'eu eu2': wellApp },
      'overview: Accounts': { 'x eu': wellAccount, 'y eu': wellAccount },
    },
  },
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
        'eu eu1': { Throughput: 75, Hosts: 2, Response: 2.57142857, Errors: 0.075, Apdex: 0.82 },
      },
      'application: Throughput': { web: 40, other: 35 },
      'application: Response time': { web: 1.5, other: 4, together: 2.57142857 },
      'application: Apdex': { now: 0.82 },
      'application: Application': { 'app eu1': 1 },
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
      'exporter: Failed polls by exporter': { 'eu, c': 1 },
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
    when: 'the budget of a minute is sent in one second of it',
    series: {
      ...exporter('a', 'eu'),
      ...of(eu, { 'newrelic_exporter_api_requests_total{code="200"}': '0+600x90' }),
    },
    shows: { 'exporter: Use of the budget': { eu: 1 } },
  },
];
