/**
 * P14: from the start of the process to its first answer over HTTP: the daemon, bundled as in the image
 * and as it is built, against a bare node:http server, in turns. The daemon's vendor is a closed port: the answer must not wait for it.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/daemon-process.ts';
import { type Spread, show, spreadOf } from './median.ts';

const rounds = 11;
const goal = 2.0;

async function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: '/-/healthy', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', () => {
      resolve(false);
    });
  });
}

/** Milliseconds from spawn to the first answer of what `argsFor` starts. */
async function startTimeMs(argsFor: (port: number) => readonly string[]): Promise<number> {
  const port = await freePort();
  const startMs = performance.now();
  const child = spawn(process.execPath, argsFor(port), {
    stdio: 'ignore',
    env: { ...process.env, BENCH_KEY: 'NRAK-BENCH' },
  });
  try {
    while (!(await answers(port))) {
      if (performance.now() - startMs > 20_000) throw new Error('no answer within 20 s');
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return performance.now() - startMs;
  } finally {
    child.kill('SIGKILL');
  }
}

const directory = await mkdtemp(join(tmpdir(), 'bench-start-up-'));
const config = join(directory, 'config.yaml');
const bare = join(directory, 'bare.mjs');
await writeFile(
  config,
  [
    'accounts:',
    '  - name: bench',
    `    base_url: http://127.0.0.1:${await freePort()}`,
    '    api_key_env: BENCH_KEY',
    'apps:',
    '  - id: 1',
    '',
  ].join('\n'),
);
await writeFile(
  bare,
  "import { createServer } from 'node:http';\n" +
    "createServer((_request, response) => response.end('ok')).listen(Number(process.argv[2]), '127.0.0.1');\n",
);
const pathOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const serveArgs = (port: number): readonly string[] => [
  'serve',
  `--config.file=${config}`,
  `--web.listen-address=127.0.0.1:${port}`,
];

const bundleMs: number[] = [];
const builtMs: number[] = [];
const bareMs: number[] = [];
const bundle = pathOf('dist-bundle/newrelic-exporter.mjs');
const built = ['--enable-source-maps', pathOf('dist/main.js')];
for (let index = 0; index < rounds; index += 1) {
  bundleMs.push(await startTimeMs((port) => [bundle, ...serveArgs(port)]));
  builtMs.push(await startTimeMs((port) => [...built, ...serveArgs(port)]));
  bareMs.push(await startTimeMs((port) => [bare, `${port}`]));
}
await rm(directory, { recursive: true });

const ratioOf = (times: readonly number[]): Spread =>
  spreadOf(times.map((ms, index) => ms / (bareMs[index] ?? 0)));
const ratio = ratioOf(bundleMs);
process.stdout.write(
  [
    `start-up: ${rounds} starts each, to the first HTTP answer; median (min to max)`,
    `  bundle          ${show(spreadOf(bundleMs))} ms`,
    `  dist            ${show(spreadOf(builtMs))} ms, ratio ${show(ratioOf(builtMs), 2)}`,
    `  bare node:http  ${show(spreadOf(bareMs))} ms`,
    `  P14 ratio       ${show(ratio, 2)}, goal <= ${goal.toFixed(1)}: ${ratio.median <= goal ? 'reached' : 'MISSED'}`,
    '',
  ].join('\n'),
);
