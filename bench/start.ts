/** How long the start takes, and what it costs with 300 accounts. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type * as LoggerModule from '../src/publish/logger.ts';
import type * as RedactorModule from '../src/publish/redactor.ts';
import { freePort } from '../test/support/daemon-process.ts';
import { processMs } from './cpu-time.ts';
import {
  accountOf,
  type Build,
  moduleOf,
  ofEach,
  startDaemon,
  startVendor,
  until,
} from './processes.ts';
import { medianOf, type Row } from './table.ts';

const starts = 9;
const accounts = 300;
const logLines = 1000;

/** Of the vendor's form, and all different. */
function keyOf(index: number): string {
  const digest = createHash('sha256').update(`${index}`).digest('hex');
  return `NRAK-${digest.slice(0, 27).toUpperCase()}`;
}

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

/** From the start of a process to its first answer. */
async function startMs(argsFor: (port: number) => readonly string[]): Promise<number> {
  const port = await freePort();
  const beginMs = performance.now();
  const child = spawn(process.execPath, argsFor(port), {
    stdio: 'ignore',
    env: { ...process.env, BENCH_KEY: 'NRAK-BENCH' },
  });
  try {
    while (!(await answers(port))) {
      if (performance.now() - beginMs > 20_000) throw new Error('no answer within 20 s');
      await pause(1);
    }
    return performance.now() - beginMs;
  } finally {
    child.kill('SIGKILL');
  }
}

const bareServer = `import { createServer } from 'node:http';
createServer((_, response) => response.end('ok')).listen(Number(process.argv[2]), '127.0.0.1');
`;

/** The bundle, as in the image, in turns with a server that does nothing. Nothing answers its calls. */
async function firstAnswer(builds: readonly Build[], directory: string): Promise<Row> {
  const [config, bare] = [join(directory, 'config.yaml'), join(directory, 'bare.mjs')];
  const nowhere = { baseUrl: `http://127.0.0.1:${await freePort()}` };
  await writeFile(
    config,
    JSON.stringify({ accounts: [accountOf(nowhere, 'rest')], apps: [{ id: 1 }] }),
  );
  await writeFile(bare, bareServer);
  const programs = [
    ...builds.map((build) => join(build.directory, 'dist-bundle/newrelic-exporter.mjs')),
    bare,
  ];
  const times = programs.map((): number[] => []);
  for (let round = 0; round < starts; round += 1) {
    for (const [index, program] of programs.entries()) {
      if (!existsSync(program)) continue;
      const argsFor = (port: number): readonly string[] =>
        program === bare
          ? [bare, `${port}`]
          : [program, `--config.file=${config}`, `--web.listen-address=127.0.0.1:${port}`];
      times[index]?.push(await startMs(argsFor));
    }
  }
  const medians = times.map((all) => (all.length === 0 ? undefined : medianOf(all)));
  return {
    goal: 'P14',
    what: 'start of the bundle to its first answer',
    unit: 'ms',
    digits: 0,
    values: medians.slice(0, builds.length),
    peer: { name: 'bare node:http', value: medians.at(-1) ?? Number.NaN },
    limit: 3,
  };
}

/** CPU seconds until every account has ended its first cycle. */
async function manyAccounts(builds: readonly Build[], directory: string): Promise<Row> {
  const apiKeys = Array.from({ length: accounts }, (_, index) => keyOf(index));
  const vendor = await startVendor({ apiKeys, fleet: { applications: 1, hosts: 1 } });
  const entries: Readonly<Record<string, unknown>>[] = [];
  for (const [index, key] of apiKeys.entries()) {
    const file = join(directory, `key-${index}`);
    await writeFile(file, key, { mode: 0o600 });
    const { api_key_env: _, ...account } = accountOf(vendor, 'rest');
    entries.push({ ...account, name: `account-${index}`, api_key_file: file });
  }
  const apps = entries.map(({ name }) => ({ match: '.', account: name }));
  const config = JSON.stringify({ accounts: entries, apps });
  const values = await ofEach(builds, async (build) => {
    const daemon = await startDaemon(build, { config });
    await until('every account is ready', async () =>
      (await fetch(`${daemon.url}/-/ready`)).ok ? true : undefined,
    );
    const cpuMs = processMs(daemon.pid);
    await daemon.stop();
    return cpuMs / 1000;
  });
  vendor.stop();
  const what = `${accounts} accounts with keys in files: CPU from start to ready`;
  return { goal: 'P22', what, unit: 's', values, limit: 5 };
}

/** CPU milliseconds of a line. */
async function logLineMs(build: Build): Promise<number> {
  const { createLogger } = await moduleOf<typeof LoggerModule>(build, 'publish/logger.js');
  const { createRedactor } = await moduleOf<typeof RedactorModule>(build, 'publish/redactor.js');
  const redactor = createRedactor();
  for (let key = 0; key < 2 * accounts; key += 1) redactor.add(keyOf(key));
  const logger = await createLogger(
    { logLevel: 'info', logFormat: 'json' },
    {
      stderr: { write: () => true, on: () => undefined },
      redactor,
      clock: { wallMs: () => Date.now() },
      env: {},
    },
  );
  const write = (): void => {
    for (let line = 0; line < logLines; line += 1) {
      logger.warn({ account: 'production', app_id: `${line}`, attempt: 2 }, 'poll failed');
    }
  };
  write();
  const before = process.cpuUsage();
  write();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / logLines;
}

export async function startBench(builds: readonly Build[]): Promise<readonly Row[]> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-start-'));
  try {
    // Of this build alone: an older one took minutes to learn so many keys.
    const values: (number | undefined)[] = [];
    for (const [index, build] of builds.entries()) {
      values.push(index === 0 ? await logLineMs(build) : undefined);
    }
    const what = `a line of the log with ${2 * accounts} known keys: CPU`;
    return [
      await firstAnswer(builds, directory),
      await manyAccounts(builds, directory),
      { goal: 'P22', what, unit: 'ms', digits: 3, values, limit: 0.2 },
    ];
  } finally {
    await rm(directory, { recursive: true });
  }
}
