import { describe, expect, it } from 'vitest';
import { toolOrSkip } from '../support/tools.ts';
import { expressionOf } from './dashboard-files.ts';
import { everything, filledIn } from './grafana.ts';
import { complaint, type Samples, type SeriesInput } from './promtool.ts';

const promtool = toolOrSkip('promtool');

/** One exporter with one account of two applications, polled each minute. `lives` ends its series. */
function exporter(instance: string, account: string, lives = '1x90'): SeriesInput {
  const labels = `job="e",instance="${instance}"`;
  const ofAccount = `${labels},account="${account}"`;
  const app = (id: string): string => `${ofAccount},app_id="${account}${id}",app_name="same name"`;
  const repeated = (value: number): string => lives.replace('1x', `${value}x`);
  const polled = lives.replace('1x', '0+60x');
  return {
    [`up{${labels}}`]: lives === '1x90' ? '1x90' : '1x30 0x60',
    [`newrelic_exporter_build_info{${labels}}`]: lives,
    [`newrelic_up{${ofAccount}}`]: lives,
    [`newrelic_exporter_poll_interval_seconds{${ofAccount}}`]: repeated(60),
    ...Object.fromEntries(
      ['1', '2'].flatMap((id) => [
        [`newrelic_application_info{${app(id)},language="java"}`, lives],
        [`newrelic_application_poll_success{${app(id)}}`, lives],
        [`newrelic_application_last_success_timestamp_seconds{${app(id)}}`, polled],
        [`newrelic_application_reporting{${app(id)}}`, lives],
        [
          `newrelic_application_health_status{${app(id)},status="green"}`,
          repeated(id === '1' ? 1 : 0),
        ],
        [
          `newrelic_application_health_status{${app(id)},status="red"}`,
          repeated(id === '2' ? 1 : 0),
        ],
        [
          `newrelic_application_requests_per_minute{${app(id)},transaction_type="web"}`,
          repeated(10),
        ],
      ]),
    ),
  };
}

const down = '1x30 stale';
const both = { ...exporter('a', 'eu'), ...exporter('b', 'us') };
const bFailing = 'job="e",instance="b",account="us"';
const cases: readonly {
  readonly when: string;
  readonly series: SeriesInput;
  readonly shows: Readonly<Record<string, Samples>>;
}[] = [
  {
    when: 'all is well',
    series: both,
    shows: {
      'Exporters down': { '{}': 0 },
      'Accounts failing': { '{}': 0 },
      'Polls failing': { '{}': 0 },
      'Values stale': { '{}': 0 },
    },
  },
  {
    when: 'one of two exporters is down',
    series: { ...exporter('a', 'eu'), ...exporter('b', 'us', down) },
    shows: {
      'Exporters down': { '{}': 1 },
      'Accounts failing': { '{}': 1 },
      'Polls failing': { '{}': 0 },
      'Values stale': { '{}': 2 },
    },
  },
  {
    when: 'all exporters are down',
    series: { ...exporter('a', 'eu', down), ...exporter('b', 'us', down) },
    shows: {
      'Exporters down': { '{}': 2 },
      'Accounts failing': { '{}': 2 },
      // Nothing is known, which is no 0.
      'Polls failing': {},
      'Values stale': { '{}': 4 },
    },
  },
  {
    when: 'one of two exporters of the same account is down',
    series: { ...exporter('a', 'eu'), ...exporter('b', 'eu', down) },
    shows: {
      'Exporters down': { '{}': 1 },
      'Accounts failing': { '{}': 0 },
      'Values stale': { '{}': 0 },
    },
  },
  {
    when: 'a pod has been replaced',
    series: {
      ...exporter('a', 'eu'),
      ...exporter('b', 'us', down),
      'up{job="e",instance="b"}': '1x30 stale',
    },
    shows: {
      'Exporters down': { '{}': 0 },
      'Accounts failing': { '{}': 0 },
      'Values stale': { '{}': 0 },
    },
  },
  {
    when: 'Prometheus has lost every exporter',
    series: { ...exporter('a', 'eu', down), 'up{job="e",instance="a"}': '1x30 stale' },
    shows: {
      'Exporters down': {},
      'Accounts failing': {},
      'Polls failing': {},
      'Values stale': {},
    },
  },
  {
    when: 'the key of an account is refused',
    series: {
      ...both,
      [`newrelic_up{${bFailing}}`]: '1x30 0x60',
      ...Object.fromEntries(
        ['1', '2'].flatMap((id) => {
          const app = `${bFailing},app_id="us${id}",app_name="same name"`;
          return [
            [`newrelic_application_poll_success{${app}}`, '1x30 0x60'],
            [`newrelic_application_last_success_timestamp_seconds{${app}}`, '0+60x30 1800x60'],
          ];
        }),
      ),
    },
    shows: {
      'Exporters down': { '{}': 0 },
      'Accounts failing': { '{}': 1 },
      'Polls failing': { '{}': 2 },
      'Values stale': { '{}': 2 },
    },
  },
];

const shown = cases.flatMap(({ when, series, shows }) =>
  Object.entries(shows).flatMap(([tile, samples]) =>
    ['overview', 'application', 'exporter'].map((name) => ({
      when,
      series,
      where: `${name}: ${tile} A`,
      samples,
    })),
  ),
);

describe.skipIf(promtool.skip)(`the first row of every dashboard${promtool.note}`, () => {
  const against = (series: SeriesInput, where: string, samples: Samples): string =>
    complaint(promtool.path, {
      expr: filledIn(expressionOf(where), everything),
      series,
      samples,
      at: '1h',
      interval: '1m',
    });

  it.each(shown)('shows when $when in $where: $samples', ({ series, where, samples }) => {
    expect(against(series, where, samples)).toBe('');
  });

  it('names with the worst health two applications of one name in an account', () => {
    const health = {
      '{account="eu",app_id="eu2",app_name="same name"}': 4,
    };

    expect(against(exporter('a', 'eu'), 'overview: Unhealthy applications A', health)).toBe('');
  });

  it('leads to a table that still names the applications of an exporter that is down', () => {
    const stale = {
      '{account="us",app_id="us1",app_name="same name"}': 2,
      '{account="us",app_id="us2",app_name="same name"}': 2,
    };

    expect(against(exporter('b', 'us', down), 'overview: Applications B', stale)).toBe('');
  });

  it('leads to a table that still names the account of an exporter that is down', () => {
    const up = { '{account="eu"}': 1, '{account="us"}': 0 };
    const series = { ...exporter('a', 'eu'), ...exporter('b', 'us', down) };

    expect(against(series, 'overview: Accounts A', up)).toBe('');
  });

  it('would be found to show something else', () => {
    expect(against(both, 'overview: Exporters down A', { '{}': 1 })).toContain('FAILED');
  });
});
