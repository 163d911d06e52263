import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/load-config.ts';
import { goldenQueriesYaml } from '../../../src/tools/discover/golden-queries.ts';
import type { GoldenMetric } from '../../../src/tools/survey/golden-metrics.ts';

const account = '{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY, account_id: 1234567';
const accounts = `accounts: [${account}, source: nerdgraph }]`;
const place = { fileName: 'c.yaml', directory: '/' };

const golden: GoldenMetric = {
  name: 'load',
  title: 'Load',
  unit: 'COUNT',
  select: 'average(load)',
  from: 'Sample',
  where: '',
  facet: '',
  eventId: 'entityGuid',
};

async function written(
  metrics: readonly Partial<GoldenMetric>[],
  reporting = 3,
): Promise<{
  readonly text: string;
  readonly warnings: readonly unknown[];
  readonly queries: readonly (readonly [string, string])[];
}> {
  const filled = metrics.map((metric) => ({ ...golden, ...metric }));
  const all = [...new Map(filled.map((one) => [JSON.stringify(one), one])).values()];
  const entities = { account: 'main', domain: 'EXT', type: 'X', reporting, metrics: all };
  const text = await goldenQueriesYaml('EXT-X', [entities], false);
  const file = text.includes('queries: []') ? `${text}apps: [{ match: "." }]\n` : text;
  const { config, warnings } = await parseConfig(`${accounts}\n${file}`, place);
  const queries = config.queries ?? [];
  return {
    text,
    warnings,
    queries: queries.map((one) => [one.gauges[0]?.name ?? '', one.nrql] as const),
  };
}

describe('the query of a golden metric', () => {
  it.each([
    [{ unit: 'SECONDS' }, 'ext_x_load_seconds', 'average(load)'],
    [{ unit: 'MS', name: 'loadMs' }, 'ext_x_load_seconds', 'average(load) / 1000'],
    [{ unit: 'MS', select: 'max(a) * 1000' }, 'ext_x_load_seconds', 'max(a) AS '],
    [
      { unit: 'MS', select: '1 + max(a) * 1000' },
      'ext_x_load_seconds',
      '(1 + max(a) * 1000) / 1000',
    ],
    [
      { unit: 'PERCENTAGE', select: '1 + 2 * max(x)' },
      'ext_x_load_ratio',
      '(1 + 2 * max(x)) / 100',
    ],
    [{ unit: 'BITS_PER_SECOND' }, 'ext_x_load_bytes_per_second', 'average(load) / 8'],
    [{ unit: 'BYTES', name: 'usedBytesTotal' }, 'ext_x_used_bytes', 'average(load)'],
    [
      { unit: 'PAGES_PER_SECOND', select: 'rate(count(*), 1 minute)' },
      'ext_x_load_per_minute',
      'rate(count(*), 1 minute)',
    ],
    [
      { unit: 'REQUESTS_PER_MINUTE', name: 'requestsPerMinute' },
      'ext_x_requests_per_minute',
      'average(load)',
    ],
    [{ unit: 'SOMETHING_NEW', name: 'errorCount' }, 'ext_x_error', 'average(load)'],
    [{ select: "average(load) AS 'FROM here'" }, 'ext_x_load', 'average(load)'],
    [{ unit: 'MS', select: 'max(a) AS `the load`' }, 'ext_x_load_seconds', 'max(a) / 1000'],
    [{ unit: 'MS', select: "max(a) as 'it\\'s'" }, 'ext_x_load_seconds', 'max(a) / 1000'],
    [{ select: 'percentile(load, 50, 95) -- of all' }, 'ext_x_load', 'percentile(load, 50, 95)'],
    [
      { select: 'filter(count(*),\n  WHERE a = 1)' },
      'ext_x_load',
      'filter(count(*),   WHERE a = 1)',
    ],
  ])('has a name by the unit, and a value in it: %o', async (metric, name, select) => {
    const { queries, warnings } = await written([metric]);

    expect(warnings).toEqual([]);
    expect(queries).toEqual([[name, expect.stringContaining(`SELECT ${select}`)]]);
    expect(queries[0]?.[1]).toContain(
      ' FROM Sample WHERE entityGuid IS NOT NULL FACET entityName, entityGuid LIMIT 100',
    );
  });

  it.each([
    [
      { from: '', eventId: '' },
      'FROM Metric WHERE entity.guid IS NOT NULL FACET entity.name, entity.guid LIMIT',
    ],
    [{ from: 'PageView' }, 'FACET appName, entityGuid LIMIT'],
    [{ where: 'a = 1 OR b = 2' }, 'WHERE entityGuid IS NOT NULL AND (a = 1 OR b = 2) FACET'],
    [{ facet: 'rcode, appName' }, 'FACET appName, entityGuid, rcode LIMIT 100'],
    [{ eventId: 'workspaceName' }, 'WHERE workspaceName IS NOT NULL FACET workspaceName LIMIT'],
  ])('groups by the name and the id of the entity: %o', async (metric, part) => {
    expect((await written([metric])).queries[0]?.[1]).toContain(part);
  });

  it.each([
    [0, 100],
    [67, 200],
    [3000, 4500],
    [9000, 5000],
  ])('has room for %i entities and some more', async (reporting, limit) => {
    const { text } = await written([{}], reporting);

    expect(text).toContain(` LIMIT ${limit}"`);
    expect(text.includes(`    max_series: ${limit}\n`)).toBe(limit > 1000);
    expect(text.includes('; New Relic gives 5000 rows at most\n')).toBe(reporting > 5000);
  });

  it('has room for the values of each entity', async () => {
    const { text } = await written([{ select: 'percentile(load, 50, 95, 99)' }], 400);

    expect(text).toContain(' LIMIT 600"');
    expect(text).toContain('    max_series: 1800\n');
  });

  it('has a name of its own', async () => {
    const { queries } = await written([{}, { select: 'max(load)' }, { name: 'Load' }]);

    expect(queries.map(([name]) => name)).toEqual(['ext_x_load', 'ext_x_load_2', 'ext_x_load_3']);
  });

  it.each([
    [{ select: 'uniques(host)' }, '"nrql" selects uniques, which gives no number'],
    [{ select: 'load' }, '"nrql" must select functions and nothing else: load is none'],
    [{ select: 'count(*), max(load)' }, '"as" must be a map: the query selects 2 functions'],
    [
      { select: 'average(load) TIMESERIES' },
      '"nrql" must not have TIMESERIES: a gauge has one value',
    ],
    [{ where: 'a = 1 SINCE 1 day ago' }, 'not one function'],
    [{ where: "a = 'b" }, '"nrql" has a quote or a comment that is not closed'],
    [{ facet: 'type' }, '"nrql" makes "type" the label "type"'],
    [{ from: '(SELECT count(*) FROM Evil)' }, 'it is not one function of one kind of data'],
    [
      { select: 'count(*) FROM Evil WHERE 1 = 1 FACET b LIMIT 9 SELECT count(*)' },
      'not one function',
    ],
    [{ unit: 'MS', select: '1 + max(a) FROM Evil' }, 'not one function'],
    [{ unit: 'MS', select: 'SELECT max(a)' }, 'not one function'],
    [{ where: '1 = 1) FACET evil LIMIT 5000 WHERE (a = 1' }, 'not one function'],
    [{ from: 'Sample WHERE a = 1' }, 'not one function'],
    [{ eventId: 'a LIMIT 5 FACET b' }, 'no facet of the query has that name'],
    [{ select: `sum(${'x'.repeat(1_000_000)})` }, 'it is too long'],
  ])('is left out, and the file says why: %o', async (metric, reason) => {
    const { text, queries } = await written([metric, { name: 'good' }]);

    expect(queries.map(([name]) => name)).toEqual(['ext_x_good']);
    expect(
      text.split('\n').filter((line) => line.startsWith('# "Load" is left out: ')),
    ).toHaveLength(1);
    expect(text).toContain(reason);
    expect(text.length).toBeLessThan(1000);
  });

  it('cannot be broken by what New Relic says', async () => {
    const hostile = [
      'a\n  - as: evil\n    nrql: SELECT count(*) FROM Evil',
      '"; queries: [{ as: evil }] #',
      "': }]\u2028- &a *a !!js %",
      '\uFEFF\u0000\u001B[31m\uD800\uFFFE\u{E0001}',
      'x'.repeat(1_000_000),
      '{{ .Values.key }} ${KEY} <your-key>',
      '`',
      "'",
      '',
    ];
    const keys = ['name', 'title', 'unit', 'select', 'from', 'where', 'facet', 'eventId'] as const;
    const metrics = hostile.flatMap((text) => keys.map((key) => ({ [key]: text })));

    const { text, queries } = await written(metrics);

    const lines = text.split('\n');
    expect(queries.filter(([name]) => !name.startsWith('ext_x'))).toEqual([]);
    expect(lines.filter((line) => /^ {2}- /u.test(line))).toHaveLength(queries.length);
    expect(lines.filter((line) => line.startsWith('# "')).length + queries.length).toBe(
      // Neither WHERE nor FACET is the same.
      metrics.length - 1,
    );
    expect(
      lines.filter(
        (line) => !/^(?:#|queries:$| {2}- as: | {4}(?:nrql|labels|help): |$)/u.test(line),
      ),
    ).toEqual([]);
    expect(text).not.toMatch(/(?!\n)\p{Cc}|[\u2028\uFEFF\uFFFE]/u);
  });
});
