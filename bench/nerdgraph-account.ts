/**
 * The largest account that New Relic allows, 50,000 hosts of 2500 applications, polled every minute over
 * NerdGraph: the built daemon, and the simulator as a process of its own, which answers after 80 to 400 ms
 * and the time that it takes itself. Beside it an account of 10,000 hosts, for the ratio, and the calls of
 * smaller ones. Arguments: minutes to measure, 3 if left out; the hosts of the only account, all if
 * left out.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/daemon-process.ts';
import { cpuSecondsOf } from './cpu-seconds-of.ts';

interface Account {
  readonly applications: number;
  readonly hosts: number;
}

const minutes = Number(process.argv[2] ?? '3');
const onlyHosts = Number(process.argv[3] ?? '0');
const small: readonly Account[] = [
  { applications: 1, hosts: 1 },
  { applications: 10, hosts: 200 },
  { applications: 125, hosts: 2500 },
];
const large: readonly Account[] = [
  { applications: 500, hosts: 10_000 },
  { applications: 2500, hosts: 50_000 },
];
/** A value that is asked for every minute is a minute old, and the time of its answers. */
const goal = { ageSeconds: 75, turnMs: 100 };
const scrapeMs = 15_000;
const patienceMs = 300_000;

interface Running {
  readonly applications: number;
  /** Two hosts of an application with the same name are one. */
  readonly hosts: number;
  readonly vendor: ChildProcess;
  readonly daemon: ChildProcess;
  readonly url: string;
  readonly directory: string;
  readonly turnsFile: string;
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

async function start({ applications, hosts }: Account): Promise<Running> {
  const vendor = fork(pathOf('simulator-process.js'), [`${applications}`, `${hosts}`, '0', 'flat']);
  const [address] = await once(vendor, 'message');
  const directory = await mkdtemp(join(tmpdir(), 'bench-nerdgraph-'));
  const [config, turnsFile] = [join(directory, 'config.yaml'), join(directory, 'turns')];
  await writeFile(
    config,
    [
      'accounts:',
      '  - name: bench',
      `    base_url: ${address.baseUrl}`,
      '    source: nerdgraph',
      '    account_id: 1234567',
      '    api_key_env: BENCH_KEY',
      'apps:',
      '  - match: "."',
      '',
    ].join('\n'),
  );
  const port = await freePort();
  const daemon = spawn(
    process.execPath,
    [
      // For a profile: `--cpu-prof --cpu-prof-dir=DIRECTORY`.
      ...(process.env['BENCH_NODE_OPTIONS'] ?? '').split(' ').filter((option) => option !== ''),
      `--import=${pathOf('watch-turns.js')}`,
      pathOf('../../dist/main.js'),
      `--config.file=${config}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    {
      env: { ...process.env, BENCH_KEY: address.apiKey, BENCH_TURNS: turnsFile },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  return {
    applications,
    hosts: address.hostNames,
    vendor,
    daemon,
    url: `http://127.0.0.1:${port}`,
    directory,
    turnsFile,
  };
}

async function stop({ vendor, daemon, directory }: Running): Promise<void> {
  const ended = once(daemon, 'close');
  daemon.kill('SIGTERM');
  await ended;
  vendor.disconnect();
  await rm(directory, { recursive: true });
}

interface Scrape {
  readonly applications: number;
  /** That the last answers named. */
  readonly hosts: number;
  /** A host without a call since the start has no values. */
  readonly hostsWithValues: number;
  /** Since the poll of the application for which that is longest. */
  readonly oldestSeconds: number;
  readonly rssBytes: number;
}

const hostLine =
  /^newrelic_application_host_requests_per_minute\{[^}]*app_id="(\d+)"[^}]*host_id="([^"]+)"/gmu;
const listedLine = /^newrelic_application_hosts\{[^}]*\} (\S+)/gmu;
const successLine = /^newrelic_application_last_success_timestamp_seconds\{[^}]*\} (\S+)/gmu;

async function scrape({ url }: Running): Promise<Scrape | undefined> {
  const response = await fetch(`${url}/metrics`).catch(() => undefined);
  if (response?.ok !== true) return undefined;
  const nowSeconds = Date.now() / 1000;
  const page = await response.text();
  const hosts = new Set(Array.from(page.matchAll(hostLine), ([, id, host]) => `${id} ${host}`));
  const listed = Array.from(page.matchAll(listedLine), ([, count]) => Number(count));
  const successes = Array.from(page.matchAll(successLine), ([, seconds]) => Number(seconds));
  return {
    applications: successes.length,
    hosts: listed.reduce((sum, one) => sum + one, 0),
    hostsWithValues: hosts.size,
    oldestSeconds:
      nowSeconds - successes.reduce((oldest, one) => Math.min(oldest, one), nowSeconds),
    rssBytes: Number(/^process_resident_memory_bytes (\S+)/mu.exec(page)?.[1]),
  };
}

function isWhole(seen: Scrape | undefined, { applications, hosts }: Running): boolean {
  return seen?.applications === applications && seen.hosts === hosts;
}

/** Seconds until every application has been polled with all its hosts. */
async function firstSetSeconds(running: Running): Promise<number> {
  const startMs = performance.now();
  for (;;) {
    await pause(2000);
    const seen = await scrape(running);
    const seconds = (performance.now() - startMs) / 1000;
    if (isWhole(seen, running)) return seconds;
    if (seconds * 1000 > patienceMs) {
      throw new Error(`never whole: ${JSON.stringify(seen)}, with ${running.hosts} hosts`);
    }
  }
}

interface Calls {
  readonly requests: number;
  readonly nrql: number;
}

async function callsSeenBy({ vendor }: Running): Promise<Calls> {
  vendor.send('report');
  const [seen] = await once(vendor, 'message');
  return seen;
}

interface Cost {
  readonly scrapes: readonly Scrape[];
  readonly callsPerMinute: number;
  readonly nrqlPerMinute: number;
  /** CPU time, in per cent of a core. */
  readonly daemonShare: number;
  readonly vendorShare: number;
  readonly longestTurn: { readonly ms: number; readonly cpuMs: number };
}

async function longestTurnIn(
  { turnsFile }: Running,
  fromLine: number,
): Promise<Cost['longestTurn']> {
  const turns = (await linesOf(turnsFile))
    .slice(fromLine)
    .map((line) => line.split(' ').map(Number));
  const longest = (index: number): number =>
    turns.reduce((most, turn) => Math.max(most, turn[index] ?? 0), 0);
  return { ms: longest(0), cpuMs: longest(1) };
}

async function linesOf(file: string): Promise<readonly string[]> {
  return (await readFile(file, 'utf8')).trim().split('\n');
}

async function measure(running: Running, forMs: number): Promise<Cost> {
  const { daemon, vendor } = running;
  const startMs = performance.now();
  const firstLine = (await linesOf(running.turnsFile)).length;
  const before = await callsSeenBy(running);
  const cpuOf = async (): Promise<readonly [number, number]> => [
    await cpuSecondsOf(daemon.pid ?? 0),
    await cpuSecondsOf(vendor.pid ?? 0),
  ];
  const [daemonBefore, vendorBefore] = await cpuOf();
  const scrapes: Scrape[] = [];
  while (performance.now() - startMs < forMs) {
    await pause(Math.min(scrapeMs, forMs - (performance.now() - startMs)));
    const seen = await scrape(running);
    if (seen !== undefined) scrapes.push(seen);
  }
  const after = await callsSeenBy(running);
  const [daemonAfter, vendorAfter] = await cpuOf();
  const seconds = (performance.now() - startMs) / 1000;
  return {
    scrapes,
    callsPerMinute: (60 * (after.requests - before.requests)) / seconds,
    nrqlPerMinute: (60 * (after.nrql - before.nrql)) / seconds,
    daemonShare: (100 * (daemonAfter - daemonBefore)) / seconds,
    vendorShare: (100 * (vendorAfter - vendorBefore)) / seconds,
    longestTurn: await longestTurnIn(running, firstLine),
  };
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

function verdict(isReached: boolean): string {
  return isReached ? 'reached' : 'MISSED';
}

function titleOf({ applications, hosts }: Account): string {
  return `${hosts} hosts of ${applications} applications`;
}

async function runLarge(account: Account): Promise<Cost> {
  const running = await start(account);
  try {
    const first = await firstSetSeconds(running);
    // In its first second the program is loaded, whatever the account.
    const begin = await longestTurnIn(running, 1);
    const cost = await measure(running, minutes * 60_000);
    const { scrapes, longestTurn } = cost;
    const oldest = Math.max(...scrapes.map(({ oldestSeconds }) => oldestSeconds));
    const whole = scrapes.filter((seen) => isWhole(seen, running)).length;
    const rss = Math.max(...scrapes.map(({ rssBytes }) => rssBytes)) / 1024 ** 2;
    const isFresh = whole === scrapes.length && oldest <= goal.ageSeconds;
    print([
      '',
      `nerdgraph-account: ${titleOf(account)}, load ${loadavg()[0]?.toFixed(1)}`,
      `  first full set      ${first.toFixed(0)} s`,
      `  whole               ${whole} of ${scrapes.length} scrapes have every application and host; ${scrapes.at(-1)?.hostsWithValues} hosts have had calls`,
      `  oldest values       ${oldest.toFixed(1)} s, goal <= ${goal.ageSeconds} s: ${verdict(isFresh)}`,
      `  calls a minute      ${cost.callsPerMinute.toFixed(1)}, ${cost.nrqlPerMinute.toFixed(1)} of them NRQL`,
      `  resident            ${rss.toFixed(0)} MiB at most`,
      `  CPU                 ${cost.daemonShare.toFixed(1)} % of a core; the simulator ${cost.vendorShare.toFixed(1)} %`,
      `  longest turn        ${longestTurn.cpuMs.toFixed(0)} ms of CPU, ${longestTurn.ms.toFixed(0)} ms in all, goal <= ${goal.turnMs} ms of CPU: ${verdict(longestTurn.cpuMs <= goal.turnMs)}`,
      `  until the first set ${begin.cpuMs.toFixed(0)} ms of CPU, ${begin.ms.toFixed(0)} ms in all`,
    ]);
    return cost;
  } finally {
    await stop(running);
  }
}

async function runSmall(account: Account): Promise<string> {
  const running = await start(account);
  try {
    await firstSetSeconds(running);
    const { callsPerMinute, nrqlPerMinute } = await measure(running, minutes * 60_000);
    return `  ${titleOf(account)}: ${callsPerMinute.toFixed(1)} calls a minute, ${nrqlPerMinute.toFixed(1)} of them NRQL`;
  } finally {
    await stop(running);
  }
}

const isWanted = ({ hosts }: Account): boolean => onlyHosts === 0 || hosts === onlyHosts;
print([`nerdgraph-account: ${minutes} minutes, a scrape every ${scrapeMs / 1000} s`]);
print(await Promise.all(small.filter(isWanted).map(runSmall)));
const costs: Cost[] = [];
for (const account of large.filter(isWanted)) costs.push(await runLarge(account));
const [least, most] = costs;
if (least !== undefined && most !== undefined) {
  const cpu = most.daemonShare / least.daemonShare;
  const nrql = most.nrqlPerMinute / least.nrqlPerMinute;
  print([
    '',
    `  5 times the hosts: ${cpu.toFixed(2)} times the CPU time, ${nrql.toFixed(2)} times the NRQL`,
  ]);
}
