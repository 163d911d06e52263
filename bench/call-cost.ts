/**
 * P10: the share of a core that the built daemon takes at 1000 calls a minute, without scrapes,
 * beside a bare client that sends as many in one batch a second, at the same time and to a simulator
 * of the same size. Arguments: windows to measure, 4 if left out; seconds of each, 30 if left out; seconds
 * before that, in which V8 optimizes what runs often, 30 if left out.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuSecondsOf } from './cpu-seconds-of.ts';
import { show, spreadOf } from './median.ts';

const perMinute = 1000;
const goal = 1;
const warmUpMs = Number(process.argv[4] ?? '30') * 1000;
const windows = Number(process.argv[2] ?? '4');
const secondsPerWindow = Number(process.argv[3] ?? '30');

interface Vendor {
  readonly process: ChildProcess;
  readonly baseUrl: string;
  readonly apiKey: string;
}

interface Seen {
  readonly requests: number;
  readonly violations: number;
}

async function startVendor(): Promise<Vendor> {
  const child = fork(fileURLToPath(new URL('simulator-process.js', import.meta.url)), [
    '200',
    '2000',
    '23000',
  ]);
  const [address] = (await once(child, 'message')) as [Pick<Vendor, 'baseUrl' | 'apiKey'>];
  return { process: child, ...address };
}

async function seenBy(vendor: Vendor): Promise<Seen> {
  vendor.process.send('report');
  const [seen] = (await once(vendor.process, 'message')) as [Seen];
  return seen;
}

function configOf({ baseUrl }: Vendor): string {
  return [
    'accounts:',
    '  - name: bench',
    `    base_url: ${baseUrl}`,
    '    api_key_env: BENCH_KEY',
    `    requests_per_minute: ${perMinute}`,
    'apps:',
    '  - match: "."',
    '',
  ].join('\n');
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

const vendors = { daemon: await startVendor(), bare: await startVendor() };
const directory = await mkdtemp(join(tmpdir(), 'bench-call-cost-'));
await writeFile(join(directory, 'config.yaml'), configOf(vendors.daemon));
const clients = {
  daemon: spawn(
    process.execPath,
    [
      // For a profile: `--cpu-prof --cpu-prof-dir=DIRECTORY`.
      ...(process.env['BENCH_NODE_OPTIONS'] ?? '').split(' ').filter((option) => option !== ''),
      fileURLToPath(new URL('../../dist/main.js', import.meta.url)),
      `--config.file=${join(directory, 'config.yaml')}`,
      '--web.listen-address=127.0.0.1:0',
      '--log.format=json',
    ],
    { env: { ...process.env, BENCH_KEY: vendors.daemon.apiKey }, stdio: 'ignore' },
  ),
  bare: spawn(
    process.execPath,
    [
      fileURLToPath(new URL('call-cost-client.js', import.meta.url)),
      vendors.bare.baseUrl,
      vendors.bare.apiKey,
      `${perMinute}`,
    ],
    { stdio: 'ignore' },
  ),
};
await pause(warmUpMs);

const share: Record<'daemon' | 'bare', number[]> = { daemon: [], bare: [] };
const perCall: Record<'daemon' | 'bare', number[]> = { daemon: [], bare: [] };
const calls: number[] = [];
for (let window = 0; window < windows; window += 1) {
  const startMs = performance.now();
  const whoOf = ['daemon', 'bare'] as const;
  const before = await Promise.all(
    whoOf.map(async (who) => ({
      cpu: await cpuSecondsOf(clients[who].pid ?? 0),
      ...(await seenBy(vendors[who])),
    })),
  );
  await pause(secondsPerWindow * 1000);
  const seconds = (performance.now() - startMs) / 1000;
  for (const [index, who] of whoOf.entries()) {
    const cpu = (await cpuSecondsOf(clients[who].pid ?? 0)) - (before[index]?.cpu ?? 0);
    const sent = (await seenBy(vendors[who])).requests - (before[index]?.requests ?? 0);
    share[who].push((100 * cpu) / seconds);
    perCall[who].push((1e6 * cpu) / sent);
    if (who === 'daemon') calls.push((60 * sent) / seconds);
  }
}
const { violations } = await seenBy(vendors.daemon);
clients.daemon.kill('SIGTERM');
await once(clients.daemon, 'close');
clients.bare.kill();
for (const vendor of Object.values(vendors)) vendor.process.disconnect();
await rm(directory, { recursive: true });

const ours = spreadOf(share.daemon);
process.stdout.write(
  [
    `call-cost: ${windows} windows of ${secondsPerWindow} s, 200 applications, 2000 hosts; median (min to max)`,
    `  calls a minute     ${show(spreadOf(calls), 0)}, 429s ${violations}`,
    `  daemon             ${show(ours, 2)} % of a core, ${show(spreadOf(perCall.daemon), 0)} us a call`,
    `  bare undici        ${show(spreadOf(share.bare), 2)} % of a core, ${show(spreadOf(perCall.bare), 0)} us a call`,
    `  daemon / bare      ${show(spreadOf(share.daemon.map((one, index) => one / (share.bare[index] ?? 0))), 2)}`,
    `  P10 share          ${show(ours, 2)} %, goal <= ${goal} %: ${ours.median <= goal ? 'reached' : 'MISSED'}`,
    '',
  ].join('\n'),
);
