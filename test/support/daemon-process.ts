import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export const mainFile: string = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A started program of ours, with what it wrote so far. */
export interface Program {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  readonly ended: Promise<Ended>;
}

/** Starts the built program. Only the given variables are set, so that no key of the machine leaks in. */
export function startProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Program {
  const child = spawn(process.execPath, [mainFile, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (part: Buffer) => {
    stdout += part.toString();
  });
  child.stderr.on('data', (part: Buffer) => {
    stderr += part.toString();
  });
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, stdout, stderr }));
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}

export interface RunningDaemon extends Program {
  readonly url: string;
}

/** Starts the daemon on a free port and waits until it listens. */
export async function startDaemon(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<RunningDaemon> {
  const program = startProgram(
    ['serve', '--web.listen-address=127.0.0.1:0', '--log.format=json', ...args],
    env,
  );
  const port = await until(() => {
    if (program.child.exitCode !== null) throw new Error(`the daemon ended: ${program.stderr()}`);
    return /"host":"127\.0\.0\.1","port":(\d+)/u.exec(program.stderr())?.[1];
  });
  return { ...program, url: `http://127.0.0.1:${port}` };
}

/** Stops what was started, whatever state it is in. */
export async function stopProgram({ child, ended }: Program): Promise<Ended> {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
  return ended;
}

/** How long the main thread of a process has waited for a CPU. 0 where the system does not say. */
function waitedForCpuMs(pid: number): number {
  try {
    const [, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
    return Number(waitedNs) / 1e6;
  } catch {
    return 0;
  }
}

/**
 * How long it takes until the program has ended, without the time that it waited for a CPU, and we
 * after it: a busy machine makes it no slower.
 */
export async function msUntilEnd({ child, ended }: Program): Promise<number> {
  const startMs = performance.now();
  const program = (): number => waitedForCpuMs(child.pid ?? 0);
  const beforeMs = program();
  let waitedMs = 0;
  let ownMs = waitedForCpuMs(process.pid);
  const timer = setInterval(() => {
    const programMs = program();
    if (programMs === 0) return;
    waitedMs = programMs - beforeMs;
    ownMs = waitedForCpuMs(process.pid);
  }, 5);
  await ended;
  clearInterval(timer);
  return performance.now() - startMs - waitedMs - (waitedForCpuMs(process.pid) - ownMs);
}

/** The processes that a process has started and that run, by their ids. Linux only. */
export function childrenOf(parentPid: number | undefined): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parentPid);
}

/** `undefined` for a process that has ended. */
function parentOf(pid: number): number | undefined {
  try {
    // The name of the program stands in parentheses, and may hold anything.
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /su, '')
      .split(' ');
    return state === 'Z' ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}

export function isRunning(pid: number): boolean {
  return parentOf(pid) !== undefined;
}

/** Asks again and again until there is an answer; the deadline only ends a test that has failed. */
export async function until<Value>(
  ask: () => Value | undefined | Promise<Value | undefined>,
  deadlineMs = 240_000,
): Promise<Value> {
  const startMs = performance.now();
  for (;;) {
    const value = await ask();
    if (value !== undefined) return value;
    if (performance.now() - startMs > deadlineMs) throw new Error('waited in vain');
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

/** A folder with the given files, removed when the callback has ended. */
export async function withFiles<Value>(
  files: Readonly<Record<string, string>>,
  use: (directory: string) => Promise<Value>,
): Promise<Value> {
  const directory = await mkdtemp(join(tmpdir(), 'newrelic-exporter-test-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(directory, name), text);
    }
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** A port that nothing listened on a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

export interface Page {
  readonly status: number;
  readonly text: string;
}

/**
 * Not by `fetch`: that of Node.js 24 throws where nobody can catch it when a compressed page comes faster
 * than it is unpacked, and the connection ends.
 */
export async function get(url: string, method = 'GET'): Promise<Page> {
  const sent = request(url, { method, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, text: await textOf(response) };
}
