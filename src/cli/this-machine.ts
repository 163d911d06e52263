import { readFile } from 'node:fs/promises';
import { createRedactor } from '../telemetry/redactor.ts';
import type { Machine } from './machine.ts';
import { createSystemClock } from './system-clock.ts';

/** The machine that this process runs on. */
export function createThisMachine(stopSignal: AbortSignal): Machine {
  return {
    clock: createSystemClock(),
    random: Math.random,
    env: process.env,
    readFile,
    // Loaded when it is needed: it is half of the time that `--version` would take.
    openTransport: async (options) =>
      (await import('../transport/undici-transport.ts')).createUndiciTransport(options),
    nextTurn: async () => {
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    },
    stdout: process.stdout,
    stderr: process.stderr,
    redactor: createRedactor(),
    onHangup: (listener) => {
      process.on('SIGHUP', listener);
    },
    stopSignal,
  };
}
