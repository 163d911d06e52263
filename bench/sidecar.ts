/** The sidecar of the chart: the bundle and its parent, in a control group with the memory that the chart gives it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'yaml';
import { freePort } from '../test/support/daemon-process.ts';
import { memoryMb } from './cpu-time.ts';
import { accountOf, type Build, ofEach, pathOf, startVendor, until } from './processes.ts';
import type { Row } from './table.ts';

const scrapes = 1000;
const scrapeMs = 10;

/** A control group for memory, of either version. It takes root. */
interface MemoryGroup {
  readonly procs: string;
  pids(): Promise<readonly number[]>;
  /** Processes that the kernel has killed in it. */
  kills(): Promise<number>;
  remove(): Promise<void>;
}

async function memoryGroup(limitBytes: number): Promise<MemoryGroup> {
  const isFirstVersion = existsSync('/sys/fs/cgroup/memory');
  const root = isFirstVersion ? '/sys/fs/cgroup/memory' : '/sys/fs/cgroup';
  const directory = join(root, `sidecar-bench-${process.pid}`);
  await mkdir(directory);
  const [limit, events] = isFirstVersion
    ? ['memory.limit_in_bytes', 'memory.oom_control']
    : ['memory.max', 'memory.events'];
  await writeFile(join(directory, limit), `${limitBytes}`);
  const procs = join(directory, 'cgroup.procs');
  return {
    procs,
    pids: async () => (await readFile(procs, 'utf8')).split('\n').filter(Boolean).map(Number),
    kills: async () => {
      const text = await readFile(join(directory, events), 'utf8');
      return Number(/^oom_kill (\d+)$/mu.exec(text)?.[1]);
    },
    remove: async () => rmdir(directory),
  };
}

/** Mebibytes, as the values of the chart say. */
async function limitOfChart(): Promise<number> {
  const file = pathOf('../../helm/newrelic-exporter/values.yaml');
  const { sidecar } = parse(await readFile(file, 'utf8')) as {
    readonly sidecar: { readonly resources: { readonly limits: { readonly memory: string } } };
  };
  return Number(/^(\d+)Mi$/u.exec(sidecar.resources.limits.memory)?.[1]);
}

interface Sidecar {
  readonly answered: number;
  readonly kills: number;
  readonly restarts: number;
  readonly parentMb: number;
  readonly daemonMb: number;
}

async function sidecarOf({ directory }: Build, limitMi: number): Promise<Sidecar> {
  const files = await mkdtemp(join(tmpdir(), 'bench-sidecar-'));
  const [configFile, keyFile] = [join(files, 'config.yaml'), join(files, 'key')];
  const apiKeys = ['NRAK-SIDECAR000000000000000000001', 'NRAK-SIDECAR000000000000000000002'];
  const vendor = await startVendor({ apiKeys, fleet: { applications: 12, hosts: 48 } });
  const { api_key_env: _, ...account } = accountOf(vendor, 'rest', { api_key_file: keyFile });
  await writeFile(keyFile, apiKeys[0] ?? '', { mode: 0o600 });
  await writeFile(configFile, JSON.stringify({ accounts: [account], apps: [{ match: '.' }] }));
  const group = await memoryGroup(limitMi * 1024 ** 2);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const program = join(directory, 'dist-bundle/newrelic-exporter.mjs');
  const args = [program, '--respawn', `--config.file=${configFile}`, '--web.enable-lifecycle'];
  const inGroup = 'echo $$ > "$0" && exec "$@"';
  const child = spawn(
    'sh',
    [
      '-c',
      inGroup,
      group.procs,
      process.execPath,
      ...args,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(child, 'close');
  const kill = (): void => void child.kill();
  process.once('exit', kill);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  let answered = 0;
  const scrape = async (): Promise<true | undefined> => {
    const headers = { 'accept-encoding': 'gzip', connection: 'close' };
    const response = await fetch(`${url}/metrics`, { headers }).catch(() => undefined);
    const text = await response?.text();
    return text?.includes('newrelic_application_poll_success') === true ? true : undefined;
  };
  const scrapeAgain = async (times: number): Promise<void> => {
    for (let left = times; left > 0; left -= 1) {
      if ((await scrape()) === true) answered += 1;
      await pause(scrapeMs);
    }
  };
  await until('the first values', scrape);
  await scrapeAgain(scrapes / 2);
  const reloaded = await fetch(`${url}/-/reload`, { method: 'POST' });
  if (!reloaded.ok) throw new Error(await reloaded.text());
  await writeFile(keyFile, apiKeys[1] ?? '', { mode: 0o600 });
  await until('the new key', async () => (log.includes('API key changed') ? true : undefined));
  await scrapeAgain(scrapes / 2);
  const [parentMb = 0, daemonMb = 0] = (await group.pids()).map((pid) => memoryMb(pid).anonymous);
  const kills = await group.kills();
  const restarts = log.split('starting it again').length - 1;
  kill();
  await ended;
  process.off('exit', kill);
  vendor.stop();
  await group.remove();
  await rm(files, { recursive: true });
  return { answered, kills, restarts, parentMb, daemonMb };
}

export async function sidecarBench(builds: readonly Build[]): Promise<readonly Row[]> {
  const limitMi = await limitOfChart();
  const all = await ofEach(builds, async (build) => sidecarOf(build, limitMi));
  const row = (what: string, of: (one: Sidecar) => number, bound: Partial<Row>): Row => ({
    goal: 'P8',
    what: `sidecar in ${limitMi}Mi: ${what}`,
    unit: '',
    digits: 0,
    values: all.map((one) => (one === undefined ? undefined : of(one))),
    ...bound,
  });
  return [
    row(`scrapes answered of ${scrapes}, with a reload and a new key`, (one) => one.answered, {
      least: scrapes,
    }),
    row('killed by the kernel', (one) => one.kills, { limit: 0 }),
    row('restarts of the daemon', (one) => one.restarts, { limit: 0 }),
    row('the daemon without files', (one) => one.daemonMb, { unit: 'MB' }),
    row('its parent without files', (one) => one.parentMb, { unit: 'MB' }),
  ];
}
