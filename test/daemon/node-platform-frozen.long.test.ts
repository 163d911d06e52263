import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createBoundedReader,
  createSystemClock,
  readRegularFile,
} from '../../src/daemon/node-platform.ts';

/** Nothing in this process goes on meanwhile, as while it is suspended. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('reading a file while the process stands still', () => {
  it('is not taken for a file system that does not answer, and the next read is not refused', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'frozen-read-'));
    const path = join(directory, 'key');
    await writeFile(path, 'a key');
    const readFile = createBoundedReader(createSystemClock(), readRegularFile);

    const reading = readFile(path);
    standStill(5200);

    expect(new TextDecoder().decode(await reading)).toBe('a key');
    expect(new TextDecoder().decode(await readFile(path))).toBe('a key');
    await rm(directory, { recursive: true });
  });
});
