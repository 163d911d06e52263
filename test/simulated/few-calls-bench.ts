import { expect } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import type { Config } from '../../src/model/config.ts';
import { isOfQuery } from '../../src/model/snapshot.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { RawTransport } from '../../src/newrelic/calls/transport.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { targetsJson } from '../../src/web/status/targets-json.ts';
import { linesOf, statusSourceOf } from '../support/query-daemon.ts';
import { aRunningDaemon, type RunningDaemon } from '../support/running-daemon.ts';

const lookMs = 15_000;
/** Budgets of the first half of the hour and of the second one. */
const budgets: readonly [number, number] = [800, 50];
/** What blames New Relic for what the key lacks. A poll that is late names all that it may wait for. */
const blame = /too slow|slow proxy|takes too long|no complete answer|raise concurrency/iu;
const active = { state: 'active', scrapePool: undefined, applicationId: undefined } as const;

/** What a key's other users leave of it. */
export interface FewCalls {
  /** Calls in each minute of the clock; all others are refused until it is over. */
  readonly quota: number;
  readonly source: 'REST' | 'NerdGraph';
  readonly applications: number;
  /** Of each application; without any, hosts are not asked for. */
  readonly hosts: number;
}

interface SeenHour {
  /** Each value of `newrelic_up` that there was. */
  readonly ups: ReadonlySet<string>;
  readonly longestListGapMs: number;
  /** New values of each application after the first quarter of an hour, the fewest and the most. */
  readonly polls: readonly [fewest: number, most: number];
  /** Those of all of them together. */
  readonly allPolls: number;
  /** In any 60 seconds before the reload, and from a minute after it. */
  readonly mostInAnyMinute: readonly [before: number, after: number];
  readonly blamed: readonly string[];
  /** Applications with the label that the reload brought. */
  readonly labelled: number;
}

async function configOf(
  { source, hosts }: FewCalls,
  budget: number,
  team: string,
): Promise<Config> {
  const api = source === 'REST' ? '' : 'source: nerdgraph, account_id: 1234567,';
  const text = `
accounts: [{ name: one, api_key_env: KEY_A, ${api} requests_per_minute: ${budget} }]
poll: { metrics: [throughput, response_time, errors] }
apps:
  - { name: app-0, hosts: ${hosts > 0}, labels: { team: ${team} } }
  - { match: ., hosts: ${hosts > 0} }`;
  return (await parseConfig(text, { fileName: 'c.yaml', directory: '/' })).config;
}

/** Lets so many calls a minute through, and notes when each left. */
function fewCalls(wire: RawTransport, quota: number, nowMs: () => number, sentMs: number[]) {
  let [minute, left] = [0, quota];
  const send: RawTransport['send'] = async (...request) => {
    sentMs.push(nowMs());
    const now = Math.floor(nowMs() / minuteMs);
    if (now > minute) [minute, left] = [now, quota];
    left -= 1;
    if (left >= 0) return wire.send(...request);
    const seconds = Math.ceil(((now + 1) * minuteMs - nowMs()) / 1000);
    return { status: 429, headers: { 'retry-after': String(seconds) }, body: '{}' };
  };
  return { ...wire, send };
}

/** The status page and its JSON. */
function textsOf(bench: RunningDaemon): readonly string[] {
  const source = statusSourceOf(bench);
  return [
    statusPage(source, new URLSearchParams(), { telemetryPath: '/metrics' }),
    [...targetsJson(source, active)].join(''),
  ];
}

function mostInAnyMinute(timesMs: readonly number[]): number {
  let [most, first] = [0, 0];
  for (const [at, atMs] of timesMs.entries()) {
    while (atMs - (timesMs[first] ?? atMs) >= minuteMs) first += 1;
    most = Math.max(most, at - first + 1);
  }
  return most;
}

/** An hour in which others use up the key, with a reload in its middle: another budget, and a label. */
async function hourWith(scene: FewCalls): Promise<SeenHour> {
  const { quota, applications, hosts } = scene;
  const sentMs: number[] = [];
  const successes = new Map<string, number>();
  const polls = new Map<string, number>();
  const bench = await aRunningDaemon(await configOf(scene, budgets[0], 'old'), {
    fleet: {
      traffic: 'flat',
      applications: Array.from({ length: applications }, (_, at) => {
        return { id: 101 + at, name: `app-${at}`, kind: 'both' as const, hosts };
      }),
    },
    wire: (wire) => fewCalls(wire, quota, () => bench.platform.clock.monotonicMs(), sentMs),
    watch: (sink) => ({
      publish: (snapshot) => {
        sink.publish(snapshot);
        if (isOfQuery(snapshot) || snapshot.lastSuccessMs === undefined) return;
        const { id } = snapshot.application;
        // A discovery publishes again what a poll has brought.
        if (successes.get(id) === snapshot.lastSuccessMs) return;
        successes.set(id, snapshot.lastSuccessMs);
        if (bench.platform.clock.monotonicMs() < 15 * minuteMs) return;
        polls.set(id, (polls.get(id) ?? 0) + 1);
      },
    }),
  });
  const { clock } = bench.platform;
  await clock.advance(1);
  const [ups, blamed] = [new Set<string>(), new Set<string>()];
  let longestListGapMs = 0;
  const look = async (minutes: number): Promise<void> => {
    const untilMs = clock.monotonicMs() + minutes * minuteMs;
    while (clock.monotonicMs() < untilMs) {
      await clock.advance(lookMs);
      const listedMs = bench.daemon.status()[0]?.lastDiscoveryMs ?? clock.wallMs();
      longestListGapMs = Math.max(longestListGapMs, clock.wallMs() - listedMs);
      if (Math.floor(clock.monotonicMs() / lookMs) % 20 !== 0) continue;
      for (const line of await linesOf(bench, /^newrelic_up/u)) ups.add(line);
      for (const text of textsOf(bench)) blamed.add(blame.exec(text)?.[0] ?? '');
    }
  };
  await look(30);
  await bench.daemon.apply(await configOf(scene, budgets[1], 'new'));
  const reloadedMs = clock.monotonicMs();
  await look(30);

  for (const { fields, message } of bench.logger.lines) {
    const text = `${message} ${JSON.stringify(fields)} ${String(fields['error'])}`;
    blamed.add(blame.exec(text)?.[0] ?? '');
  }
  blamed.delete('');
  const counts = [...successes.keys()].map((id) => polls.get(id) ?? 0);
  return {
    ups,
    longestListGapMs,
    polls: [successes.size < applications ? 0 : Math.min(...counts), Math.max(...counts)],
    allPolls: counts.reduce((sum, count) => sum + count, 0),
    mostInAnyMinute: [
      mostInAnyMinute(sentMs.filter((atMs) => atMs < reloadedMs)),
      mostInAnyMinute(sentMs.filter((atMs) => atMs >= reloadedMs + minuteMs)),
    ],
    blamed: [...blamed],
    labelled: (await linesOf(bench, /^newrelic_application_info\{.*team="new"/u)).length,
  };
}

export async function expectInTurn(scene: FewCalls): Promise<void> {
  const seen = await hourWith(scene);
  const [fewest, most] = seen.polls;

  expect([...seen.ups]).toEqual(['newrelic_up{account="one"} 1']);
  expect(seen.longestListGapMs).toBeLessThanOrEqual(3 * minuteMs);
  expect(most - fewest).toBeLessThanOrEqual(1);
  expect(seen.allPolls).toBeGreaterThan(0);
  expect(seen.mostInAnyMinute[0]).toBeLessThanOrEqual(budgets[0]);
  expect(seen.mostInAnyMinute[1]).toBeLessThanOrEqual(budgets[1]);
  expect(seen.blamed).toEqual([]);
  expect(seen.labelled).toBe(1);
}
