import { resolve } from 'node:path';
import type { Platform } from '../../src/daemon/platform.ts';
import type { Output } from '../../src/publish/logger.ts';
import { createRedactor } from '../../src/publish/redactor.ts';
import { createFakeClock, type FakeClock, settle } from './fake-clock.ts';

export interface KeptOutput extends Output {
  text(): string;
}

function keptOutput(): KeptOutput {
  const parts: string[] = [];
  return { write: (text) => parts.push(text), on: () => undefined, text: () => parts.join('') };
}

export interface FakePlatform extends Platform {
  readonly clock: FakeClock;
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  /** As SIGHUP does. */
  hangup(): void;
  /** As SIGTERM does. */
  stop(): void;
}

/** What a test may decide about its platform. */
export type PlatformOverrides = Partial<
  Pick<Platform, 'env' | 'fileMode' | 'hostname' | 'openTransport' | 'ownHostNames' | 'random'>
> & {
  readonly files?: Readonly<Record<string, string>>;
};

/** A platform with the files and variables that a test gives it, and no network at all. */
export function createFakePlatform(overrides: PlatformOverrides = {}): FakePlatform {
  const { files = {}, ...rest } = overrides;
  const stopper = new AbortController();
  const stdout = keptOutput();
  const hangupListeners: (() => void)[] = [];
  return {
    clock: createFakeClock(),
    random: () => 0.5,
    env: {},
    startedFile: '/usr/bin/newrelic-exporter',
    readFile: async (path) => {
      const text = files[path];
      if (text !== undefined) return new TextEncoder().encode(text);
      throw Object.assign(new Error(`ENOENT: no such file, open '${path}'`), { code: 'ENOENT' });
    },
    listDirectory: async (path) => {
      const below = Object.keys(files).filter((name) => resolve(name).startsWith(`${path}/`));
      const names = below.map((name) => resolve(name).slice(path.length + 1));
      return [...new Set(names.map((name) => name.split('/')[0] ?? ''))];
    },
    realPath: async (path) => {
      const isThere = Object.keys(files).some((name) => `${resolve(name)}/`.startsWith(`${path}/`));
      if (isThere || path === process.cwd()) return path;
      throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    },
    fileMode: async () => undefined,
    heapBytes: 1e9,
    comparePassword: async () => {
      throw new Error('the test did not say how to compare passwords');
    },
    hostname: 'exporter',
    ownHostNames: ['exporter'],
    openTransport: async () => {
      throw new Error('the test did not say what to connect to');
    },
    startChild: () => {
      throw new Error('the test did not say what to start');
    },
    nextTurn: settle,
    stdout,
    print: async (text) => {
      stdout.write(text);
    },
    stderr: keptOutput(),
    progress: { show: () => {} },
    redactor: createRedactor(),
    onHangup: (listener) => {
      hangupListeners.push(listener);
    },
    hangup: () => {
      for (const listener of hangupListeners) listener();
    },
    stopSignal: stopper.signal,
    stop: () => {
      stopper.abort(new Error('stopped by the test'));
    },
    ...rest,
  };
}
