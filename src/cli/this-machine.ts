import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import { createRedactor } from '../telemetry/redactor.ts';
import { createBoundedReader } from './bounded-reader.ts';
import type { Machine } from './machine.ts';
import { print } from './print.ts';
import { readRegularFile } from './read-regular-file.ts';
import { createSystemClock } from './system-clock.ts';

/** The machine that this process runs on. */
export function createThisMachine(stopSignal: AbortSignal): Machine {
  const clock = createSystemClock();
  return {
    clock,
    random: Math.random,
    env: process.env,
    readFile: createBoundedReader({ clock, read: readRegularFile }),
    hostname: hostname(),
    lookUp: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
    // Loaded when it is needed: it is half of the time that `--version` would take.
    openTransport: async (options) =>
      (await import('../transport/undici-transport.ts')).createUndiciTransport(options),
    nextTurn: async () => {
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    },
    stdout: process.stdout,
    print: async (text) => print(text, process.stdout),
    stderr: process.stderr,
    redactor: createRedactor(),
    onHangup: (listener) => {
      process.on('SIGHUP', listener);
    },
    stopSignal,
  };
}
