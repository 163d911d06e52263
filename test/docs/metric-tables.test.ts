import { describe, expect, it } from 'vitest';
import { transactionTypes } from '../../src/model/application.ts';
import { seriesOf } from '../../src/model/polled-series.ts';
import { presetNames } from '../../src/model/presets.ts';
import { valueNames } from '../../src/model/vendor-value.ts';
import { functionTexts, nrqlValueOf } from '../../src/newrelic/nerdgraph/nrql-values.ts';
import { readDocument } from './documents.ts';
import { codeWordsIn, rowsWith } from './markdown.ts';
import { metricTables, nrqlOfValues, withTables } from './metric-tables.ts';

/** As it is once it is written anew, which the first test does with "-u". */
const text = withTables(readDocument('docs/metrics.md').text, metricTables());

/** What stands in backticks in a column of the tables that have these columns. */
function wordsOf(column: string, ...others: readonly string[]): readonly string[] {
  return rowsWith(text, [column, ...others]).flatMap((row) => codeWordsIn(row[column] ?? ''));
}

describe('the tables of docs/metrics.md that are written from the code', () => {
  it('are up to date (write them anew with "npx vitest run test/docs/metric-tables.test.ts -u")', async () => {
    await expect(text).toMatchFileSnapshot('../../docs/metrics.md');
  });

  it('name every gauge of every preset, with what New Relic is asked for', () => {
    const series = seriesOf(presetNames, transactionTypes);
    const rows = rowsWith(text, ['metric', 'preset', "New Relic's metric", 'value']);
    const asked = rows.flatMap((row) =>
      codeWordsIn(row["New Relic's metric"]).map((metric) =>
        [row.preset, row.metric, metric, row.value].join(' '),
      ),
    );

    expect(asked).toEqual(
      series.map(
        ({ preset, gauge, metric, value }) =>
          `\`${preset}\` \`${gauge.name}\` ${metric} \`${value}\``,
      ),
    );
  });

  it('name every value once', () => {
    const words = wordsOf('value', 'New Relic states');

    expect(words.toSorted()).toEqual([...valueNames].toSorted());
  });
});

describe('the NRQL of docs/metrics.md', () => {
  /** What NerdGraph would answer: a function of the timeslices, perhaps as a rate, perhaps in MiB. */
  const written = /^(rate\()?(.+?)(?:, 1 (minute|second)\))?( \* 1048576)?$/u;
  const windowSeconds = 300;

  it.each(valueNames.filter((value) => value !== 'score').map((value) => ({ value })))(
    'gives the same $value as the columns that NerdGraph is asked for',
    ({ value }) => {
      const [, , asked = '', unit, mebibytes] = written.exec(nrqlOfValues[value]) ?? [];
      const { functions, valueOf } = nrqlValueOf({ metric: 'Custom/any', value });
      const [first = 'count'] = functions;
      const seconds = unit === 'minute' ? 60 : 1;
      const share = unit === undefined ? 1 : seconds / windowSeconds;

      expect(functionTexts[first].replaceAll('newrelic.timeslice.value', 'v')).toBe(asked);
      expect(valueOf([600, 1], windowSeconds)).toBeCloseTo(
        600 * share * (mebibytes === undefined ? 1 : 1024 * 1024),
      );
    },
  );

  it('says of which metric "percent" is a share of the time', () => {
    const { functions } = nrqlValueOf({ metric: 'CPU/User Time', value: 'percent' });

    expect(functions).toEqual(['sum']);
    expect(text.replaceAll('\n', ' ')).toContain(
      '`percent` of `CPU/User Time` is a share of one core: `rate(sum(v), 1 second)`',
    );
  });
});
