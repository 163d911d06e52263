import { describe, expect, it } from 'vitest';
import { transactionTypes } from '../../src/model/application.ts';
import { seriesOf } from '../../src/model/polled-series.ts';
import { presetNames } from '../../src/model/presets.ts';
import { valueNames } from '../../src/model/vendor-value.ts';
import { readDocument } from './documents.ts';
import { codeWordsIn, rowsWith } from './markdown.ts';
import { metricTables, withTables } from './metric-tables.ts';

const { text } = readDocument('docs/metrics.md');

/** What stands in backticks in a column of the tables that have these columns. */
function wordsOf(column: string, ...others: readonly string[]): readonly string[] {
  return rowsWith(text, [column, ...others]).flatMap((row) => codeWordsIn(row[column] ?? ''));
}

describe('the tables of docs/metrics.md that are written from the code', () => {
  it('are up to date (write them anew with "npx vitest run test/docs/metric-tables -u")', async () => {
    await expect(withTables(text, metricTables())).toMatchFileSnapshot('../../docs/metrics.md');
  });

  it('name every gauge of every preset, with what New Relic is asked for', () => {
    const series = seriesOf(presetNames, transactionTypes);
    const gauges = [...new Set(series.map(({ gauge }) => gauge))];
    const rows = rowsWith(text, ['preset', 'gauge of applications', "New Relic's metric", 'value']);
    const asked = rows.flatMap((row) =>
      codeWordsIn(row["New Relic's metric"]).map((metric) =>
        [row.preset, row['gauge of applications'], metric, row.value].join(' '),
      ),
    );

    expect(asked).toEqual(
      series.map(
        ({ preset, gauge, metric, value }) =>
          `\`${preset}\` \`${gauge.name}\` ${metric} \`${value}\``,
      ),
    );
    expect(wordsOf('metric', 'type')).toEqual(
      expect.arrayContaining(gauges.flatMap(({ name, hostName }) => [name, hostName])),
    );
  });

  it('name every value once', () => {
    const words = wordsOf('value', 'New Relic states');

    expect(words.toSorted()).toEqual([...valueNames].toSorted());
  });
});

describe('withTables', () => {
  const marked = (inner: string): string =>
    `Before.\n<!-- begin: a -->\n${inner}<!-- end: a -->\nAfter.\n`;

  it('replaces what stands between the markers, and nothing else', () => {
    expect(withTables(marked('\nold\n\n'), new Map([['a', 'new\n']]))).toBe(marked('\nnew\n\n'));
  });

  it.each(['', marked('') + marked(''), '<!-- begin: a -->\n'])('refuses %j', (document) => {
    expect(() => withTables(document, new Map([['a', 'new\n']]))).toThrow('"a"');
  });
});
