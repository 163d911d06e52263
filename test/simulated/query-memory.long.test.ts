import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { collectedBytes } from '../support/collected-bytes.ts';
import { answered, linesOf, queryConfig } from '../support/query-daemon.ts';
import { answerOfRows } from '../support/query-rows.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';

const queries = 10;
const rows = 1000;

/** What a daemon holds for each series of queries whose facets are so long, after so many minutes. */
async function bytesPerSeries(characters: number, minutes: number): Promise<number> {
  const entries = Array.from(
    { length: queries },
    (_, index) =>
      `  - { as: rows_${index}, nrql: SELECT count(*) AS n FROM Event${index} FACET name LIMIT ${rows} }`,
  );
  const config = await queryConfig({ apps: '', queries: entries.join('\n') });
  const before = await collectedBytes();
  const bench = await aRunningDaemon(config, {
    wire: (wire) => ({
      ...wire,
      send: async ({ body = '' }) => answered(answerOfRows(body, rows, characters)),
    }),
  });
  await bench.platform.clock.advance(minutes * minuteMs);
  expect(await linesOf(bench, /^rows_\d+\{/u)).toHaveLength(queries * rows);
  const bytes = (await collectedBytes()) - before;
  expect(bench.daemon.status()[0]?.state).toBe('up');
  return bytes / (queries * rows);
}

describe('10 what queries hold', () => {
  it('follows the number of series, not the length of the texts of the answers', async () => {
    // Once for all that is made only once.
    await bytesPerSeries(250, 1);
    const short = await bytesPerSeries(250, 3);
    const long = await bytesPerSeries(1200, 3);
    const longest = await bytesPerSeries(4000, 3);

    // Label values are cut at 256 characters; the page holds each of them once.
    expect(short).toBeGreaterThan(250);
    expect(short).toBeLessThan(3000);
    expect(long).toBeLessThan(1.2 * short);
    expect(longest).toBeLessThan(1.2 * short);
  });

  it('does not grow with time', async () => {
    await bytesPerSeries(1200, 1);
    const first = await bytesPerSeries(1200, 3);

    expect(await bytesPerSeries(1200, 12)).toBeLessThan(1.1 * first);
  });
});
