import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Buffers, and what weak references held in a turn, go one turn after the other. */
const passes = 5;

/** What this process keeps after its garbage was collected: heap and buffers. */
export async function collectedBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collectGarbage: unknown = runInNewContext('gc');
  for (let pass = 0; pass < passes; pass += 1) {
    if (typeof collectGarbage === 'function') collectGarbage();
    await setImmediate();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
