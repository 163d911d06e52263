import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/load-config.ts';
import { minuteMs } from '../../../src/model/time.ts';
import type { ApplicationSpec } from '../../../src/simulator/fleet-options.ts';
import { queriesStarted, queryStatus } from '../../support/query-daemon.ts';
import { aRunningDaemon } from '../../support/running-daemon.ts';
import { printedBy } from '../survey/ask-bench.ts';

interface Asked {
  /** The list of metrics. */
  readonly metrics: string;
  /** Other settings of the entry. */
  readonly rest?: string | undefined;
  readonly application?: ApplicationSpec | undefined;
}

interface Case extends Asked {
  readonly what: string;
  /** The gauges that never have a value, by the names of those of applications. */
  readonly missing: readonly string[] | Readonly<Record<Source, readonly string[]>>;
}

const sources = ['rest', 'nerdgraph'] as const;
type Source = (typeof sources)[number];

function fleetOf({ application }: Asked) {
  const usual = { id: 11, name: 'shop', kind: 'web', webRpm: 600, hosts: 1 } as const;
  return { traffic: 'flat', applications: [{ ...usual, ...application }] } as const;
}

function textOf({ metrics, rest = '' }: Asked, source: Source, key: string): string {
  return `accounts: [{ name: main, api_key_env: ${key}, source: ${source}, account_id: 1234567 }]
apps: [{ id: 11, discovery_interval: 60s, metrics: [${metrics}]${rest} }]`;
}

/** What the daemon says never has a value. */
async function namedByDaemon(asked: Asked, source: Source): Promise<readonly string[]> {
  const text = textOf(asked, source, 'KEY_A');
  const { config } = await parseConfig(text, { fileName: 'c.yaml', directory: '/' });
  const { platform, daemon } = await aRunningDaemon(config, { fleet: fleetOf(asked) });
  await platform.clock.advance(5 * minuteMs);
  const [account] = daemon.status();
  return (account?.missingMetrics ?? []).map(({ name }) => name.replace(/^host_/u, ''));
}

/** What `check-config --online` says has no value, or is not known to New Relic. */
async function namedByCommand(asked: Asked, source: Source): Promise<readonly string[]> {
  const files = { 'c.yaml': textOf(asked, source, 'KEY') };
  const command = ['check-config', '--online', 'c.yaml'];
  const { stdout } = await printedBy({ ingestDelayMs: 0, fleet: fleetOf(asked) }, command, files);
  const own = asked.metrics.matchAll(/metric: ([^,]+), value: \w+, as: (\w+)/gu);
  const gauges = new Map(Array.from(own, ([, metric, as]) => [metric, as ?? '']));
  const [, silent] = /no value at the moment of (.*)/u.exec(stdout) ?? [];
  const unknown = stdout.matchAll(/application 11 has no (?:value .* of the )?metric "(.*)"/gu);
  expect(stdout).toContain('values can be read');
  return [
    ...(silent?.split(', ') ?? []),
    ...Array.from(unknown, ([, metric]) => gauges.get(metric) ?? `? ${metric}`),
  ];
}

const misspelt = 'metric: Custom/Qeue/Depth, value: average_value, as: depth';
const right = 'metric: Custom/Queue/Depth, value: average_value, as: depth';

const cases: readonly Case[] = [
  { what: 'what has values', metrics: `throughput, memory, { ${right} }`, missing: [] },
  { what: 'a misspelt metric', metrics: `throughput, { ${misspelt} }`, missing: ['depth'] },
  {
    what: 'a misspelt metric without throughput',
    metrics: `response_time, { ${misspelt} }`,
    missing: ['depth'],
  },
  {
    what: 'a value that a metric does not have',
    metrics: 'throughput, { metric: Apdex, value: error_count, as: wrong }',
    // NRQL calculates any value of any metric.
    missing: { rest: ['wrong'], nerdgraph: [] },
  },
  {
    what: 'a metric without calls, which is 0 or unknown',
    metrics: 'throughput, { metric: HttpDispatcher, value: call_count, as: idle }',
    application: { kind: 'both', webRpm: 0, otherRpm: 600 },
    missing: { rest: [], nerdgraph: ['idle'] },
  },
  {
    what: 'one of several metrics under one name',
    metrics: `throughput, { ${right}, labels: { a: b } }, { ${misspelt}, labels: { a: c } }`,
    missing: ['depth'],
  },
  {
    what: 'a gauge of a preset that the agents do not send',
    metrics: 'throughput, apdex, response_time',
    application: { kind: 'other', webRpm: undefined, otherRpm: 600 },
    missing: ['newrelic_application_apdex_score'],
  },
  {
    what: 'one transaction type of a preset, if the other one has values',
    metrics: 'throughput, response_time, database',
    missing: [],
  },
  {
    what: 'errors of an application without any',
    metrics: 'throughput, errors',
    application: { webRpm: 1 },
    missing: [],
  },
  {
    what: 'a misspelt metric of hosts',
    metrics: `throughput, { ${misspelt}, for: hosts }`,
    missing: ['depth'],
  },
  {
    what: 'a misspelt metric of hosts, if the entry has none',
    metrics: `throughput, { ${misspelt}, for: hosts }`,
    rest: ', hosts: false',
    missing: [],
  },
  {
    what: 'a misspelt metric of applications, if the entry shows hosts alone',
    metrics: `throughput, { ${misspelt}, for: applications }`,
    rest: ', application: false',
    missing: [],
  },
  {
    what: 'a misspelt metric, if the entry shows hosts alone',
    metrics: `throughput, { ${misspelt} }`,
    rest: ', application: false',
    missing: ['depth'],
  },
];

const rows = cases.flatMap(({ missing, ...one }) =>
  sources.map((source) => {
    return { ...one, source, missing: 'rest' in missing ? missing[source] : missing };
  }),
);

describe('a metric that never has a value is the same for the daemon and for check-config --online', () => {
  it.each(rows)('$what, with $source: $missing', async ({ source, missing, ...asked }) => {
    const named = [await namedByDaemon(asked, source), await namedByCommand(asked, source)];

    expect(named).toEqual([missing, missing]);
  });
});

const calls = 'SELECT count(*) FROM Transaction';

describe('a query that never has a value is the same for both, too', () => {
  it.each([
    { what: 'rows with numbers', nrql: `${calls} FACET appName LIMIT 5`, isMissing: false },
    {
      what: 'no row',
      nrql: `${calls} WHERE appName = 'none' FACET appName LIMIT 5`,
      isMissing: true,
    },
    { what: 'null', nrql: 'SELECT average(nothing) FROM Transaction', isMissing: true },
    { what: 'a text', nrql: 'SELECT latest(appName) FROM Transaction', isMissing: true },
    {
      what: 'more series in a row than there may be',
      nrql: 'SELECT count(*) AS a, average(duration) AS b FROM Transaction',
      as: '{ a: calls, b: times }, max_series: 1',
      isMissing: true,
    },
  ])('$what: $isMissing', async ({ nrql, isMissing, as = 'calls' }) => {
    const queries = `  - { as: ${as}, nrql: "${nrql}" }`;
    const bench = await queriesStarted({ queries });
    await bench.platform.clock.advance(2 * minuteMs);
    const text = `${textOf({ metrics: 'throughput' }, 'nerdgraph', 'KEY')}\nqueries:\n${queries}`;
    const command = ['check-config', '--online', 'c.yaml'];
    const { stdout } = await printedBy({ ingestDelayMs: 0 }, command, { 'c.yaml': text });
    const isWarnedOf = /warning .*: query calls/u.test(stdout);

    expect(stdout).toContain('query calls: ');
    expect(queryStatus(bench, 'calls')?.missing !== undefined).toBe(isMissing);
    expect(isWarnedOf).toBe(isMissing);
  });
});
