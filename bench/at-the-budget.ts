/**
 * The built daemon on a simulated account that needs more than its budget, in real time: 200
 * applications with 2000 hosts at 800 calls a minute. Prints what the vendor saw, the daemon's
 * memory, and how long scrapes took. Argument: minutes to run, 5 if left out.
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { show, spreadOf } from './median.ts';

interface Vendor {
  readonly baseUrl: string;
  readonly apiKey: string;
}

interface Seen {
  readonly violations: number;
  readonly requests: number;
  readonly mostInAnyMinute: number;
  readonly mostInFlight: number;
}

const minutes = Number(process.argv[2] ?? '5');
const budget = 800;
const vendorProcess = fork(fileURLToPath(new URL('simulator-process.js', import.meta.url)), [
  '200',
  '2000',
  '23000',
]);
const [vendor] = (await once(vendorProcess, 'message')) as [Vendor];
const directory = await mkdtemp(join(tmpdir(), 'bench-budget-'));
await writeFile(
  join(directory, 'config.yaml'),
  [
    'accounts:',
    '  - name: bench',
    `    base_url: ${vendor.baseUrl}`,
    '    api_key_env: BENCH_KEY',
    `    requests_per_minute: ${budget}`,
    'apps:',
    '  - match: "."',
    '',
  ].join('\n'),
);
const daemon = spawn(
  process.execPath,
  [
    fileURLToPath(new URL('../../dist/main.js', import.meta.url)),
    `--config.file=${join(directory, 'config.yaml')}`,
    '--web.listen-address=127.0.0.1:0',
    '--log.format=json',
  ],
  { env: { ...process.env, BENCH_KEY: vendor.apiKey }, stdio: ['ignore', 'ignore', 'pipe'] },
);
let log = '';
daemon.stderr.on('data', (part: Buffer) => {
  log += part.toString();
});
while (!log.includes('"listening"')) await new Promise((resolve) => setTimeout(resolve, 10));
const port = /"port":(\d+)/u.exec(log)?.[1] ?? '';

const scrapesMs: number[] = [];
let page = '';
const endMs = performance.now() + minutes * 60_000;
while (performance.now() < endMs) {
  const startMs = performance.now();
  page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  scrapesMs.push(performance.now() - startMs);
  await new Promise((resolve) => setTimeout(resolve, 5000));
}
const valueOf = (name: RegExp): number => Number(name.exec(page)?.[1] ?? Number.NaN);
vendorProcess.send('report');
const [seen] = (await once(vendorProcess, 'message')) as [Seen];
daemon.kill('SIGTERM');
await once(daemon, 'close');
vendorProcess.disconnect();
await rm(directory, { recursive: true });

const series = page.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
process.stdout.write(
  [
    `at-the-budget: 200 applications, 2000 hosts, ${minutes} minutes at ${budget} calls a minute`,
    `  429s                       ${seen.violations}`,
    `  most calls in any minute   ${seen.mostInAnyMinute} of ${budget}`,
    `  calls                      ${seen.requests}, ${((100 * seen.requests) / (minutes * budget)).toFixed(1)} % of the budget`,
    `  most calls in flight       ${seen.mostInFlight}`,
    `  resident memory            ${(valueOf(/^process_resident_memory_bytes (\S+)$/mu) / 2 ** 20).toFixed(1)} MiB`,
    `  CPU                        ${((100 * valueOf(/^process_cpu_seconds_total (\S+)$/mu)) / (minutes * 60)).toFixed(2)} % of a core`,
    `  series                     ${series}`,
    `  scrape, ms                 ${show(spreadOf(scrapesMs))}`,
    `  exit code                  ${daemon.exitCode}`,
    '',
  ].join('\n'),
);
