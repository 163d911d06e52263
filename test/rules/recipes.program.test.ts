import { describe, expect, it } from 'vitest';
import { readDocument } from '../docs/documents.ts';
import { sectionOf } from '../docs/markdown.ts';
import { expressionsIn } from '../docs/promtool-rule.ts';
import { toolOrSkip } from '../support/tools.ts';
import { type PromtoolTest, promtoolComplaint } from './promtool-test.ts';

const promtool = toolOrSkip('promtool');
const recipes = expressionsIn(sectionOf(readDocument('docs/metrics.md').text, 'Averages'));

const labelsOf = (app: string, type: string, host = ''): string =>
  `{account="main",app_id="${app}",app_name="shop ${app}",transaction_type="${type}"${host}}`;
const ofApp = (app: string): string => `{account="main",app_id="${app}",app_name="shop ${app}"}`;
const host = (id: string): string => `,host_id="${id}",host_name="web-${id}"`;
const series = (name: string, labels: string, values: string): PromtoolTest['input_series'][0] => ({
  series: `newrelic_application_${name}${labels}`,
  values,
});
const always = (value: number): string => `${value}x200`;

/** One value an hour. Application 2 has no background transactions, so these have no average. */
const input: PromtoolTest['input_series'] = [
  series('requests_per_minute', labelsOf('1', 'web'), always(96)),
  series('requests_per_minute', labelsOf('1', 'other'), always(32)),
  series('requests_per_minute', labelsOf('2', 'web'), always(64)),
  series('requests_per_minute', labelsOf('2', 'other'), always(0)),
  // Twice as slow as a week ago.
  series('response_time_seconds', labelsOf('1', 'web'), '0.125x170 0.25x30'),
  series('response_time_seconds', labelsOf('1', 'other'), always(0.5)),
  series('response_time_seconds', labelsOf('2', 'web'), always(0.5)),
  series('host_requests_per_minute', labelsOf('1', 'web', host('1')), always(64)),
  series('host_requests_per_minute', labelsOf('1', 'web', host('2')), always(16)),
  series('host_response_time_seconds', labelsOf('1', 'web', host('1')), always(0.125)),
  series('host_response_time_seconds', labelsOf('1', 'web', host('2')), always(1)),
  series('errors_per_minute', labelsOf('1', 'web'), always(24)),
  series('errors_per_minute', labelsOf('2', 'other'), always(0)),
  series('database_calls_per_minute', labelsOf('1', 'web'), always(192)),
  series('database_response_time_seconds', labelsOf('1', 'web'), always(0.0625)),
];

interface Sample {
  readonly labels: string;
  readonly value: number;
}

const perType: readonly Sample[] = [
  { labels: labelsOf('1', 'other'), value: 0.5 },
  { labels: labelsOf('1', 'web'), value: 0.25 },
  { labels: labelsOf('2', 'web'), value: 0.5 },
];

/** What each recipe gives of these, in the order of the document. */
const cases: readonly { readonly what: string; readonly samples: readonly Sample[] }[] = [
  {
    what: 'weights both transaction types of an application',
    samples: [
      { labels: ofApp('1'), value: (96 * 0.25 + 32 * 0.5) / 128 },
      { labels: ofApp('2'), value: 0.5 },
    ],
  },
  {
    what: 'weights hosts',
    samples: [{ labels: labelsOf('1', 'web'), value: (64 * 0.125 + 16) / 80 }],
  },
  {
    what: 'weights all applications',
    samples: [{ labels: '{}', value: (96 * 0.25 + 32 * 0.5 + 64 * 0.5) / 192 }],
  },
  { what: 'weights an average over a time', samples: perType },
  {
    what: 'gives the share of errors, and none without requests',
    samples: [{ labels: labelsOf('1', 'web'), value: 0.25 }],
  },
  {
    what: 'gives the share of the time in the database',
    samples: [{ labels: labelsOf('1', 'web'), value: 0.5 }],
  },
  {
    what: 'finds what is slower than a week ago',
    samples: [
      { labels: `newrelic_application_response_time_seconds${labelsOf('1', 'web')}`, value: 0.25 },
    ],
  },
  {
    what: 'finds hosts that are slower than their application',
    samples: [
      {
        labels: `newrelic_application_host_response_time_seconds${labelsOf('1', 'web', host('2'))}`,
        value: 1,
      },
    ],
  },
  {
    what: 'gives the requests in progress',
    samples: [
      { labels: labelsOf('1', 'other'), value: (32 * 0.5) / 60 },
      { labels: labelsOf('1', 'web'), value: (96 * 0.25) / 60 },
      { labels: labelsOf('2', 'web'), value: (64 * 0.5) / 60 },
    ],
  },
];

const complaintAbout = (expr: string, samples: readonly Sample[]): string => {
  const asked = [{ expr, eval_time: '190h', exp_samples: samples }];
  return promtoolComplaint(promtool.path, {
    interval: '1h',
    input_series: input,
    promql_expr_test: asked,
  });
};

describe.skipIf(promtool.skip)(
  `the recipes for averages in docs/metrics.md${promtool.note}`,
  () => {
    it('are those that are tried', () => {
      expect(recipes).toHaveLength(cases.length);
    });

    it.each(cases.map((one, index) => ({ ...one, recipe: recipes[index] ?? '' })))(
      'one $what',
      ({ recipe, samples }) => {
        expect(complaintAbout(recipe, samples)).toBe('');
      },
    );

    it('differ from an average of averages', () => {
      const naive = 'avg(newrelic_application_response_time_seconds)';
      const weighted = cases[2]?.samples ?? [];

      expect(complaintAbout(naive, weighted)).toContain('got');
    });
  },
);
