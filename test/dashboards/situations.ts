import {
  app,
  both,
  bothApps,
  eu,
  exporter,
  exporterLabels,
  failedPolls,
  firing,
  nothing,
  of,
  other,
  type Shown,
  type Situation,
  us,
  web,
  wellAccount,
  wellApp,
  wellApps,
} from './fleet.ts';

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

/** What goes wrong with exporters, accounts and applications. */
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
      'overview: Applications': { ...wellApps },
      'overview: Accounts': { eu: wellAccount, us: wellAccount },
      'application: State of ${app:text}': { alerts: 0, poll: 0, reporting: 1, health: 2 },
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
      ...bothApps(eu, 'eu', { [`errors_per_minute${web}`]: '37x90', apdex_score: '0.5x90' }),
    },
    shows: {
      'overview: Throughput now': { now: 800, 'against last week': -0.5 },
      'overview: Error ratio now': { now: 0.1, 'against last week': 9 },
      'overview: Response time now': { now: 0.8, 'against last week': 0 },
      'overview: Apdex now': { now: 0.5, 'against last week': -0.4 },
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
        ...wellApps,
        'us us1': { Poll: 2 },
        'us us2': { Poll: 2 },
      },
      'overview: Accounts': { eu: wellAccount, us: { Up: 0, 'Oldest poll': 1800 } },
      'exporter: Accounts': {
        'a eu': { Up: 1, 'Polls failing': 0, 'Values stale': 0 },
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
        ...wellApps,
        'eu eu1': { ...wellApp, Alerts: 2, Limits: 2, Errors: 0.25, Apdex: 0.63 },
      },
      'application: State of ${app:text}': { alerts: 2, poll: 0, reporting: 1, health: 2 },
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
        ...wellApps,
        'eu eu1': { ...wellApp, Health: 4 },
        'us us2': { ...wellApp, Health: 3, Reporting: 0 },
      },
      'exporter: Unmatched entries': 1,
      'exporter: Entries that match nothing': { 'eu id=9': { Exporters: 1 } },
    },
  },
  {
    when: 'one query fails, one never has a value, one has never been answered, and two exporters ask the same',
    series: {
      ...both,
      ...of(eu, {
        'newrelic_query_success{query="well"}': '1x90',
        'newrelic_query_rows{query="well"}': '7x90',
        'newrelic_query_last_success_timestamp_seconds{query="well"}': '@0+60x90',
        'newrelic_query_success{query="fails"}': '1x30 0x59',
        'newrelic_query_rows{query="fails"}': '3x33 _x56',
        'newrelic_query_last_success_timestamp_seconds{query="fails"}': '@0+60x30 @1800x59',
        'newrelic_query_success{query="empty"}': '1x90',
        'newrelic_query_rows{query="empty"}': '0x90',
        'newrelic_query_last_success_timestamp_seconds{query="empty"}': '@0+60x90',
        'newrelic_exporter_query_missing{query="empty"}': '1x90',
        'newrelic_query_success{query="never"}': '0x90',
      }),
      // Another exporter of the same account has asked the same, and got it.
      ...of(`${exporterLabels('c')},account="eu"`, {
        'newrelic_query_success{query="well"}': '0x90',
        'newrelic_query_last_success_timestamp_seconds{query="well"}': '@0x90',
      }),
    },
    shows: {
      'exporter: State of the queries': {
        'eu well': { State: 0, Rows: 7, 'Last answer': 0 },
        'eu fails': { State: 2, 'Last answer': 1800 },
        'eu empty': { State: 1, Rows: 0, 'Last answer': 0 },
        'eu never': { State: 2 },
      },
      'exporter: Age of the last answer': { 'eu: well': 0, 'eu: fails': 1800, 'eu: empty': 0 },
      'exporter: Rows by query': { 'eu: well': 7, 'eu: fails': Number.NaN, 'eu: empty': 0 },
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
    { at: 50, when: 'in an outage of half an hour', bad: 4 },
    { at: 75, when: 'after an outage of half an hour', bad: 0 },
  ].map(({ at, when, bad }) => ({
    when,
    at,
    series: {
      ...both,
      ...failedPolls(eu, 'eu', 30, 62),
      ...app(eu, 'eu1', { summary_requests_per_minute: '9x90', summary_error_ratio: '0.9x90' }),
      ...failedPolls(us, 'us', 30, 62),
      ...of(eu, {
        'newrelic_exporter_api_request_failures_total{reason="connect"}': '0x30 0+10x30 300x28',
      }),
    },
    shows: {
      ...trouble({ 'Polls failing': bad, 'Values stale': bad }),
      'overview: Throughput now': bad > 0 ? nothing : { now: 1600 },
      'overview: Error ratio now': bad > 0 ? nothing : { now: 0.01 },
      'exporter: Failed calls by reason': { connect: bad > 0 ? 10 : 0 },
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
];
