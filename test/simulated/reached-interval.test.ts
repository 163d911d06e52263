import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { ApiRequest } from '../../src/newrelic/calls/transport.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { targetsJson } from '../../src/web/status/targets-json.ts';
import { textOf } from '../support/html-parts.ts';
import {
  answered,
  type Fault,
  faulty,
  ownLinesOf,
  statusSourceOf,
} from '../support/query-daemon.ts';
import { aRunningDaemon, type RunningDaemon } from '../support/running-daemon.ts';
import { eachAfter, slow } from '../support/slow.ts';

const nerdgraph = 'source: nerdgraph, account_id: 1234567,';
const sources = [
  { source: 'REST', account: '' },
  { source: 'NerdGraph', account: nerdgraph },
];

interface Scene {
  readonly account: string;
  readonly fault?: Fault;
  readonly budget?: number;
  readonly applications?: number;
  /** How many of them report nothing. */
  readonly silent?: number;
}

/** Applications with four hosts each and an interval of a minute. */
async function started({
  account,
  fault = { answer: () => undefined },
  budget = 800,
  applications = 12,
  silent = 0,
}: Scene): Promise<RunningDaemon> {
  const text = `
accounts: [{ name: one, api_key_env: KEY_A, ${account} requests_per_minute: ${budget} }]
apps: [{ match: ., metrics: [throughput, response_time, errors] }]`;
  const { config } = await parseConfig(text, { fileName: 'c.yaml', directory: '/' });
  const specs = Array.from({ length: applications }, (_, at) => {
    const kind = at < silent ? ('not_reporting' as const) : ('both' as const);
    return { id: 101 + at, name: `app-${at}`, kind, hosts: 4 };
  });
  return aRunningDaemon(config, { fleet: { applications: specs }, ...faulty(fault) });
}

/** The interval of the account, reached and configured, in the metrics and in the JSON; and on the page. */
async function shown(bench: RunningDaemon): Promise<readonly unknown[]> {
  const metrics = await ownLinesOf(bench, /^newrelic_exporter_poll_interval_/u);
  const source = statusSourceOf(bench);
  const query = { state: 'active', scrapePool: undefined, applicationId: undefined } as const;
  const { data } = JSON.parse([...targetsJson(source, query)].join('')) as {
    data: {
      accounts: readonly { pollIntervalSeconds: number; configuredIntervalSeconds: number }[];
    };
  };
  const [account] = data.accounts;
  const page = statusPage(source, new URLSearchParams(), { telemetryPath: '/metrics' });
  const cell = /data-label="interval">(?<text>.*?)<\/td>/su.exec(page)?.groups?.['text'] ?? '';
  return [
    ...metrics.map((line) => Number(line.split(' ')[1])),
    account?.pollIntervalSeconds,
    account?.configuredIntervalSeconds,
    textOf(cell),
  ];
}

/** The reached interval after each of the next minutes, in seconds. */
async function minutes({ daemon, platform }: RunningDaemon, count: number): Promise<number[]> {
  const seen: number[] = [];
  for (let minute = 0; minute < count; minute += 1) {
    await platform.clock.advance(minuteMs);
    seen.push(daemon.status()[0]?.pollIntervalSeconds ?? 0);
  }
  return seen;
}

const asConfigured = [60, 60, 60, 60, '1 min'];

describe('the interval that the last ten minutes reached', () => {
  eachAfter(0, [
    { ...sources[0], left: 20, reached: 180 },
    { ...sources[1], left: 1, reached: 300 },
  ])(
    'is shown while $left calls a minute are left, and ten calm minutes later the configured one: $source',
    async ({ account = '', left, reached }) => {
      let nowMs = (): number => 0;
      let [minute, sent] = [0, 0];
      const answer = (): ReturnType<Fault['answer']> => {
        const now = Math.floor(nowMs() / minuteMs);
        [minute, sent] = [now, now > minute ? 1 : sent + 1];
        if (sent <= left) return undefined;
        const seconds = Math.ceil(((now + 1) * minuteMs - nowMs()) / 1000);
        return answered({}, 429, { 'retry-after': `${seconds}` });
      };
      const fault: Fault = { answer };
      const bench = await started({ account, fault });
      nowMs = () => bench.platform.clock.monotonicMs();
      await minutes(bench, 25);
      const during = await shown(bench);
      const polls = async (): Promise<number> => {
        const lines = await ownLinesOf(bench, /^newrelic_exporter_polls_total/u);
        return Number(lines[0]?.split(' ')[1]);
      };
      const before = await polls();
      await minutes(bench, 15);
      const ended = (await polls()) - before;

      fault.answer = () => undefined;
      await minutes(bench, 11);

      // It is about what the polls of all twelve come to.
      expect(Math.abs((15 * 60 * 12) / ended / reached - 1)).toBeLessThan(0.2);
      const rounded = during.map((one) => (typeof one === 'number' ? Math.round(one) : one));
      expect(rounded).toEqual([reached, 60, reached, 60, `${reached / 60} min`]);
      expect(await shown(bench)).toEqual(asConfigured);
    },
  );

  eachAfter(1, sources)('grows in a pause after a 429, and ends: $source', async ({ account }) => {
    const fault: Fault = { answer: () => undefined };
    const bench = await started({ account, fault });
    await minutes(bench, 5);
    fault.answer = () => {
      fault.answer = () => undefined;
      return answered({}, 429, { 'retry-after': '240' });
    };
    const during = await minutes(bench, 6);
    const after = await minutes(bench, 11);

    const longest = Math.max(...during);
    expect(during.slice(1, 4)).toEqual(during.slice(1, 4).toSorted((one, two) => one - two));
    expect(longest).toBeGreaterThan(240);
    expect(longest).toBeLessThan(320);
    expect(after.at(0)).toBe(longest);
    expect(after.at(-1)).toBe(60);
    expect(await shown(bench)).toEqual(asConfigured);
  });

  eachAfter(0, sources)(
    'is the configured one as long as all goes well: $source',
    async (source) => {
      const bench = await started(source);

      expect(new Set(await minutes(bench, 20))).toEqual(new Set([60]));
      expect(await shown(bench)).toEqual(asConfigured);
    },
  );

  it(
    'does not change through one application of 20 that hangs, which tells its own',
    slow,
    async () => {
      const hangs = ({ target }: ApiRequest): boolean => target.includes('/applications/101/');
      const answer: Fault['answer'] = (request) => (hangs(request) ? 'hang' : undefined);
      const bench = await started({ account: '', fault: { answer }, applications: 20 });
      const seen = await minutes(bench, 20);
      const own = new Map(
        bench.daemon.applications().map(({ id, intervalSeconds }) => [id, intervalSeconds]),
      );

      expect(new Set(seen)).toEqual(new Set([60]));
      expect(own.get('101')).toBeGreaterThan(70);
      expect(own.get('102')).toBe(60);
    },
  );

  eachAfter(1, [
    { ...sources[0], budget: 32 },
    { ...sources[1], budget: 2 },
  ])('is that of the plan where the budget stretches it: $source', async (scene) => {
    const bench = await started({ account: '', ...scene });
    const seen = await minutes(bench, 20);
    const { stretch = 0 } = bench.daemon.status()[0] ?? {};

    expect(stretch).toBeGreaterThan(1.3);
    for (const one of seen.slice(1)) expect(one).toBeCloseTo(60 * stretch, 6);
  });

  it.each([
    { silent: 9, isLonger: true },
    { silent: 12, isLonger: false },
  ])('is not that of silent applications, of which nobody asks: $silent of 12', async (row) => {
    const fault: Fault = { answer: () => undefined };
    const bench = await started({ account: '', fault, silent: row.silent });
    await minutes(bench, 5);
    fault.answer = ({ operation }) =>
      operation === 'list_applications' ? undefined : answered({}, 429, { 'retry-after': '300' });
    const seen = await minutes(bench, 8);

    expect(seen.some((one) => one > 240)).toBe(row.isLonger);
    expect(seen.every((one) => one === 60)).toBe(!row.isLonger);
  });
});
