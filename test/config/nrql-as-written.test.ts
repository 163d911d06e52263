import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { findingsIn, placesOf, wordsOf } from './config-failure.ts';

const accounts = 'accounts: [{ name: a, source: nerdgraph, account_id: 1, api_key_env: K }]';

function file(nrql: string, as = 'x'): string {
  return `${accounts}\nqueries:\n  - { as: ${as}, nrql: ${JSON.stringify(nrql)} }`;
}

const begin = '  - { as: x, nrql: "'.length + 1;
const select = 'SELECT count(*) FROM T';

async function errorsIn(nrql: string, as?: string) {
  const found = await findingsIn(file(nrql, as));
  return found.filter(({ severity }) => severity === 'error');
}

/** What is wrong between the text before and behind it, what is said, what helps, and what then stands there. */
const foreign: readonly (readonly [
  before: string,
  found: string,
  rest: string,
  message: string,
  help: string,
  instead: string,
])[] = [
  [`${select} `, 'GROUP BY', ' appName', 'has GROUP BY, which', 'write FACET', 'FACET'],
  [`${select} `, 'group  by', ' host', 'has GROUP BY, which', 'write FACET', 'FACET'],
  [
    'SELECT max(x) FROM T FACET name ',
    'HAVING max(x) < 50',
    ' LIMIT MAX',
    'has HAVING, which NRQL does not have',
    'leave it out: PromQL compares gauges',
    '',
  ],
  [
    'SELECT ',
    'count(DISTINCT user.id)',
    ' FROM T',
    'has DISTINCT, which',
    'write uniqueCount(user.id)',
    'uniqueCount(user.id)',
  ],
  [
    'SELECT round(',
    'COUNT ( distinct(`a b`) )',
    ') FROM T',
    'which NRQL does not have',
    'write uniqueCount(`a b`)',
    'uniqueCount(`a b`)',
  ],
  [
    'SELECT ',
    'DISTINCT host',
    ' FROM T',
    'has DISTINCT, which',
    'write uniqueCount(host)',
    'uniqueCount(host)',
  ],
  [`${select} WHERE a `, '==', ' 1', 'has "==", which', 'write =', '='],
  [`${select} WHERE a = 1 `, '&&', ' b = 2', 'has "&&", which', 'write AND', 'AND'],
  ['SELECT filter(max(d), WHERE a ', '||', ' b) FROM T', 'has "||", which', 'write OR', 'OR'],
  [
    `${select} WHERE a LIKE 'x!%' `,
    "ESCAPE '!'",
    ' AND b = 1',
    'has ESCAPE, which',
    'leave it out, or write RLIKE',
    '',
  ],
  [
    `${select} WHERE a IN ('b', 'c') AND d > `,
    '1,000',
    ' FACET e',
    'has the number 1,000 with commas',
    'write 1000',
    '1000',
  ],
  [
    'SELECT filter(count(*), WHERE d >= ',
    '12,345,678',
    ') FROM T',
    'has the number 12,345,678 with commas',
    'write 12345678',
    '12345678',
  ],
  [`${select} FACET a LIMIT `, '1,000', '', 'has the number 1,000', 'write 1000', '1000'],
  [`${select} WHERE a IN ('b', 'c'`, ',', ' )', 'has a comma too many', 'remove it', ''],
  [
    'SELECT sum(',
    '5XXError',
    ') FROM Metric',
    'has the name 5XXError, which begins with a digit',
    'write `5XXError`',
    '`5XXError`',
  ],
  [
    `${select} FACET `,
    '4xx.count',
    ' LIMIT 9',
    'has the name 4xx.count, which begins',
    'write `4xx.count`',
    '`4xx.count`',
  ],
  [
    `${select} WHERE appName = '`,
    '<YOUR_APP>',
    "'",
    'has the placeholder <YOUR_APP>',
    'write the value itself',
    'shop',
  ],
  [
    `${select} WHERE appId = `,
    '<your application id>',
    '',
    'has the placeholder <your application id>',
    'write the value itself',
    '7',
  ],
  [
    `${select} WHERE a = '`,
    '$(APP)',
    "'",
    'has the variable $(APP)',
    'write the value itself',
    'shop',
  ],
  [
    `${select} WHERE a = '`,
    '{{ .Values.app | quote }}',
    "'",
    'has the variable {{ .Values.app | quote }}',
    'write the value itself',
    'shop',
  ],
  [
    `${select} WHERE a = '`,
    '${APP:-"shop"}',
    "'",
    'has the variable ${APP:-"shop"}',
    'write the value itself',
    'shop',
  ],
  [
    `${select} FACET host `,
    'LIMIT 5001',
    '',
    'has LIMIT 5001: New Relic gives 5,000 rows at most',
    'write LIMIT MAX',
    'LIMIT MAX',
  ],
  [
    'SELECT round(percentile(if(a, b, 500), 50, ',
    '101',
    ')) FROM T',
    'has the percentile 101',
    'write a number from 0 to 100',
    '99.9',
  ],
];

describe('NRQL as people write it', () => {
  it.each(foreign)(
    'is refused at its place, with what can stand there: %s%s%s',
    async (before, found, rest, message, help, instead) => {
      const [first] = await errorsIn(before + found + rest);

      expect(placesOf(first === undefined ? [] : [first])).toBe(
        `3:${begin + JSON.stringify(before).length - 2}`,
      );
      expect(first?.length).toBe(JSON.stringify(found).length - 2);
      expect(first?.message).toContain(message);
      expect(first?.help).toContain(help);
      expect(await errorsIn(before + instead + rest)).toEqual([]);
    },
  );

  it.each([
    ['SELECT hostname, status FROM Db', 'x', 'SELECT count(*) FROM Db FACET hostname'],
    ['FROM `A b`, C SELECT `d e`, f AS g', 'x', 'SELECT count(*) FROM `A b`, C FACET `d e`'],
    ['SELECT host FROM (SELECT max(a) FROM T FACET host)', 'x', 'latest(host)'],
  ])('is refused if it selects texts, which can be counted: %s', async (nrql, as, better) => {
    const [first] = await errorsIn(nrql, as);

    expect(first?.message).toContain('must select functions and nothing else');
    expect(first?.help).toBe(`write functions, such as ${better}`);
    expect(await errorsIn(better.includes('FROM') ? better : `SELECT ${better} FROM T`)).toEqual(
      [],
    );
  });

  it.each([
    ["SELECT 50 AS 'Limit', max(a) AS v FROM T", '{ v: x }', ''],
    ["SELECT max(a) AS v, 'ok' AS state, (1 + 2) * 3 FROM T", '{ v: x }', ''],
    ["SELECT 50 AS 'Limit', max(a) AS v FROM T", '{ v: x, Limit: y }', 'leave out the constant'],
    ['SELECT max(a), 2.5 FROM T', 'x', 'leave out the constant'],
    ['SELECT 50 FROM T', 'x', 'write functions, such as count(*)'],
    ['SELECT max(a) AS v, b - 2 FROM T', '{ v: x }', 'write functions, such as count(*)'],
  ])('may have a constant that is no gauge: %s, as: %s', async (nrql, as, help) => {
    expect((await errorsIn(nrql, as)).map((one) => one.help).join('')).toBe(help);
  });

  it.each([
    ['average', '`d.e`', { gives: 'number', unit: 'd.e', growsWithWindow: false }],
    ['percentile', 'a, 90', { gives: 'percentiles', unit: 'a', percentages: [90] }],
    ['count', '*', { gives: 'number', growsWithWindow: true, lone: 'count' }],
    ['round', '`max`(a)', { gives: 'number', growsWithWindow: false, lone: undefined }],
  ])('may have its functions in backticks: %s(%s)', async (name, of, gauge) => {
    const text = file(`SELECT \`${name}\`(${of}) FROM Metric`);
    const { config } = await parseConfig(text, { fileName: 'c', directory: '/' });

    expect(config.queries?.[0]?.gauges).toMatchObject([gauge]);
  });

  it('has no number of a function in backticks either', async () => {
    expect(wordsOf(await errorsIn('SELECT `uniques`(a) FROM T'))).toContain('selects uniques,');
  });

  it.each([
    "SELECT count(*) FROM T WHERE a = 'b GROUP BY c' AND `d HAVING` = 1 -- && == DISTINCT e",
    "SELECT count(*) FROM T WHERE a IN ('1,000', '<ERROR>', '<td>', 'a || b,') AND b LIKE '%{{*}}%'",
    'SELECT count(*) FROM T WHERE group = 1 AND having.x = 2 AND distinct = 3 AND a.4xx = 5 AND b<c_d',
    'SELECT max(a) * 1e-6 + 2E+3 + 1e5 - rate(count(*), 1minute) FROM T',
    'SELECT sum(if(a > 1,100, 0)) FROM T WHERE a IN (1,200) FACET buckets(d,1,100) LIMIT 5000',
    'SELECT percentile(d, 50,100) + max(if(a, b, 500)) FROM T LIMIT 100',
    "SELECT count(*) FROM Log FACET capture(message, r'(?P<http_verb>[a-z]+)(?<my_name>$)(a)')",
  ])('is no SQL for what is in quotes, backticks, comments, numbers or names: %s', async (nrql) => {
    expect(await errorsIn(nrql)).toEqual([]);
  });
});
