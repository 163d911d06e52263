import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What this process keeps after its garbage was collected: heap and buffers. */
export function collectedBytes(): number {
  setFlagsFromString('--expose-gc');
  const collectGarbage: unknown = runInNewContext('gc');
  if (typeof collectGarbage === 'function') collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
