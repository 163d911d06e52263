/** The built daemon and the simulator as processes, and what can be seen of them from outside. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { SimulatorOptions } from '../src/simulator/simulator-options.ts';
import { freePort } from '../test/support/daemon-process.ts';
import type { Address, Order, Seen } from './simulator-process.ts';

/** A checkout of the project whose sources are built. */
export interface Build {
  readonly name: string;
  readonly directory: string;
}

/** A module of a build, whose types are taken to be those of this checkout. */
export async function moduleOf<Module>({ directory }: Build, path: string): Promise<Module> {
  return (await import(pathToFileURL(join(directory, 'dist', path)).href)) as Module;
}

/** What is measured of each build; `undefined` for another one that has no such thing. */
export async function ofEach<Value>(
  builds: readonly Build[],
  measure: (build: Build) => Promise<Value>,
): Promise<readonly (Value | undefined)[]> {
  const values: (Value | undefined)[] = [];
  for (const [index, build] of builds.entries()) {
    try {
      values.push(await measure(build));
    } catch (error) {
      if (index === 0) throw error;
      process.stderr.write(`${build.name}: ${(error as Error).message}\n`);
      values.push(undefined);
    }
  }
  return values;
}

export function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

/** A program beside this file, with a channel for messages. */
export function forkOf(program: string, args: readonly string[]): ChildProcess {
  return fork(pathOf(`${program}.js`), args);
}

/** The first message of a process; rejects if it ends without one. */
export async function messageOf<Message>(child: ChildProcess): Promise<Message> {
  const ended = new AbortController();
  child.once('exit', () => {
    ended.abort(new Error(`${child.spawnargs.join(' ')} has ended`));
  });
  const [message] = (await once(child, 'message', { signal: ended.signal })) as [Message];
  return message;
}

export interface Vendor extends Address {
  readonly child: ChildProcess;
  send(order: Order): Promise<Seen>;
  stop(): void;
}

export async function startVendor(options: SimulatorOptions): Promise<Vendor> {
  const child = forkOf('simulator-process', []);
  child.send(options);
  const address = await messageOf<Address>(child);
  return {
    ...address,
    child,
    send: async (order) => {
      child.send(order);
      return messageOf<Seen>(child);
    },
    stop: () => {
      child.disconnect();
    },
  };
}

/** An account of a configuration that polls a simulator. */
export function accountOf(
  { baseUrl }: Pick<Address, 'baseUrl'>,
  source: 'rest' | 'nerdgraph',
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const id = source === 'nerdgraph' ? { account_id: 1_234_567 } : {};
  return { name: 'bench', base_url: baseUrl, source, ...id, api_key_env: 'BENCH_KEY', ...more };
}

export interface Daemon {
  readonly pid: number;
  readonly url: string;
  /** Answers once the new configuration is active. */
  reload(config: string): Promise<void>;
  page(encoding?: 'gzip' | 'identity'): Promise<string>;
  /** The longest turn of its event loop since this was last asked. */
  longestTurnMs(): Promise<number>;
  readonly stop: () => Promise<void>;
}

export interface DaemonOptions {
  /** JSON is YAML. */
  readonly config: string;
  readonly apiKey?: string | undefined;
  readonly watchesTurns?: boolean;
}

/** Enough for a machine that others keep busy. */
const patienceMs = 600_000;

/** Asks until there is an answer. */
export async function until<Value>(
  what: string,
  ask: () => Promise<Value | undefined>,
  everyMs = 500,
): Promise<Value> {
  const startMs = performance.now();
  for (;;) {
    const value = await ask();
    if (value !== undefined) return value;
    if (performance.now() - startMs > patienceMs) throw new Error(`waited in vain: ${what}`);
    await pause(everyMs);
  }
}

/** The bundle, as in the image, if it was made. */
export function programOf({ directory }: Build): string {
  const bundle = join(directory, 'dist-bundle/newrelic-exporter.mjs');
  return existsSync(bundle) ? bundle : join(directory, 'dist/main.js');
}

/** The daemon of a build, once it answers. */
export async function startDaemon(
  build: Build,
  { config, apiKey = 'NRAK-BENCH', watchesTurns = false }: DaemonOptions,
): Promise<Daemon> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const [configFile, turnsFile] = [join(directory, 'config.yaml'), join(directory, 'turns')];
  await writeFile(configFile, config);
  await writeFile(turnsFile, '');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    process.execPath,
    [
      ...(watchesTurns ? [`--import=${pathOf('watch-turns.js')}`] : []),
      programOf(build),
      `--config.file=${configFile}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--config.auto-reload-interval=0',
      '--web.enable-lifecycle',
      '--log.level=error',
    ],
    {
      env: { ...process.env, BENCH_KEY: apiKey, BENCH_TURNS: turnsFile },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const kill = (): void => {
    child.kill();
  };
  // A bench that fails leaves no daemon behind.
  process.once('exit', kill);
  const ended = once(child, 'close');
  let linesSeen = 0;
  const page: Daemon['page'] = async (encoding = 'identity') => {
    const ask = async (): Promise<string> => {
      const headers = { 'accept-encoding': encoding, connection: 'close' };
      return (await fetch(`${url}/metrics`, { headers })).text();
    };
    // On a very busy machine a connection may be closed before the request was read.
    return ask().catch(ask);
  };
  await until(
    'the daemon listens',
    async () => {
      if (child.exitCode !== null) throw new Error('the daemon has ended');
      return page().catch(() => undefined);
    },
    20,
  );
  return {
    pid: child.pid ?? 0,
    url,
    page,
    reload: async (next) => {
      await writeFile(configFile, next);
      const response = await fetch(`${url}/-/reload`, { method: 'POST' });
      if (!response.ok) throw new Error(await response.text());
    },
    longestTurnMs: async () => {
      // The watcher writes five times a second.
      await pause(500);
      const turns = readFileSync(turnsFile, 'utf8').trimEnd().split('\n').map(Number);
      const longest = Math.max(0, ...turns.slice(linesSeen));
      linesSeen = turns.length;
      return longest;
    },
    stop: async () => {
      kill();
      await ended;
      process.off('exit', kill);
      await rm(directory, { recursive: true });
    },
  };
}

/** The values of a family on a page. */
export function valuesOf(page: string, family: string): readonly number[] {
  const line = new RegExp(`^${family}(?:\\{.*\\})? (\\S+)$`, 'gmu');
  return Array.from(page.matchAll(line), ([, value]) => Number(value));
}

/** How many series of New Relic's data a page has. */
export function seriesIn(page: string): number {
  return page
    .split('\n')
    .filter((line) => line.startsWith('newrelic_') && !line.startsWith('newrelic_exporter_'))
    .length;
}

/** The page of a daemon once every application was polled with success and lists so many hosts. */
export async function wholePage(
  daemon: Daemon,
  { applications, hosts }: { readonly applications: number; readonly hosts: number },
): Promise<string> {
  return until('a whole page', async () => {
    const page = await daemon.page();
    const polled = valuesOf(page, 'newrelic_application_poll_success').filter((one) => one === 1);
    const listed = valuesOf(page, 'newrelic_application_hosts').reduce((sum, one) => sum + one, 0);
    return polled.length === applications && listed === hosts ? page : undefined;
  });
}
