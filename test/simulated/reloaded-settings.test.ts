import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import type { Config } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { aRunningDaemon, type RunningDaemon } from '../support/running-daemon.ts';
import { eachAfter } from '../support/slow.ts';

const calls = { metric: 'HttpDispatcher', value: 'call_count', as: 'calls' };
const time = { metric: 'HttpDispatcher', value: 'average_response_time', as: 'time' };
const entry = {
  match: '.',
  interval: '2h',
  discovery_interval: '60s',
  stale_after: '5h',
  transactions: ['web'],
  metrics: [calls, time, 'throughput'],
};
const query = {
  as: { count: 'calls', mean: 'time' },
  nrql: 'SELECT count(*) AS count, average(duration) AS mean FROM Transaction FACET appName',
  interval: '2h',
  stale_after: '5h',
};

type Settings = Readonly<Record<string, unknown>>;

/** What is polled, and how its settings are written. */
const subjects = {
  'an application (REST)': { of: { account: {}, apps: entry } },
  'an application (NerdGraph)': {
    of: { account: { source: 'nerdgraph', account_id: 1234567 }, apps: entry },
  },
  'a query': {
    of: { account: { source: 'nerdgraph', account_id: 1234567 }, queries: query },
  },
} as const;

type SubjectName = keyof typeof subjects;

async function configOf(name: SubjectName, settings: Settings): Promise<Config> {
  const { account, ...subject } = subjects[name].of;
  const [[key, usual]] = Object.entries(subject) as [[string, Settings]];
  const config = {
    accounts: [{ name: 'one', api_key_env: 'KEY_A', ...account }],
    [key]: [{ ...usual, ...settings }],
  };
  return (await parseConfig(JSON.stringify(config), { fileName: 'c.yaml', directory: '/' })).config;
}

const applications = ['an application (REST)', 'an application (NerdGraph)'] as const;
const everything = 'calls, time';
const all = 'calls, host_calls, host_newrelic, host_time, newrelic, time';

/** A change of a setting; what of what was shown goes at once; whether the next poll is due at once. */
type Row = readonly [
  setting: string,
  change: { readonly from?: unknown; readonly to: unknown },
  of: readonly SubjectName[],
  goes: string,
  isAsked: boolean,
];

const rows: readonly Row[] = [
  ['window', { to: '1h' }, applications, 'calls, host_calls', true],
  ['window', { from: '1h', to: '5m' }, applications, 'calls, host_calls', true],
  ['delay', { to: '10m' }, applications, '', true],
  ['raw', { to: true }, applications, '', true],
  ['metrics', { to: [calls, time] }, applications, 'host_newrelic, newrelic', false],
  ['metrics', { from: [time], to: [calls, time] }, applications, '', true],
  ['metrics', { from: [calls, time], to: [time, calls] }, applications, '', false],
  [
    'metrics',
    { from: [calls, time], to: [{ ...calls, value: 'requests_per_minute' }, time] },
    applications,
    'calls, host_calls',
    true,
  ],
  [
    'metrics',
    { from: [calls, time], to: [{ ...calls, metric: 'WebTransaction' }, time] },
    applications,
    'calls, host_calls',
    true,
  ],
  [
    'metrics',
    { from: [calls, time], to: [calls, { ...time, scale: 1000, as: 'time' }] },
    applications,
    'host_time, time',
    true,
  ],
  [
    'metrics',
    { from: [calls, time], to: [calls, { ...time, labels: { of: 'web' } }] },
    applications,
    '',
    false,
  ],
  [
    'metrics',
    { from: [calls, time], to: [calls, { ...time, as: 'other' }] },
    applications,
    'host_time, time',
    false,
  ],
  [
    'metrics',
    { from: [calls, time], to: [calls, { ...time, for: 'applications' }] },
    applications,
    'host_time',
    false,
  ],
  ['metrics', { from: [{ ...calls, for: 'hosts' }], to: [calls] }, applications, '', true],
  ['transactions', { to: ['web', 'other'] }, applications, '', true],
  ['transactions', { from: ['web', 'other'], to: ['web'] }, applications, '', false],
  ['hosts', { to: false }, applications, 'host_calls, host_newrelic, host_time', true],
  ['hosts', { from: false, to: true }, applications, '', true],
  ['hosts', { to: { match: '.' } }, applications, '', true],
  ['hosts', { from: { match: '.' }, to: { match: '..' } }, applications, '', true],
  ['application', { to: false }, applications, 'calls, newrelic, time', true],
  ['application', { from: false, to: true }, applications, '', true],
  ['host_names', { to: false }, applications, '', false],
  ['host_names', { from: false, to: true }, applications, '', true],
  ['tags', { to: ['team'] }, ['an application (NerdGraph)'], '', false],
  ['labels', { to: { team: 'a' } }, applications, '', false],
  ['interval', { to: '3h' }, applications, '', false],
  ['discovery_interval', { to: '2m' }, applications, '', false],
  ['stale_after', { to: '6h' }, applications, '', false],
  ['match', { to: '[a-z]' }, applications, '', false],
  ['exclude', { to: false }, applications, '', false],
  ['account', { to: 'one' }, applications, '', false],

  ['window', { to: '1h' }, ['a query'], everything, true],
  ['delay', { to: '10m' }, ['a query'], everything, true],
  ['nrql', { to: `${query.nrql} LIMIT 20` }, ['a query'], everything, true],
  ['as', { to: { count: 'calls' } }, ['a query'], everything, true],
  ['labels', { to: { appName: 'shop' } }, ['a query'], everything, true],
  ['max_series', { to: 100 }, ['a query'], everything, true],
  ['constant_labels', { to: { team: 'a' } }, ['a query'], '', false],
  ['help', { to: 'Other words.' }, ['a query'], '', false],
  ['interval', { to: '3h' }, ['a query'], '', false],
  ['stale_after', { to: '6h' }, ['a query'], '', false],
  ['account', { to: 'one' }, ['a query'], '', false],
];

const cases = rows.flatMap(([setting, change, of, ...rest]) =>
  of.map((subject) => ({ setting, change, subject, rest })),
);

/** The gauges of which the page has values; of the presets, their first word. */
async function shown({ page }: RunningDaemon): Promise<readonly string[]> {
  const lines = (await page()).split('\n');
  const names = lines.flatMap((line) => {
    const [, host, name] =
      /^(?:newrelic_application_(host_)?)?((?:host_)?(?:calls|time|requests_per_minute))\{/u.exec(
        line,
      ) ?? [];
    return name === undefined
      ? []
      : [`${host ?? ''}${name.replace('requests_per_minute', 'newrelic')}`];
  });
  return [...new Set(names)].toSorted();
}

/** How many calls for values, or for names of hosts, New Relic got. */
function asked({ simulator }: RunningDaemon): number {
  return simulator.journal.count(
    ({ path, graphql }) =>
      /metrics\/data|hosts\.json/u.test(path) ||
      graphql?.asks.some(({ operation }) => operation === 'nrql') === true,
  );
}

interface Schema {
  readonly properties: Readonly<
    Record<'apps' | 'queries', { readonly items: { readonly properties: object } }>
  >;
}

describe('8.3 a reload that changes a setting', () => {
  eachAfter(1, cases)(
    'shows at once what stays, and asks anew if a poll brings something else: $setting of $subject, $change',
    async ({ setting, change, subject, rest: [goes, isAsked] }) => {
      const before = 'from' in change ? { [setting]: change.from } : {};
      const bench = await aRunningDaemon(await configOf(subject, before));
      await bench.platform.clock.advance(61 * minuteMs + 30_000);
      const [had, count] = [await shown(bench), asked(bench)];
      expect(had).not.toEqual([]);
      const usual = subject === 'a query' ? everything : all;
      expect('from' in change ? usual : had.join(', ')).toBe(usual);

      const applied = bench.daemon.apply(await configOf(subject, { [setting]: change.to }));
      await bench.platform.clock.advance(0);
      await applied;

      const has = await shown(bench);
      expect(had.filter((name) => !has.includes(name)).join(', ')).toBe(goes);
      await bench.platform.clock.advance(10_000);
      expect(asked(bench) > count).toBe(isAsked);
    },
  );

  it.each([
    ['apps', applications, ['id', 'name']],
    ['queries', ['a query'], []],
  ] as const)('is tried with each setting of %s, of each source', (key, names, others) => {
    const schema = JSON.parse(readFileSync('config.schema.json', 'utf8')) as Schema;
    const known = Object.keys(schema.properties[key].items.properties);
    for (const name of names) {
      const own = cases.filter(({ subject }) => subject === name);
      const tried = new Set([...own.map(({ setting }) => setting), ...others]);
      // The REST API has no tags.
      if (name === 'an application (REST)') tried.add('tags');
      expect([...tried].toSorted()).toEqual(known.toSorted());
    }
  });
});
