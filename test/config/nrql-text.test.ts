import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { effectiveConfigText } from '../../src/config/effective-config.ts';
import { parseConfig } from '../../src/config/load-config.ts';
import type { Query } from '../../src/model/config.ts';
import { findingsIn, placesOf, wordsOf } from './config-failure.ts';

const source = { fileName: 'config.yaml', directory: '/' };
const accounts = 'accounts: [{ name: a, source: nerdgraph, account_id: 1, api_key_env: K }]';

/** A file with one query and nothing else, whose NRQL begins at 3:23. */
function file(nrql: string, keys = 'as: x'): string {
  return `${accounts}\nqueries:\n  - { ${keys}, nrql: ${JSON.stringify(nrql)} }`;
}

/** Where a text of the NRQL is in that file, as line and column; its backslashes count twice there. */
const begin = '  - { as: x, nrql: "'.length + 1;

async function queryOf(nrql: string, keys?: string): Promise<Query | undefined> {
  return (await parseConfig(file(nrql, keys), source)).config.queries?.[0];
}

const select = 'SELECT count(*) FROM T';

/** What nobody can read: the text in front of the mistake, the rest, what is said, and what helps. */
const unreadable: readonly (readonly [
  before: string,
  rest: string,
  message: string,
  help: string,
])[] = [
  [`${select} WHERE a = `, "'shop", 'not closed', 'close it'],
  [`${select} WHERE a = `, '"shop', 'not closed', 'close it'],
  [`${select} FACET `, '`a b', 'not closed', 'close it'],
  [`${select} `, '/* x', 'comment that is not closed', 'close it'],
  [`${select} WHERE `, '(a = 1 FACET host LIMIT 9', '"(" without ")"', 'the missing ")"'],
  ['SELECT max', '(duration FROM T', '"(" without ")"', 'the missing ")"'],
  ['SELECT percentile(a, 9)', "['9' FROM T", '"[" without "]"', 'the missing "]"'],
  ['SELECT max(a)', ') FROM T', '")" too many', 'remove it'],
  [`${select} WHERE a = 'it`, "'s'", 'a quote within a text', "'it\\'s'"],
  [`${select} WHERE a = 'it`, "'s' AND b = 'x'", 'a quote within a text', "'it\\'s'"],
  [`${select} WHERE a = `, '“shop” FACET host LIMIT 9', 'curly quotes', "'"],
  [`${select} WHERE a IN (`, '‘x’, ‘y’)', 'curly quotes', "'"],
  [`${select} WHERE guid = '`, "{{entity.id}}'", '{{entity.id}}', 'write the value'],
  [`${select} WHERE a = `, '{{ app }}', '{{ app }}', 'write the value'],
  [`${select} WHERE a = '`, "${APP}'", '${APP}', 'write the value'],
  [select, ';', 'a semicolon', 'remove it'],
  ['SELECT max(a)', ', FROM T', 'a comma too many', 'remove it'],
  [`${select} FACET a`, ', LIMIT 9', 'a comma too many', 'remove it'],
  [`${select} `, 'SINCE 1 day ago', 'must not have SINCE', '"window"'],
  ['SELECT max(a), ', 'host FROM T', 'host is none', 'latest(host)'],
  ['SELECT ', '* FROM T', '* is none', 'count(*)'],
  ['SELECT ', 'uniques(host) FROM T', 'uniques, which gives no number', 'uniqueCount(...)'],
  ['SELECT ', 'Histogram(d, 10, 5) FROM T', 'gives no number', 'FACET buckets(...)'],
  ['SELECT ', 'cdfPercentage(d, 1, 2) FROM T', 'gives no number', 'percentage(count(*)'],
  ['SELECT ', 'funnel(s, WHERE a = 1) FROM T', 'gives no number', 'filter(uniqueCount(...)'],
  ['SELECT ', 'keyset() FROM T', 'gives no number', 'count(*)'],
  ['SELECT ', 'eventType() FROM T', 'gives no number', 'FACET eventType()'],
  ['SELECT ', 'filter(uniques(a), WHERE b) FROM T', 'gives no number', 'uniqueCount(...)'],
  ['SELECT ', "percentile(d, 99, 99.5)['99.5'] FROM T", 'an element', 'write percentile(d, 99.5)'],
  ['SELECT ', 'getField(percentile(d, 95), 95) AS p FROM T', 'an element', 'quantile="0.95"'],
  ['SELECT ', "median(d)['50'] FROM T", 'an element', 'write percentile(d, 50)'],
  [`${select} FACET `, 'type LIMIT 9', 'the label "type"', 'labels: { type: newrelic_type }'],
  [`${select} FACET CASES(WHERE a), `, 'CASES(WHERE b) LIMIT 9', '"cases"', 'newrelic_cases'],
];

describe('NRQL that nobody can read, or that has no number', () => {
  it.each(unreadable)('is refused at its place: %s%s', async (before, rest, message, help) => {
    const found = await findingsIn(file(before + rest));

    expect(placesOf(found)).toBe(`3:${begin + JSON.stringify(before).length - 2}`);
    expect(found[0]?.message).toContain(message);
    expect(found[0]?.help).toContain(help);
  });

  it.each([
    ['plain', `nrql: ${select} WHERE ¦(a = 1`],
    ['plain over lines', 'nrql: SELECT count(*)\n     FROM T\n     WHERE ¦(a = 1'],
    ['in single quotes', "nrql: 'SELECT max(d) FROM T WHERE a = ''x'' AND ¦(b = ''y'''"],
    ['in double quotes', String.raw`nrql: "SELECT max(d) FROM T WHERE a = \"x\" AND ¦(b"`],
    ['in double quotes over lines', 'nrql: "SELECT max(d)\n     FROM T\n\n     WHERE ¦(a"'],
    ['folded', 'nrql: >-\n     SELECT count(*)\n     FROM T\n     WHERE ¦(a = 1'],
    ['with its lines', "nrql: |\n     SELECT count(*)\n     FROM T WHERE a = 'it¦'s'"],
  ])('is marked where it is written: %s', async (_, nrql) => {
    const marked = `${accounts}\nqueries:\n  - ${nrql}\n    as: x\n`;
    const found = await findingsIn(marked.replace('¦', ''));
    const lines = marked.slice(0, marked.indexOf('¦')).split('\n');

    expect(placesOf(found)).toBe(`${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`);
    expect(found[0]?.length).toBe(1);
  });

  it('is marked as a whole if its place cannot be told', async () => {
    const found = await findingsIn(
      `${accounts}\nqueries: [{ as: x, nrql: "SELECT \x6dax(\\x61 FROM T" }]`,
    );
    const other = await findingsIn(
      `${accounts}\nqueries: [{ as: x, nrql: "SELECT max(d), \\x61 FROM T" }]`,
    );

    expect(placesOf(found)).toBe('2:37');
    expect(placesOf(other)).toBe('2:26');
  });

  it('tells of every time range and variable at once', async () => {
    const found = await findingsIn(
      file(
        `${select} WHERE a = '{{b}}' SINCE 1 day ago UNTIL now TIMESERIES COMPARE WITH 1 day ago`,
      ),
    );

    expect(found).toHaveLength(5);
  });
});

/** Of the shapes that public dashboards have. */
const readable: readonly string[] = [
  'FROM Log WITH aparse(message, \'%"id":"*","price":*}%\') AS (id, price), numeric(price) AS p SELECT sum(p) FACET id LIMIT 20 WHERE p < 100',
  'FROM PageView JOIN (FROM PageAction SELECT count(*) FACET session LIMIT MAX) ON session SELECT count(*) FACET browserTransactionName LIMIT MAX',
  "FROM PageView LEFT JOIN (FROM PageAction SELECT median(load) AS m FACET session) ON a = session SELECT latest(getField(m, '50.0')) AS m FACET name LIMIT 5",
  'SELECT max(n) FROM (SELECT count(*) AS n FROM Transaction FACET host TIMESERIES 1 minute)',
  "SELECT count(*) FROM Log WHERE hostname IN (FROM lookup(myHosts) SELECT uniques(myHost)) AND x LIKE '%;%'",
  'SELECT count(*) FROM Transaction WHERE duration > (SELECT average(duration) FROM Transaction SINCE 1 day ago)',
  "SELECT average(newrelic.timeslice.value) FROM Metric WITH METRIC_FORMAT 'Custom/{name}/time' FACET name LIMIT 40",
  "SELECT count(*) FROM Transaction WITH TIMEZONE 'Europe/Berlin' FACET hourOf(timestamp) LIMIT 24",
  'SELECT count(*) FROM Transaction FACET buckets(duration, 10, 5) LIMIT 10',
  "SELECT count(*) FROM Log FACET capture(message, r'.* \"(?P<verb>[A-Z]+) .*') LIMIT 10",
  "SELECT count(*) FROM PageView FACET CASES(WHERE d < 1 AS 'fast', WHERE d >= 1 AS 'slow; or so') OR name LIMIT 9",
  "select 100 * filter(count(*), where eventType() = 'TransactionError') / filter(COUNT(*), WHERE eventType() = 'Transaction') from Transaction, TransactionError",
  "SELECT percentage(count(*), WHERE error IS TRUE OR `http.statusCode` >= 500) AS 'Error %' FROM Transaction EXTRAPOLATE",
  "SELECT (sum(a) + sum(b)) / 2 /* the mean; of two */ FROM Metric -- it's\n WHERE a > 1 // {{no}}",
  'SELECT 100 * (sum(a) + sum(b)) / (sum(a) + sum(b) + sum(c)) FROM Metric',
  'SELECT 1 - (average(misses) / average(hits)) FROM Metric',
  'SELECT 100 - (average(cpuPercent) * 1) FROM SystemSample FACET hostname LIMIT 100',
  "SELECT clamp_max(latest(if(state = 'up', 1, 0)), 1) FROM K8sPodSample FACET `k8s.pod-name` LIMIT 500",
  'SELECT rate(sum(coredns_dns_requests_total), 1 second) FROM Metric FACET zone ORDER BY max(size) LIMIT 50 WHERE a = 1 WHERE b = 2',
  "SELECT cardinality(`cpu`, include: {host, pod}) FROM Metric WHERE a='x'AND b=\"it's\" AND c = 'it\\'s' AND d = 'a — “b”'",
  'SELECT percentile(duration, 95) / 1000 FROM Span WHERE order = 1 AND show IS NULL AND left = 2',
  "SELECT jparse(latest(message))['count'] FROM Log",
  'FROM `My Events` SELECT uniqueCount(`user id`), WHERE'.replace(
    ', WHERE',
    ' WHERE a IS NOT NULL',
  ),
];

describe('NRQL', () => {
  it.each(readable)('of a shape that dashboards have is read: %s', async (nrql) => {
    expect(await findingsIn(file(nrql))).toEqual([]);
  });

  it.each([
    ['SELECT count(*) FROM T', 'SELECT count(*) AS gauge_value FROM T'],
    [
      "SELECT filter(max(d), WHERE a = 'FROM (') FROM T",
      "SELECT filter(max(d), WHERE a = 'FROM (') AS gauge_value FROM T",
    ],
    ['FROM T select max(`a ) b`) where x', 'FROM T select max(`a ) b`) AS gauge_value where x'],
    ['SELECT count(*) as n FROM T  ', 'SELECT count(*) as n FROM T'],
    [
      "SELECT count(*) -- all, of\n FROM T /* WHERE x */\nWHERE a = 'b\nc' // 'end",
      `SELECT count(*) AS gauge_value${' '.repeat(13)}FROM T${' '.repeat(15)}WHERE a = 'b\nc'`,
    ],
  ])('is asked with a name for each function: %s', async (written, asked) => {
    const query = await queryOf(written);
    const { at, length } = query?.added ?? { at: 0, length: 0 };

    expect(query).toMatchObject({ written, nrql: asked });
    expect(asked.slice(at, at + length)).toBe(asked.includes('gauge') ? ' AS gauge_value' : '');
  });

  it.each([
    ['count(*)', 'number', [], true],
    ['SUM(a)', 'number', [], true],
    ['filter(uniqueCount(a), WHERE b)', 'number', [], true],
    ['rate(count(*), 1 minute)', 'number', [], false],
    ["percentage(count(*), WHERE a IN ('b'))", 'number', [], false],
    ["filter(average(a), WHERE b IN ('c') AND (d OR e))", 'number', [], false],
    ['100 * (average(a) + max(b)) / 2', 'number', [], false],
    ['100 * (rate(sum(a)) + (sum(b))) / 2', 'number', [], true],
    ['round(latest(a))', 'number', [], false],
    ['newFunction(a)', 'number', [], true],
    ['percentile(a, 50, 99.9)', 'percentiles', [50, 99.9], false],
    ['percentile(a, 95, 95.0)', 'percentiles', [95], false],
    ['Percentile(a)', 'percentiles', [95], false],
    ['(median(a))', 'percentiles', [50], false],
    ['filter(percentile(a, 90), WHERE b)', 'percentiles', [90], false],
    ['bucketPercentile(a_bucket, 75)', 'percentiles', [75], false],
    ['bucketPercentile(a_bucket)', 'percentiles', [], false],
    ['histogramPercentile(a, 75, 90)', 'percentiles', [75, 90], false],
    ['percentile(a, 95) / 1000', 'number', [], false],
    ["percentile(a, 95)['95'] / 1000", 'number', [], false],
    ['apdex(duration, t: 0.5)', 'apdex', [], false],
  ] as const)('tells what a function gives: %s', async (item, gives, percentages, grows) => {
    expect((await queryOf(`SELECT ${item} FROM T`))?.gauges).toMatchObject([
      { gives, percentages, growsWithWindow: grows },
    ]);
  });

  it.each([
    ['count(*)', 'count'],
    ['Count (a)', 'count'],
    ['sum(a * b)', 'sum'],
    ['uniqueCount(a)', 'uniqueCount'],
    ['average(a)', undefined],
    ['filter(count(*), WHERE b)', undefined],
    ['count(*) * 2', undefined],
    ['(count(*))', undefined],
    ['rate(sum(a), 1 minute)', undefined],
    ['toString(a)', undefined],
  ])('tells whether rows make up a total: %s', async (item, lone) => {
    const gaugeOf = async (nrql: string) => (await queryOf(nrql))?.gauges[0]?.lone;

    expect(await gaugeOf(`SELECT ${item} FROM T FACET b LIMIT 9`)).toBe(lone);
    expect(await gaugeOf(`SELECT ${item} FROM T EXTRAPOLATE`)).toBeUndefined();
    expect(await gaugeOf(`SELECT ${item} FROM T FACET b LIMIT 9 OFFSET 9`)).toBeUndefined();
  });

  it('tells what each of several functions gives, in the order of the map', async () => {
    const query = await queryOf(
      "SELECT count(*) AS n, percentile(d, 9) AS 'a b', uniques(c) AS u FROM T",
      'as: { "a b": y, n: x }',
    );

    expect(query?.name).toBe('y');
    expect(query?.gauges).toMatchObject([
      { name: 'y', member: 'a b', gives: 'percentiles', unit: 'd' },
      { name: 'x', member: 'n', gives: 'number', unit: 'count(*)' },
    ]);
  });

  it.each([
    ['', 1, ['T']],
    ['LIMIT 50', 1, ['T']],
    ['FACET a', 10, ['T']],
    ['FACET a LIMIT 50', 50, ['T']],
    ['limit max facet a', 5000, ['T']],
    [', `U v`, W LIMIT 7 FACET a', 7, ['T', 'U v', 'W']],
  ])(
    'tells how many rows there are at most, and of which events: %s',
    async (rest, rows, types) => {
      expect(await queryOf(`SELECT count(*) FROM T ${rest}`)).toMatchObject({
        mostRows: rows,
        eventTypes: types,
      });
    },
  );

  it.each(['(SELECT count(*) AS n FROM T)', 'lookup(hosts)', 'T JOIN (FROM U SELECT a) ON b'])(
    'tells no events that it cannot know: %s',
    async (from) => {
      expect((await queryOf(`SELECT max(n) FROM ${from}`))?.eventTypes).toEqual([]);
    },
  );

  it.each([
    ['appName', 'appName', 'app_name', true],
    ['`a b-c`', 'a b-c', 'a_b_c', true],
    ['appName AS kind', 'kind', 'kind', false],
    ["CASES(WHERE d > 1 AS 'slow')", "CASES(WHERE d > 1 AS 'slow')", 'cases', false],
    ["cases (WHERE d > 1) AS 'how slow'", 'how slow', 'how_slow', false],
    ['buckets(duration, 10, 5)', 'buckets(duration, 10, 5)', 'duration_buckets', false],
    ["aparse(name, '%a*')", "aparse(name, '%a*')", 'name_aparse', false],
    ['eventType()', 'eventType()', 'event_type', false],
    ['constructor', 'constructor', 'constructor', true],
    ['__proto__', '__proto__', 'proto', true],
  ])('has a label for each facet: %s', async (facet, name, label, isAttribute) => {
    const nrql = `${select} FACET ${facet} LIMIT 9`;
    const { config } = await parseConfig(file(nrql), source);
    const again = await parseConfig(effectiveConfigText(config), source);

    expect(config.queries?.[0]?.facets).toMatchObject([
      { name, label, isAttribute, isCases: /^cases/iu.test(facet) },
    ]);
    expect(again.config).toEqual(config);
  });

  it('needs no LIMIT for cases, unless others are beside them', async () => {
    const cases = `${select} FACET CASES(WHERE a AS 'b', WHERE c)`;

    expect(await findingsIn(file(cases))).toEqual([]);
    expect(await findingsIn(file(`${cases} OR host`))).toHaveLength(1);
    expect(await findingsIn(file(`${cases}, host`))).toHaveLength(1);
  });

  it('draws a warning for FACET without LIMIT, which gives ten rows', async () => {
    const found = await findingsIn(file(`${select} FACET host`));

    expect(found.map(({ severity }) => severity)).toEqual(['warning']);
    expect(placesOf(found)).toBe(`3:${begin + `${select} FACET `.length}`);
    expect(wordsOf(found)).toMatch(/ten[^]*LIMIT/u);
  });
});

/** What is refused, and the keys of the entry. */
const proposed: readonly (readonly [nrql: string, keys: string])[] = [
  [`${select} FACET type LIMIT 9`, 'as: x'],
  [`${select} FACET type, region, host LIMIT 9`, 'as: x, labels: { host: machine }'],
  [`${select} FACET appName, app.name, app_name LIMIT 9`, 'as: x'],
  [`${select} FACET \`a "b"\`, \`a 'b'\` LIMIT 9`, 'as: x'],
  [`${select} FACET город LIMIT 9`, 'as: x'],
  [`${select} FACET host LIMIT 9`, 'as: x, constant_labels: { host: a, newrelic_host: b }'],
  ["SELECT max(a) AS 'Devices', max(b) AS '% Online', max(c) AS 'Has Error?' FROM T", 'as: x'],
  [
    "SELECT max(a) AS '- a', max(b) AS 'b: c #d', max(c) AS '{e}', max(d) AS 'true' FROM T",
    'as: x',
  ],
  [`SELECT max(a) AS '"q"', max(b) AS '1', max(c) AS constructor FROM T`, 'as: x'],
];

/** What a help says to write, as YAML. */
const proposal = /(?:as|labels|tags): \{.*\}/u;

describe('a help that proposes YAML', () => {
  it.each([
    'SELECT max(x), min(x) AS name1 FROM T',
    'SELECT max(x) AS a, min(x) AS a FROM T',
    "SELECT max(x) AS '__proto__', min(x) AS b FROM T",
  ])('proposes names that a map can have: %s', async (nrql) => {
    const [{ help = '' } = {}] = await findingsIn(file(nrql, 'as: x'));

    expect(help).toContain('name1 and name2');
    expect(parse(proposal.exec(help)?.[0] ?? '')).toEqual({
      as: { name1: 'x_1', name2: 'x_2' },
    });
  });

  it('proposes no label for what is grouped by twice', async () => {
    const found = await findingsIn(file(`${select} FACET host, host LIMIT 9`, 'as: x'));

    expect(wordsOf(found)).toContain('"host" twice');
    expect(found).toHaveLength(1);
  });

  it.each(proposed)('proposes what can be put in its place: %s %s', async (nrql, keys) => {
    const text = file(nrql, keys);
    const found = await findingsIn(text);
    const yaml = proposal.exec(found[0]?.help ?? '')?.[0] ?? '';
    const { queries, ...rest } = parse(text);
    const better = stringify({ ...rest, queries: [{ ...queries[0], ...parse(yaml) }] });

    expect(found.length).toBeGreaterThan(0);
    expect(wordsOf(await findingsIn(better))).toBe('');
  });

  it.each([
    '[team, region, type]',
    '{ team: squad, region: region }',
    '["a b", "a_b", constructor]',
  ])('proposes tags that can be put in their place: %s', async (tags) => {
    const text = `${accounts}\napps: [{ match: ., tags: ${tags} }]`;
    const found = await findingsIn(text);
    const help = /region: region/u.test(tags) ? 'tags: { a: b }' : (found[0]?.help ?? '');
    const yaml = proposal.exec(help)?.[0] ?? '';

    expect(found.length).toBeGreaterThan(0);
    expect(await findingsIn(text.replace(/tags: [^\]}]*[\]}]/u, yaml))).toEqual([]);
  });

  it('names the label that is refused, not the facet', async () => {
    const found = await findingsIn(
      file(`${select} FACET name LIMIT 9`, 'as: x, labels: { name: job }'),
    );

    expect(wordsOf(found)).toContain('the label "job", which is not allowed');
  });
});
