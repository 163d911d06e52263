import { describe, expect, it } from 'vitest';
import type { Intercept, SimulatorOptions } from '../../../src/simulator/simulator-options.ts';
import { eachAfter, slow } from '../../support/slow.ts';
import { accountOf, backfilled, pageAt, pageOf } from './backfill-bench.ts';

const fileOf = (nrql: string, more = ''): string =>
  `${accountOf('nerdgraph')}queries: [{ as: gauge, nrql: "${nrql}"${more} }]\n`;
const options = { fleet: { applications: 3, hosts: 8, churnPerHour: 6 }, ingestDelayMs: 0 };
const [from, to] = ['2026-08-31T22:00:00Z', '2026-09-01T08:00:00Z'];
const flags = [`--from=${from}`, `--to=${to}`];
const times = [from, '2026-09-01T01:17:00Z', '2026-09-01T03:59:00Z', '2026-09-01T04:00:00Z', to];

describe('backfill of a query', () => {
  eachAfter(1, [
    {
      what: 'more groups than LIMIT, a few at a time',
      nrql: 'count(*) FROM Transaction FACET host LIMIT 12',
    },
    {
      what: 'more groups than LIMIT, now and then',
      nrql: 'max(duration) FROM TransactionError FACET host, name LIMIT 40',
    },
    {
      what: 'less series than max_series',
      nrql: 'count(*) FROM Transaction FACET host LIMIT MAX',
      more: ', max_series: 50',
    },
    {
      what: 'more series than max_series',
      nrql: 'count(*) FROM Transaction FACET host LIMIT MAX',
      more: ', max_series: 3',
    },
    {
      what: 'more series than max_series, sorted by a percentile',
      nrql: 'percentile(duration, 90) FROM Transaction FACET host LIMIT 100',
      more: ', max_series: 3',
    },
    {
      what: 'more series than max_series, sorted by events',
      nrql: 'sum(duration) FROM Transaction FACET host LIMIT 100',
      more: ', max_series: 3',
    },
  ])('shows the groups of each window: $what', async ({ nrql, more = '' }) => {
    const file = fileOf(`SELECT ${nrql}`, more);
    const { exitCode, output, stderr } = await backfilled({ file, options, flags });

    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    for (const time of times) {
      const page = (await pageOf(file, options, time)).filter((line) => line.startsWith('gauge{'));

      expect(page.length).toBeGreaterThan(2);
      expect(pageAt(output, time)).toEqual(page);
    }
  });

  it('takes as many calls as it has rows, not as LIMIT allows', slow, async () => {
    const few = { ...options, fleet: { applications: 2, hosts: 4 } };
    const callsOf = async (nrql: string, of: SimulatorOptions = few): Promise<number> =>
      (await backfilled({ file: fileOf(nrql), options: of, flags })).calls;

    expect(await callsOf('SELECT count(*) FROM Transaction FACET appName LIMIT MAX')).toBe(3);
    expect(await callsOf('SELECT count(*) FROM Transaction FACET appName LIMIT 2')).toBe(4);
    expect(await callsOf('SELECT count(*) FROM Transaction')).toBe(2);
    expect(
      await callsOf('SELECT count(*) FROM Transaction FACET host LIMIT MAX', {
        ...few,
        fleet: { applications: 10, hosts: 100 },
      }),
    ).toBeLessThanOrEqual(1 + Math.ceil(601 / 50));
  });

  /** Changes the rows of each answer with TIMESERIES. */
  const answering =
    (change: (rows: readonly object[]) => readonly object[]): Intercept =>
    () =>
    (answer) => {
      const document: unknown = JSON.parse(answer.body, (name, value: unknown): unknown =>
        name === 'results' && Array.isArray(value) && value[0]?.beginTimeSeconds !== undefined
          ? change(value)
          : value,
      );
      return { ...answer, body: JSON.stringify(document) };
    };
  const begin = Date.parse('2026-09-01T01:00:00Z') / 1000;
  const isFirst = (row: object, _: number, [first = {}]: readonly object[]): boolean =>
    Reflect.get(row, 'facet') === Reflect.get(first, 'facet');

  eachAfter(0, [
    { what: 'all rows', facet: ' FACET host LIMIT 50', change: () => [], says: 'adds up to 0 of' },
    {
      what: 'a group',
      facet: ' FACET host LIMIT 50',
      change: (rows: readonly object[]) => rows.filter((...one) => !isFirst(...one)),
      says: 'adds up to',
    },
    {
      what: 'a group in one window',
      facet: ' FACET host LIMIT 50',
      change: (rows: readonly object[]) =>
        rows.filter(
          (...one) => !isFirst(...one) || Reflect.get(one[0], 'beginTimeSeconds') !== begin,
        ),
      says: 'adds up to',
    },
    { what: 'its only row', facet: '', change: () => [], says: 'the answer has no row' },
  ])('11.1 does not believe an answer that lacks $what', async ({ facet, change, says }) => {
    const { exitCode, output, stderr } = await backfilled({
      file: fileOf(`SELECT count(*) FROM Transaction${facet}`),
      options: { ...options, intercept: answering(change) },
      flags,
    });

    expect(stderr).toContain(says);
    expect({ exitCode, output }).toEqual({ exitCode: 1, output: undefined });
  });
});
