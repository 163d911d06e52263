import { describe, expect, it } from 'vitest';
import { readDocument } from '../docs/documents.ts';
import { sectionOf } from '../docs/markdown.ts';
import { expressionsIn } from '../docs/promtool-rule.ts';
import { toolOrSkip } from '../support/tools.ts';
import { promtoolComplaint } from './promtool-test.ts';

const promtool = toolOrSkip('promtool');
const section = sectionOf(readDocument('docs/runbook.md').text, 'NewRelicExporterQueryFailing');
const [failing, seconds] = expressionsIn(section);

describe.skipIf(promtool.skip)(`the runbook's queries of failing queries${promtool.note}`, () => {
  it.each([
    { what: 'one that has never succeeded', query: 'never', since: 1800 },
    { what: 'one that succeeded ten minutes ago', query: 'late', since: 600 },
  ])('answer for $what', ({ query, since }) => {
    const series = (metric: string, name: string, values: string) => ({
      series: `newrelic_query_${metric}{account="one",query="${name}"}`,
      values,
    });
    const labels = `{account="one",query="${query}"}`;
    const asked = (expr = '', name = '', value = 0) => ({
      expr: `(${expr}) and on (query) label_replace(vector(1), "query", "${query}", "", "")`,
      eval_time: '30m',
      exp_samples: [{ labels: `${name}${labels}`, value }],
    });

    const complaint = promtoolComplaint(promtool.path, {
      interval: '1m',
      input_series: [
        series('success', 'never', '0x60'),
        series('success', 'late', '1x20 0x40'),
        series('last_success_timestamp_seconds', 'late', '0+60x20 1200x40'),
      ],
      promql_expr_test: [asked(failing, 'newrelic_query_success', 0), asked(seconds, '', since)],
    });

    expect(complaint).toBe('');
  });
});
