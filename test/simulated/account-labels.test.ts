import { describe, expect, it } from 'vitest';
import { effectiveConfigText } from '../../src/config/effective-config.ts';
import { parseConfig } from '../../src/config/load-config.ts';
import type { Config } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { linesOf, ownLinesOf } from '../support/query-daemon.ts';
import { aRunningDaemon, type RunningDaemon } from '../support/running-daemon.ts';
import { shopAndCartFleet } from '../support/shop-and-cart.ts';

const metric = '{ metric: HttpDispatcher, value: call_count, as: calls, labels: { of: web } }';
const ofMetric = metric.replace('of: web', 'env: own');
const query = 'as: rows, nrql: SELECT count(*) FROM Transaction FACET appName AS shop';

interface Parts {
  readonly source?: 'rest' | 'nerdgraph';
  /** Settings of the account behind its usual ones. */
  readonly account?: string;
  /** The same of the entry of `apps`. */
  readonly app?: string;
  readonly metrics?: string;
  /** `undefined` with REST, which has none. */
  readonly query?: string | undefined;
}

async function configOf({
  source = 'nerdgraph',
  account = '',
  app = '',
  metrics = `throughput, ${metric}`,
  ...parts
}: Parts): Promise<Config> {
  const queries = source === 'rest' ? '' : `queries: [{ ${parts.query ?? query} }]`;
  const text = `
accounts: [{ name: one, api_key_env: KEY_A, source: ${source}, account_id: 1234567, ${account} }]
apps: [{ match: ., discovery_interval: 60s, metrics: [${metrics}], ${app} }]
${queries}`;
  return (await parseConfig(text, { fileName: 'c.yaml', directory: '/' })).config;
}

async function started(parts: Parts): Promise<RunningDaemon> {
  const bench = await aRunningDaemon(await configOf(parts));
  await bench.platform.clock.advance(90_000);
  return bench;
}

const everySeries = /^\w/u;
const labels = 'labels: { env: live, team: platform }';

describe.each(['rest', 'nerdgraph'] as const)('the labels of an account (%s)', (source) => {
  it('are on every series of its applications, hosts and queries, once, and on nothing else', async () => {
    const bench = await started({ source, account: labels });
    const lines = await linesOf(bench, everySeries);
    const without = lines.filter((line) => !/,env="live",team="platform"\}/u.test(line));

    expect(without).toEqual(['newrelic_up{account="one"} 1']);
    expect(lines.filter((line) => line.split('env=').length > 2)).toEqual([]);
    for (const name of ['calls', 'host_calls', 'newrelic_application_info']) {
      expect(lines.filter((line) => line.startsWith(`${name}{`))).not.toEqual([]);
    }
    expect(await ownLinesOf(bench, /(env|team)="/u)).toEqual([]);
    expect(await ownLinesOf(bench, /account="one"/u)).not.toEqual([]);
  });

  it('change with a reload at once: no series goes, none stays as it was, and nothing is asked', async () => {
    const bench = await started({ source, account: labels });
    const before = await linesOf(bench, everySeries);
    const calls = bench.simulator.journal.entries().length;
    await bench.daemon.apply(await configOf({ source, account: 'labels: { env: test }' }));
    const after = await linesOf(bench, everySeries);

    expect(after).toEqual(
      before.map((line) => line.replace('env="live",team="platform"', 'env="test"')),
    );
    await bench.platform.clock.advance(100);
    expect(bench.simulator.journal.entries()).toHaveLength(calls);
    await bench.daemon.apply(await configOf({ source }));
    expect(await linesOf(bench, /env=/u)).toEqual([]);
    expect(await linesOf(bench, everySeries)).toHaveLength(before.length);
    await bench.platform.clock.advance(5 * minuteMs);
    expect(await linesOf(bench, everySeries)).toHaveLength(before.length);
  });
});

const ofHosts = /^(host_calls|newrelic_application_host_\w+)\{/u;
const ofQueries = /^(rows|newrelic_query_\w+)\{/u;

type Row = readonly [
  what: string,
  parts: Parts,
  gauge: RegExp,
  /** What the label is there. */
  wanted: RegExp,
  /** Where it is that of the account. */
  others: RegExp,
];

const ofAll = /^(calls|newrelic_application_\w+)\{/u;

const rows: readonly Row[] = [
  ['an entry', { app: 'labels: { env: own }' }, ofAll, /"own"/u, ofQueries],
  ['an entry (hosts)', { app: 'labels: { env: own }' }, ofHosts, /"own"/u, ofQueries],
  ['an entry (REST)', { source: 'rest', app: 'labels: { env: own }' }, ofAll, /"own"/u, /^none/u],
  ['a metric', { metrics: ofMetric }, /^calls\{/u, /"own"/u, /^newrelic_(app|query)|^rows/u],
  ['a metric (hosts)', { metrics: ofMetric }, /^host_calls\{/u, /"own"/u, ofQueries],
  ['a query', { query: `${query}, constant_labels: { env: own }` }, ofQueries, /"own"/u, ofAll],
  ['a facet', { query: query.replace('AS shop', 'AS env') }, /^rows\{/u, /"(shop|cart)"/u, ofAll],
  ['a tag', { app: 'tags: { stage: env }' }, /app_name="shop"/u, /"own"/u, ofQueries],
  ['a tag (hosts)', { app: 'tags: { stage: env }' }, /host_calls.*"shop"/u, /"own"/u, ofQueries],
  ['a tag, where there is one', { app: 'tags: [env]' }, /app_name="cart"/u, /"live"/u, ofQueries],
];

describe('a label of an account', () => {
  it.each(rows)('gives way to that of %s', async (_, parts, gauge, wanted, others) => {
    const fleet = shopAndCartFleet(2);
    const bench = await aRunningDaemon(await configOf({ account: labels, ...parts }), { fleet });
    bench.simulator.fleet.setTags(101, { stage: 'own' });
    await bench.platform.clock.advance(90_000);
    const labelsOf = async (start: RegExp): Promise<readonly string[]> =>
      (await linesOf(bench, start)).map((line) => line.match(/env="[^"]*"/gu)?.join() ?? line);

    expect(await labelsOf(gauge)).not.toEqual([]);
    for (const label of await labelsOf(gauge)) expect(label).toMatch(wanted);
    for (const label of await labelsOf(others)) expect(label).toBe('env="live"');
    expect(await linesOf(bench, /^newrelic_up/u)).toEqual(['newrelic_up{account="one"} 1']);
  });

  it.each([
    ['beside labels of an entry', { app: 'labels: { env: own }' }],
    ['beside labels of a query', { query: `${query}, constant_labels: { env: own }` }],
    ['beside labels of a metric', { metrics: ofMetric }],
    ['equal to one of an entry', { app: 'labels: { env: live, tier: web }' }],
  ])('means the same in the effective configuration: %s', async (_, parts) => {
    const config = await configOf({ account: labels, ...parts });
    const text = effectiveConfigText(config);
    const again = await parseConfig(text, { fileName: 'c.yaml', directory: '/' });

    expect(again.config).toEqual(config);
    expect(text).toContain('    labels:\n      env: live\n      team: platform\n');
    expect(text.match(/team: platform/gu)).toHaveLength(1);
  });
});
