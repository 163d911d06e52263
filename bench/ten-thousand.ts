/**
 * 10,000 of everything: the built daemon and the simulator over real sockets, with a budget that holds
 * nothing back. The longest turn of the event loop in each phase, what the first poll costs, and how long a
 * scrape takes while the configuration is reloaded.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { processMs } from './cpu-time.ts';
import {
  accountOf,
  type Build,
  type Daemon,
  ofEach,
  startDaemon,
  startVendor,
  until,
  type Vendor,
} from './processes.ts';
import type { Row } from './table.ts';

const unlimited = { requests_per_minute: 1_000_000, concurrency: 50 };
const firstId = 1_000_000;
const turnLimitMs = 100;

interface Fleet {
  readonly applications: number;
  readonly hostsEach: number;
}

async function vendorOf({ applications, hostsEach }: Fleet, idStep = 1): Promise<Vendor> {
  const specs = Array.from({ length: applications }, (_, index) => ({
    id: firstId + index * idStep,
    hosts: hostsEach,
  }));
  return startVendor({ quotaPerMinute: 1_000_000_000, fleet: { applications: specs } });
}

async function untilReady({ url }: Daemon): Promise<void> {
  await until('every account is ready', async () =>
    (await fetch(`${url}/-/ready`)).ok ? true : undefined,
  );
}

/** A reload, the longest scrape while it happens, in real time, and its CPU time. */
async function reloaded(
  daemon: Daemon,
  config: string,
): Promise<{ readonly scrapeMs: number; readonly cpuMs: number }> {
  const before = processMs(daemon.pid);
  const state = { isOver: false };
  const reload = daemon.reload(config).finally(() => {
    state.isOver = true;
  });
  let scrapeMs = 0;
  while (!state.isOver) {
    const startMs = performance.now();
    await daemon.page('gzip');
    scrapeMs = Math.max(scrapeMs, performance.now() - startMs);
  }
  await reload;
  return { scrapeMs, cpuMs: processMs(daemon.pid) - before };
}

interface Life {
  readonly firstPollCpuMs: number;
  readonly scrapeMs: number;
  readonly turnsMs: ReadonlyMap<string, number>;
}

/** First poll, reload, rename, 429 of everything, recovery. */
async function lifeOf(build: Build, fleet: Fleet): Promise<Life> {
  const vendor = await vendorOf(fleet);
  const configWith = (team: string): string =>
    JSON.stringify({
      accounts: [accountOf(vendor, 'rest', unlimited)],
      poll: { discovery_interval: '10s' },
      apps: [{ match: '.', labels: { team } }],
    });
  const apiKey = vendor.apiKeys[0];
  const daemon = await startDaemon(build, { config: configWith('a'), apiKey, watchesTurns: true });
  const turnsMs = new Map<string, number>();
  const ended = async (phase: string): Promise<void> => {
    turnsMs.set(phase, await daemon.longestTurnMs());
  };
  // While the program is loaded nothing else waits.
  await daemon.longestTurnMs();
  const before = processMs(daemon.pid);
  await untilReady(daemon);
  const firstPollCpuMs = processMs(daemon.pid) - before;
  await ended('first poll');
  const { scrapeMs } = await reloaded(daemon, configWith('b'));
  await pause(2000);
  await ended('reload');
  await vendor.send('rename');
  await until(
    'all have their new names',
    async () => {
      const page = await daemon.page();
      const named = page.match(/^newrelic_application_poll_success\{.*app_name="service .*$/gmu);
      return named?.length === fleet.applications ? true : undefined;
    },
    2000,
  );
  await ended('rename');
  await vendor.send('refuse');
  await pause(10_000);
  await ended('429 of everything');
  await vendor.send('answer');
  await pause(15_000);
  await ended('recovery');
  await daemon.stop();
  vendor.stop();
  return { firstPollCpuMs, scrapeMs, turnsMs };
}

function longestOf({ turnsMs }: Life): readonly [phase: string, ms: number] {
  return [...turnsMs].toSorted(([, left], [, right]) => right - left)[0] ?? ['', Number.NaN];
}

async function lives(
  name: string,
  builds: readonly Build[],
  fleet: Fleet,
): Promise<readonly Row[]> {
  const all = await ofEach(builds, async (build) => lifeOf(build, fleet));
  const [ours] = all;
  const phase = ours === undefined ? '' : longestOf(ours)[0];
  return [
    {
      goal: 'P16',
      what: `${name}: longest turn (${phase})`,
      unit: 'ms',
      values: all.map((one) => (one === undefined ? undefined : longestOf(one)[1])),
      limit: turnLimitMs,
    },
    {
      goal: '',
      what: `${name}: longest scrape during a reload`,
      unit: 'ms',
      digits: 0,
      values: all.map((one) => one?.scrapeMs),
    },
    {
      goal: '',
      what: `${name}: CPU of the first poll`,
      unit: 's',
      values: all.map((one) => (one === undefined ? undefined : one.firstPollCpuMs / 1000)),
    },
  ];
}

/** Every second entry has an application. */
function fileOf(vendor: Vendor, entries: number, team: string): string {
  const account = JSON.stringify(accountOf(vendor, 'rest', unlimited));
  const apps = Array.from(
    { length: entries },
    (_, index) => `  - id: ${firstId + index}\n    labels:\n      team: ${team}\n`,
  );
  return `accounts:\n  - ${account}\npoll:\n  interval: 1h\napps:\n${apps.join('')}`;
}

async function reloadOf(build: Build, entries: number) {
  const vendor = await vendorOf({ applications: entries / 2, hostsEach: 1 }, 2);
  const daemon = await startDaemon(build, {
    config: fileOf(vendor, entries, 'a'),
    apiKey: vendor.apiKeys[0],
    watchesTurns: true,
  });
  await untilReady(daemon);
  await daemon.longestTurnMs();
  const { cpuMs, scrapeMs } = await reloaded(daemon, fileOf(vendor, entries, 'b'));
  const turnMs = await daemon.longestTurnMs();
  await daemon.stop();
  vendor.stop();
  return { cpuMs, scrapeMs, turnMs };
}

async function reloads(builds: readonly Build[], entries: number): Promise<readonly Row[]> {
  const all = await ofEach(builds, async (build) => reloadOf(build, entries));
  const what = `reload of ${entries} entries`;
  const shape = { goal: '', unit: 'ms', digits: 0 } as const;
  return [
    {
      ...shape,
      what: `${what}: longest turn`,
      values: all.map((one) => one?.turnMs),
      limit: entries > 1000 ? 1000 : turnLimitMs,
    },
    { ...shape, what: `${what}: CPU`, values: all.map((one) => one?.cpuMs) },
    { ...shape, what: `${what}: longest scrape`, values: all.map((one) => one?.scrapeMs) },
  ];
}

export async function tenThousandBench(builds: readonly Build[]): Promise<readonly Row[]> {
  const few = await lives('2500 applications', builds, { applications: 2500, hostsEach: 1 });
  const many = await lives('10,000 applications', builds, { applications: 10_000, hostsEach: 1 });
  const [, , fewCpu] = few;
  const rows = many.map((row): Row => {
    if (!row.what.includes('CPU')) return row;
    const peer = { name: '4 times that of 2500', value: 4 * (fewCpu?.values[0] ?? Number.NaN) };
    return { ...row, goal: 'P16', peer, limit: 1.2 };
  });
  return [
    ...rows,
    ...(await lives('10,000 hosts', builds, { applications: 1, hostsEach: 10_000 })),
    ...(await reloads(builds, 1000)),
    ...(await reloads(builds, 10_000)),
  ];
}
