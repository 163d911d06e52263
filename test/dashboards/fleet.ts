/** Samples of series, one each minute from the beginning of a situation; see `samplesOf`. */
export type SeriesInput = Readonly<Record<string, string>>;

export const web = '{transaction_type="web"}';
export const other = '{transaction_type="other"}';

/** Series with these labels, before those that their own names have. */
export function of(labels: string, values: SeriesInput): SeriesInput {
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
export function app(labels: string, id: string, values: SeriesInput): SeriesInput {
  return of(
    `${labels},app_id="${id}",app_name="app ${id}"`,
    prefixed('newrelic_application_', values),
  );
}

/** As all is well: 400 requests a minute, 1 % errors, 0.8 s on average. */
export function healthy(minutes: number): SeriesInput {
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

export function exporterLabels(instance: string, labels = ''): string {
  return `${labels}job="nr",instance="${instance}"`;
}

/** One exporter with one account of two applications, polled each minute. */
export function exporter(
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
    ...bothApps(ofAccount, account, healthy(minutes)),
  };
}

export const eu: string = `${exporterLabels('a')},account="eu"`;
export const us: string = `${exporterLabels('b')},account="us"`;
export const both: SeriesInput = { ...exporter('a', 'eu'), ...exporter('b', 'us') };

/** The applications that each exporter has. */
export function bothApps(labels: string, account: string, values: SeriesInput): SeriesInput {
  return { ...app(labels, `${account}1`, values), ...app(labels, `${account}2`, values) };
}

/** Polls of an account that fail from one minute to another, and what is dropped after four minutes. */
export function failedPolls(
  labels: string,
  account: string,
  from: number,
  to: number,
): SeriesInput {
  const gap = (value: number): string =>
    `${value}x${from + 3} _x${to - from - 5} ${value}x${90 - to}`;
  const stopped = `@0+60x${from} @${from * 60}x${to - from - 2} @${to * 60}+60x${90 - to}`;
  return bothApps(labels, account, {
    poll_success: `1x${from} 0x${to - from - 2} 1x${90 - to}`,
    last_success_timestamp_seconds: stopped,
    [`requests_per_minute${web}`]: gap(100),
    [`requests_per_minute${other}`]: gap(300),
  });
}

/** A host and what it serves, from one minute to another. */
export function host(instance: string, name: string, values: SeriesInput): SeriesInput {
  const labels = `${exporterLabels(instance)},account="eu",app_id="eu1",app_name="app eu1",host_id="1${name.replace('"', '')}",host_name=${JSON.stringify(name)}`;
  return of(labels, prefixed('newrelic_application_host_', values));
}

/** Sidecars, each with its host; what "b" needs for other transactions is not known, "c" is idle. */
export const sidecars: SeriesInput = {
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
  ...of(`${exporterLabels('b')},account="eu"`, {
    newrelic_up: '1x90',
    newrelic_exporter_polls_total: '0+1x90',
    newrelic_exporter_polls_failed_total: '0+1x90',
  }),
};
/** One more exporter, of the application itself, under a name that the sidecars do not know yet. */
export const itself: SeriesInput = app(`${exporterLabels('s')},account="eu"`, 'eu1', {
  'info{language="java"}': '1x90',
  [`requests_per_minute${web}`]: '200x90',
  [`requests_per_minute${other}`]: '5x90',
  hosts: '4x90',
});
export const renamed: SeriesInput = Object.fromEntries(
  Object.entries(itself).map(([name, values]) => [name.replace('app eu1', 'new name'), values]),
);
/** It has another application, of which it publishes nothing but a host. */
export const loneHost: SeriesInput = of(
  `${exporterLabels('s')},account="eu",app_id="eu2",app_name="app eu2",host_id="9",host_name="nine"`,
  { [`newrelic_application_host_requests_per_minute${web}`]: '4x90' },
);

/** Characters with a meaning of their own somewhere on the way. */
export const oddNames: readonly string[] =
  String.raw`say "hi"|a\b|$x|\${app}|.*|a,b|a&b|a+b|#1|50%|ü|日本|o'neil|{x}|[x]|(x)|a/b|a b|^a$|?|a=b|%7C`.split(
    '|',
  );
/** Each is the name of an account, of its application and of the host, with as many requests as its number. */
export const oddlyNamed: SeriesInput = Object.fromEntries(
  oddNames.flatMap((name, index) => {
    const text = JSON.stringify(name);
    // Grafana does not escape a quote, and no account may be called so.
    const account = `${exporterLabels('a')},account=${text.replaceAll(String.raw`\"`, '')}`;
    const labels = `${account},app_id="${index + 1}",app_name=${text}`;
    const requests = `${index + 1}x90`;
    return [
      [`newrelic_up{${account}}`, '1x90'],
      [`newrelic_application_info{${labels}}`, '1x90'],
      [`newrelic_application_requests_per_minute{${labels},transaction_type="web"}`, requests],
      [
        `newrelic_application_host_requests_per_minute{${labels},host_id="1${index + 1}",host_name=${text},transaction_type="web"}`,
        requests,
      ],
    ];
  }),
);

type Row = Readonly<Record<string, number>>;

/** What a panel shows: its one number, or numbers by names; of a table the cells of each row. */
export type Shown = number | Readonly<Record<string, number | Row>>;

export interface Situation {
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

export const nothing: Row = {};
export const wellAccount: Row = {
  Up: 1,
  Applications: 2,
  'Polls failing': 0,
  'Values stale': 0,
  'Oldest poll': 0,
  'Calls failing': 0,
  'Pause after 429': 0,
  Unmatched: 0,
};
export const wellApp: Row = {
  Poll: 0,
  Health: 2,
  Reporting: 1,
  Throughput: 400,
  Response: 0.8,
  Errors: 0.01,
  Apdex: 0.9,
  Age: 60,
};

export const wellApps: Readonly<Record<string, Row>> = {
  'eu eu1': wellApp,
  'eu eu2': wellApp,
  'us us1': wellApp,
  'us us2': wellApp,
};

export function firing(alert: string, labels: string): string {
  return `ALERTS{alertname="NewRelicApplication${alert}",alertstate="firing",${labels},account="eu",app_id="eu1",app_name="app eu1"}`;
}
