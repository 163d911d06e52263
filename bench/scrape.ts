/**
 * CPU time of a scrape with gzip, everything that the process does for it included, while something has
 * changed since the one before, as in practice. Beside it the same series in the registries of prom-client
 * and client_golang.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { presetNames } from '../src/model/presets.ts';
import { threadsMs } from './cpu-time.ts';
import {
  accountOf,
  type Build,
  type Daemon,
  forkOf,
  messageOf,
  pathOf,
  seriesIn,
  startDaemon,
  startVendor,
  type Vendor,
  wholePage,
} from './processes.ts';
import type { Row } from './table.ts';

const scrapes = 20;
const sizes = [
  { applications: 33, hosts: 660 },
  { applications: 330, hosts: 6600 },
] as const;
type Size = (typeof sizes)[number];

/** All are polled once; one application is polled every second under another name of the account. */
function configOf(vendor: Vendor): string {
  const changing = { name: 'changing', api_key_env: 'BENCH_KEY' };
  return JSON.stringify({
    accounts: [accountOf(vendor, 'nerdgraph'), { ...accountOf(vendor, 'rest'), ...changing }],
    poll: { discovery_interval: '1h' },
    apps: [
      { match: '.', account: 'bench', metrics: presetNames, interval: '1h' },
      { id: vendor.firstId, account: 'changing', interval: '1s', hosts: false },
    ],
  });
}

async function get(url: string): Promise<void> {
  const response = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
  await response.arrayBuffer();
}

/** CPU time of a scrape, with one a second, less as much time without: alike for us and for the peers. */
async function msOfScrape(pid: number, page: string): Promise<number> {
  const costOf = async (each: () => Promise<void>): Promise<number> => {
    const before = threadsMs(pid);
    for (let index = 0; index < scrapes; index += 1) {
      const nextMs = performance.now() + 1000;
      await each();
      await pause(nextMs - performance.now());
    }
    return threadsMs(pid) - before;
  };
  const scrape = async (): Promise<void> => get(page);
  // What runs for the first time is not optimized yet.
  for (let index = 0; index < scrapes; index += 1) await scrape();
  const without = await costOf(async () => undefined);
  return ((await costOf(scrape)) - without) / scrapes;
}

function addressOf(port: number | string): string {
  return `http://127.0.0.1:${port}/metrics`;
}

interface Peer {
  readonly name: string;
  readonly ms: number;
}

async function promClient(pageFile: string): Promise<Peer> {
  const child = forkOf('prom-client-process', [pageFile]);
  const ms = await msOfScrape(child.pid ?? 0, addressOf(await messageOf<number>(child)));
  child.disconnect();
  return { name: 'prom-client', ms };
}

/** The program, or why there is none. */
function builtGoProgram(directory: string): { readonly path?: string; readonly problem?: string } {
  const path = join(directory, 'client-golang');
  try {
    execFileSync('go', ['build', '-o', path, '.'], {
      cwd: pathOf('../../bench/client-golang'),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    return { path };
  } catch (error) {
    const { message } = error as Error;
    return { problem: message.includes('ENOENT') ? 'there is no Go toolchain' : message };
  }
}

async function clientGolang(program: string, pageFile: string): Promise<Peer> {
  const child = spawn(program, [pageFile], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  const ms = await msOfScrape(child.pid ?? 0, addressOf(port.toString().trim()));
  child.kill();
  return { name: 'client_golang', ms };
}

/** The lines of New Relic's data alone. */
function dataOf(page: string): string {
  const ofOurselves = /^(?:# (?:HELP|TYPE) )?(?:newrelic_exporter_|process_|nodejs_)/u;
  return page
    .split('\n')
    .filter((line) => !ofOurselves.test(line))
    .join('\n');
}

interface Measured {
  readonly size: Size;
  readonly series: number;
  readonly page: string;
  readonly values: readonly number[];
}

async function measure(size: Size, builds: readonly Build[]): Promise<Measured> {
  const { applications, hosts } = size;
  const vendor = await startVendor({ fleet: { applications, hosts, kinds: ['both'] } });
  const config = configOf(vendor);
  const daemons: Daemon[] = [];
  for (const build of builds) {
    daemons.push(await startDaemon(build, { config, apiKey: vendor.apiKeys[0] }));
  }
  const expected = { applications: applications + 1, hosts: vendor.hostNames + vendor.firstHosts };
  const pages: string[] = [];
  for (const daemon of daemons) pages.push(await wholePage(daemon, expected));
  const values = await Promise.all(
    daemons.map(async ({ pid, url }) => msOfScrape(pid, `${url}/metrics`)),
  );
  for (const daemon of daemons) await daemon.stop();
  vendor.stop();
  const page = dataOf(pages[0] ?? '');
  return { size, series: seriesIn(page), page, values };
}

export async function scrapeBench(builds: readonly Build[]): Promise<readonly Row[]> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-scrape-'));
  const go = builtGoProgram(directory);
  if (go.problem !== undefined) {
    process.stderr.write(`scrape: no row of client_golang: ${go.problem}\n`);
  }
  const rows: Row[] = [];
  for (const one of await Promise.all(sizes.map(async (size) => measure(size, builds)))) {
    const pageFile = join(directory, 'page');
    await writeFile(pageFile, one.page);
    const peers = [await promClient(pageFile)];
    if (go.path !== undefined) peers.push(await clientGolang(go.path, pageFile));
    for (const { name, ms } of peers) {
      const what = `scrape with gzip, ${one.series} series: CPU`;
      const peer = { name, value: ms };
      rows.push({ goal: 'P1', what, unit: 'ms', values: one.values, peer, limit: 0.2 });
    }
  }
  await rm(directory, { recursive: true });
  return rows;
}
