/**
 * P16: the longest turn of the event loop, and the CPU time of a simulated minute, with 10,000
 * applications of one host and with one of 10,000 hosts. The poller on a simulated clock and a vendor
 * that answers after 600 ms; CPU time of the main thread. Arguments: how many applications or hosts,
 * 10,000 if left out; rounds, of which the median counts, 3 if left out; what the name of a scene has
 * to contain, all scenes if left out.
 */
import { setMaxListeners } from 'node:events';
import { loadPatternCompiler } from '../src/config/name-pattern.ts';
import type { Application } from '../src/model/application.ts';
import type { Clock } from '../src/model/clock.ts';
import type { AccountConfig, AppEntry, PollConfig } from '../src/model/config.ts';
import { seriesOf, type Values } from '../src/model/polled-series.ts';
import { selectApplications } from '../src/model/selector.ts';
import type { Source } from '../src/model/source.ts';
import { AccountPoller } from '../src/poller/account-poller.ts';
import { createCallScheduler } from '../src/rate-limit/call-scheduler.ts';
import type { RestClient } from '../src/rest/rest-client.ts';
import { createRestSource } from '../src/rest/rest-source.ts';
import { aMembership } from '../test/rate-limit/fakes.ts';
import { inTurn, unobserved } from '../test/support/fake-source.ts';
import { createBatchSource } from './batch-source.ts';
import { show, spreadOf } from './median.ts';
import { cpuMs, createTurnClock, createTurns } from './turns.ts';

const count = Number(process.argv[2] ?? '10000');
const goals = { turnMs: 20, minuteSeconds: 0.3 };
const minuteMs = 60_000;
const latencyMs = 600;
const lowestId = 1_000_000;
const rounds = Number(process.argv[3] ?? '3');
const chosen = process.argv[4] ?? '';

const account: AccountConfig = {
  name: 'bench',
  baseUrl: 'https://api.newrelic.com',
  apiKey: { kind: 'env', name: 'BENCH_KEY' },
  source: { kind: 'rest', accountId: undefined },
  apiKeyHeader: 'Api-Key',
  requestsPerMinute: 800,
  concurrency: 8,
  timeoutMs: 30_000,
  proxyUrl: undefined,
  caFile: undefined,
};

function entryOf(overrides: Partial<PollConfig>, labels: AppEntry['labels'] = {}): AppEntry {
  return {
    account: account.name,
    selector: { kind: 'match', pattern: /^/u },
    labels,
    hosts: true,
    application: true,
    transactions: ['web', 'other'],
    series: seriesOf(overrides.metrics ?? ['throughput'], ['web', 'other']),
    poll: {
      intervalMs: minuteMs,
      discoveryIntervalMs: minuteMs,
      window: { kind: 'range', lengthMs: 5 * minuteMs },
      delayMs: 3 * minuteMs,
      staleAfterMs: 15 * minuteMs,
      hostNames: false,
      raw: false,
      metrics: ['throughput'],
      ...overrides,
    },
  };
}

function applicationsOf(
  applications: number,
  hostsEach: number,
  reporting: boolean,
): Application[] {
  return Array.from({ length: applications }, (_, index) => ({
    id: String(lowestId + index),
    name: `application ${index}`,
    language: 'java',
    healthStatus: 'green',
    reporting,
    lastReportedAtMs: 1,
    summary: {
      requestsPerMinute: index,
      responseTimeSeconds: 0.1,
      errorRatio: 0,
      apdexScore: 1,
      apdexTargetSeconds: 0.5,
    },
    hostIds: Array.from({ length: hostsEach }, (__, host) =>
      String(5_000_000 + index * hostsEach + host),
    ),
    instances: 0,
  }));
}

function aSource(clock: Clock, applications: () => Application[]): Source {
  const answer = async (): Promise<{
    values: Values;
    windowEndMs: undefined;
  }> => {
    await new Promise<void>((resolve) => {
      clock.after(latencyMs, resolve);
    });
    return { values: [1], windowEndMs: undefined };
  };
  const client: RestClient = {
    discover: async () => ({
      applications: applications(),
      complete: true,
      unreadableIds: [],
      pendingIds: [],
      calls: 50,
      error: undefined,
    }),
    hostNames: async (id, context, wanted) => {
      await inTurn(context, answer);
      const hostIds = applications()[Number(id) - lowestId]?.hostIds ?? [];
      const ids = wanted === undefined ? hostIds : hostIds.slice(0, 1);
      const names = new Map(ids.map((hostId) => [hostId, wanted?.[0] ?? `web-${hostId}.internal`]));
      return { names, error: undefined, calls: 1 };
    },
    metrics: async (_id, _host, _query, context) => inTurn(context, answer),
  };
  return createRestSource('main', { client, clock, ...unobserved });
}

interface Scene {
  readonly name: string;
  readonly applications: number;
  readonly hostsEach: number;
  readonly intervalMs?: number;
  readonly reporting?: boolean;
  readonly minutes?: number;
  readonly hosts?: AppEntry['hosts'];
  readonly application?: boolean;
  /** Whether each application has an entry of its own. */
  readonly byId?: boolean;
  /** Whether one call answers for many applications. */
  readonly inBatches?: boolean;
}

/** As the expressions of a configuration are. */
const compile = await loadPatternCompiler();

const nothing = (): void => undefined;

function aPoller(clock: Clock, source: Source, entries: readonly AppEntry[]): AccountPoller {
  const { requestsPerMinute, concurrency } = account;
  const limit = aMembership(requestsPerMinute, clock);
  return new AccountPoller(
    { account, entries },
    {
      source,
      clock,
      random: () => 0.5,
      sink: { publish: nothing, remove: nothing, accountUp: nothing, removeAccount: nothing },
      logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
      observer: { polled: nothing, skipped: nothing },
      limit,
      scheduler: createCallScheduler({ requestsPerMinute, concurrency }, { clock, limit }),
    },
  );
}

/** The longest turn of each phase, and what a minute of the steady state costs. */
interface Round {
  readonly turnsMs: Readonly<Record<string, number>>;
  readonly minuteSeconds: number;
}

async function runOnce(scene: Scene): Promise<Round> {
  const turns = createTurns();
  const clock = createTurnClock(turns);
  const { intervalMs = minuteMs, reporting = true, minutes = 3 } = scene;
  let listed = applicationsOf(scene.applications, scene.hostsEach, reporting);
  const rest = aSource(clock, () => listed);
  const source = scene.inBatches === true ? createBatchSource(rest, { clock, latencyMs }) : rest;
  const { hosts = true, application = true, byId = false } = scene;
  const entriesWith = (labels: AppEntry['labels']): readonly AppEntry[] => {
    const entry = { ...entryOf({ intervalMs }, labels), hosts, application };
    return byId ? listed.map(({ id }) => ({ ...entry, selector: { kind: 'id', id } })) : [entry];
  };
  const poller = aPoller(clock, source, entriesWith({}));
  const turnsMs: Record<string, number> = {};
  const phase = async (name: string, work: () => Promise<void>): Promise<void> => {
    await turns.tick();
    turns.longestMs();
    await work();
    turnsMs[name] = turns.longestMs();
  };

  const abort = new AbortController();
  setMaxListeners(0, abort.signal);
  let done: Promise<void> | undefined;
  await phase('start', async () => {
    done = poller.run(abort.signal);
    await clock.advance(1000);
  });
  await phase('steady', async () => clock.advance(minutes * minuteMs));
  const beforeMs = cpuMs();
  await turns.unwatched(async () => clock.advance(minutes * minuteMs));
  const minuteSeconds = (cpuMs() - beforeMs) / minutes / 1000;
  // New objects with other values, as every discovery of the vendor brings.
  listed = applicationsOf(scene.applications, scene.hostsEach, reporting).map((one, index) => ({
    ...one,
    lastReportedAtMs: index,
  }));
  await phase('discovery', async () => clock.advance(minuteMs));
  const nextEntries = entriesWith({ team: 'other' });
  await phase('reload', async () => {
    const reconfigured = poller.reconfigure({ account, entries: nextEntries });
    await clock.advance(1000);
    await reconfigured;
  });
  await phase('stop', async () => {
    abort.abort(new Error('the bench is over'));
    await clock.advance(1);
    await done;
    await turns.tick();
  });
  return { turnsMs, minuteSeconds };
}

function verdict(value: number, goal: number): string {
  return value <= goal ? 'reached' : 'MISSED';
}

async function run(scene: Scene): Promise<void> {
  if (!scene.name.includes(chosen)) return;
  const all: Round[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(await runOnce(scene));
  const turns = spreadOf(all.map(({ turnsMs }) => Math.max(...Object.values(turnsMs))));
  const minutes = spreadOf(all.map(({ minuteSeconds }) => minuteSeconds));
  const parts = Object.keys(all[0]?.turnsMs ?? {}).map((name) => {
    const { median } = spreadOf(all.map(({ turnsMs }) => turnsMs[name] ?? 0));
    return `${name} ${median.toFixed(1)}`;
  });
  process.stdout.write(
    [
      `  ${scene.name}`,
      `    longest turns, ms  ${parts.join(', ')}`,
      `    P16 longest turn   ${show(turns)} ms, goal <= ${goals.turnMs} ms: ${verdict(turns.median, goals.turnMs)}`,
      `    P16 CPU a minute   ${show(minutes, 3)} s, goal <= ${goals.minuteSeconds} s: ${verdict(minutes.median, goals.minuteSeconds)}`,
      '',
    ].join('\n'),
  );
}

process.stdout.write(
  `many-applications: ${count}, 800 calls a minute, answers take ${latencyMs} ms; ${rounds} rounds, median (min to max)\n`,
);
// What runs for the first time is not optimized yet.
await runOnce({ name: 'warm-up', applications: 200, hostsEach: 2, minutes: 2 });
await run({ name: `${count} applications of one host`, applications: count, hostsEach: 1 });
await run({
  name: `${count} applications of one host in batches`,
  applications: count,
  hostsEach: 1,
  inBatches: true,
});
await run({
  name: `${count} applications of one host, all due at once, every hour`,
  applications: count,
  hostsEach: 1,
  intervalMs: 60 * minuteMs,
});
await run({
  name: `${count} applications that do not report`,
  applications: count,
  hostsEach: 1,
  reporting: false,
});
await run({
  name: `one application of ${count} hosts`,
  applications: 1,
  hostsEach: count,
  minutes: 20,
});
await run({
  name: `${count} applications of five hosts that match, every half hour`,
  applications: count,
  hostsEach: 5,
  intervalMs: 30 * minuteMs,
  minutes: 90,
  hosts: { kind: 'match', pattern: compile('^web-') },
});
await run({
  name: `one application of ${count} hosts that match`,
  applications: 1,
  hostsEach: count,
  minutes: 20,
  hosts: { kind: 'match', pattern: compile('^web-') },
});
await run({
  name: `${count} entries with the host of this process only`,
  applications: count,
  hostsEach: 1,
  minutes: 20,
  hosts: { kind: 'self', names: ['own-pod'] },
  application: false,
  byId: true,
});

const many = applicationsOf(count, 0, true);
const byId = many.map(({ id }) => ({ ...entryOf({}), selector: { kind: 'id' as const, id } }));
const selections = spreadOf(
  Array.from({ length: rounds }, () => {
    const beforeMs = cpuMs();
    selectApplications(byId, many);
    return cpuMs() - beforeMs;
  }),
);
process.stdout.write(
  `  ${count} entries by id, ${count} applications\n` +
    `    P16 selection      ${show(selections)} ms, goal <= ${goals.turnMs} ms: ${verdict(selections.median, goals.turnMs)}\n`,
);
