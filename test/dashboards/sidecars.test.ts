import { describe, expect, it } from 'vitest';
import { toolOrSkip } from '../support/tools.ts';
import { expressionOf, readDashboards } from './dashboard-files.ts';
import { everything as all, type Choice, filledIn, variableQueryOf } from './grafana.ts';
import { complaint, type Samples, type SeriesInput } from './promtool.ts';

const promtool = toolOrSkip('promtool');
const dashboards = readDashboards();

const shop = 'account="main",app_id="1",app_name="shop"';

const hostRequests = 'newrelic_application_host_requests_per_minute';

function hostSeries(instance: string, type: string): string {
  const host = `host_id="1${instance}",host_name="shop-${instance}"`;
  return `${hostRequests}{job="shop",instance="${instance}",${shop},${host},transaction_type="${type}"}`;
}

function ofInstance(metric: string, instance: string): string {
  return `${metric}{job="shop",instance="${instance}",account="main"}`;
}

/** Three pods, each with the exporter that gives the one host that the pod is; the last one's polls fail. */
const sidecars: Readonly<Record<string, string>> = {
  [hostSeries('a', 'web')]: '100x20',
  [hostSeries('a', 'other')]: '6x20',
  [hostSeries('b', 'web')]: '50x20',
  [hostSeries('c', 'web')]: '30x20',
  ...Object.fromEntries(
    ['a', 'b', 'c'].flatMap((instance) => [
      [`newrelic_exporter_shard{job="shop",instance="${instance}"}`, '0x20'],
      [`newrelic_exporter_total_shards{job="shop",instance="${instance}"}`, '1x20'],
      [ofInstance('newrelic_exporter_polls_total', instance), '0+1x20'],
      [
        ofInstance('newrelic_exporter_polls_failed_total', instance),
        instance === 'c' ? '0+1x20' : '0x20',
      ],
    ]),
  ),
};

function ownSeries(metric: string, labels: string): string {
  return `${metric}{job="newrelic-exporter",instance="s",${labels}}`;
}

/** One more exporter, which gives the application and, as the vendor has it, a fourth host. */
function standalone(app: string): Readonly<Record<string, string>> {
  const requests = 'newrelic_application_requests_per_minute';
  return {
    [ownSeries(requests, `${app},transaction_type="web"`)]: '200x20',
    [ownSeries(requests, `${app},transaction_type="other"`)]: '6x20',
    [ownSeries('newrelic_application_info', `${app},language="java"`)]: '1x20',
    [ownSeries('newrelic_application_hosts', app)]: '4x20',
  };
}

const beside = { ...sidecars, ...standalone(shop) };
const renamed = {
  ...sidecars,
  ...standalone('account="main",app_id="1",app_name="the shop"'),
};

/** The exporter of the application publishes a host too, as its own sum never does. */
const withHosts = {
  ...beside,
  [ownSeries(hostRequests, `${shop},host_id="9",host_name="nine",transaction_type="web"`)]: '9x20',
};
/** It has another application, of which it publishes nothing but a host. */
const bakery = 'account="main",app_id="2",app_name="bakery"';
const mixed = {
  ...withHosts,
  [ownSeries(hostRequests, `${bakery},host_id="8",host_name="eight",transaction_type="web"`)]:
    '4x20',
};

/** What Grafana fills in for the exporters that the variable finds. */
const none: Choice = all;
const standaloneOnly: Choice = { ...all, whole_exporters: 's' };

const wholeExporters = dashboards.flatMap(({ templating }) =>
  templating.list.filter(({ name }) => name === 'whole_exporters'),
);

const cases: readonly {
  readonly who: string;
  /** The exporters that the variable `whole_exporters` has. */
  readonly whole: Choice;
  readonly series: Readonly<Record<string, string>>;
  readonly shows: Readonly<Record<string, Samples>>;
}[] = [
  {
    who: 'three sidecars alone',
    whole: none,
    series: sidecars,
    shows: {
      'overview: Throughput A': { '{}': 186 },
      'overview: Applications published A': { '{}': 1 },
      'overview: Hosts A': { '{}': 3 },
      'overview: Web and other transactions A': {
        '{transaction_type="web"}': 180,
        '{transaction_type="other"}': 6,
      },
      'overview: Applications E': { [`{${shop}}`]: 186 },
      'overview: Applications F': { [`{${shop}}`]: 3 },
      'application: Throughput A': { '{}': 186 },
      'application: Hosts with traffic A': { '{}': 3 },
      'application: Throughput of the busiest hosts A': {
        [`{${shop},host_id="1a",host_name="shop-a"}`]: 106,
        [`{${shop},host_id="1b",host_name="shop-b"}`]: 50,
        [`{${shop},host_id="1c",host_name="shop-c"}`]: 30,
      },
      'application: Throughput in the summary B': { '{}': 186 },
      'exporter: Shards missing A': { '{}': 0 },
      'exporter: Failed polls by exporter A': {
        '{job="shop",instance="a",account="main"}': 0,
        '{job="shop",instance="b",account="main"}': 0,
        '{job="shop",instance="c",account="main"}': 1,
      },
    },
  },
  {
    who: 'three sidecars beside an exporter of the application',
    whole: standaloneOnly,
    series: beside,
    shows: {
      'overview: Throughput A': { '{}': 206 },
      'overview: Applications published A': { '{}': 1 },
      'overview: Hosts A': { '{}': 4 },
      'application: Throughput A': { '{}': 206 },
      'application: Hosts with traffic A': { '{}': 3 },
      'application: Application and sum of its hosts A': { '{}': 206 },
      'application: Application and sum of its hosts B': { '{}': 186 },
    },
  },
  {
    who: 'three sidecars that do not know the new name of the application yet',
    whole: standaloneOnly,
    series: renamed,
    shows: {
      'overview: Throughput A': { '{}': 206 },
      'overview: Applications published A': { '{}': 1 },
      'overview: Hosts A': { '{}': 4 },
    },
  },
  {
    who: 'three sidecars beside an exporter of the application and its hosts',
    whole: standaloneOnly,
    series: withHosts,
    shows: {
      'overview: Throughput A': { '{}': 206 },
      'overview: Applications published A': { '{}': 1 },
      'overview: Hosts A': { '{}': 4 },
    },
  },
  {
    who: 'an exporter of one application and of nothing but a host of another',
    whole: none,
    series: mixed,
    shows: {
      'overview: Throughput A': { '{}': 210 },
      'overview: Applications published A': { '{}': 2 },
      'overview: Hosts A': { '{}': 5 },
    },
  },
];

describe.skipIf(promtool.skip)(`the dashboards of sidecars${promtool.note}`, () => {
  /** What promtool says against these samples after a minute. */
  const against = (series: SeriesInput, expr: string, samples: Samples): string =>
    complaint(promtool.path, { series, expr, samples, at: '1m', interval: '5s' });

  const shown = cases.flatMap(({ who, series, whole, shows }) =>
    Object.entries(shows).map(([where, samples]) => ({ who, series, whole, where, samples })),
  );

  it.each(shown)('show of $who in $where: $samples', ({ series, whole, where, samples }) => {
    expect(against(series, filledIn(expressionOf(where), whole), samples)).toBe('');
  });

  it.each(cases)('leave out no exporter of $who that may be a sidecar', ({ series, whole }) => {
    const found: Samples = whole === none ? {} : { '{instance="s"}': 1 };

    expect(wholeExporters.length).toBe(dashboards.length);
    for (const variable of wholeExporters) {
      const { expression } = variableQueryOf(variable);

      expect(against(series, filledIn(expression, all), found)).toBe('');
    }
  });

  it('leave out no exporter that was a sidecar a week ago, for the lines of last week', () => {
    const series = {
      ...standalone(shop),
      [`${hostRequests}{job="shop",instance="b",${bakery},host_id="8",host_name="eight"}`]: '4x200',
      [`newrelic_application_info{job="shop",instance="b",${bakery}}`]: '_x9 1x200',
    };
    const [variable] = wholeExporters;
    if (variable === undefined) throw new Error('There is no such variable');
    const question = {
      series: Object.fromEntries(
        Object.entries(series).map(([name, values]) => [name, values.replace(/x20$/, 'x200')]),
      ),
      expr: filledIn(variableQueryOf(variable).expression, all),
      samples: { '{instance="s"}': 1 },
      interval: '1h',
    };

    expect(complaint(promtool.path, { ...question, at: '7d' })).toBe('');
  });

  it.each([
    { name: 'app', samples: { '{app_id="1",text="shop · main · 1"}': 1 } },
    {
      name: 'transaction_type',
      samples: { '{transaction_type="other"}': 1, '{transaction_type="web"}': 1 },
    },
  ])('offer for the variable $name what only sidecars export', ({ name, samples }) => {
    for (const { templating } of dashboards.filter((one) => one.name !== 'exporter')) {
      const variable = templating.list.find((one) => one.name === name);
      if (variable === undefined) throw new Error(`There is no variable ${name}`);
      const { label, expression } = variableQueryOf(variable);
      const asked = filledIn(expression, all);
      const values = label === undefined ? asked : `group by (${label}) (${asked})`;

      expect(against(sidecars, values, samples)).toBe('');
    }
  });

  it('would be found to show something else', () => {
    const text = against(sidecars, filledIn(expressionOf('overview: Throughput A'), all), {
      '{}': 187,
    });

    expect(text).toContain('FAILED');
  });
});
