import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { heapBytesWithin, startChildProgram } from '../../src/daemon/node-platform.ts';
import type { ChildProgram } from '../../src/daemon/platform.ts';
import { slow } from '../support/slow.ts';

const mebibyte = 1024 ** 2;

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'child-program-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

/** Starts a program of that text, and gives what it says. */
async function startProgramOf(
  text: string,
  args: readonly string[] = [],
): Promise<{ readonly child: ChildProgram; readonly said: readonly unknown[] }> {
  const path = join(directory, 'program.mjs');
  await writeFile(path, text);
  const said: unknown[] = [];
  const child = startChildProgram(pathToFileURL(path), 100 * mebibyte, args);
  child.onMessage((message) => said.push(message));
  return { child, said };
}

describe('startChildProgram', () => {
  it('runs the program with the arguments, hears it, and says with which code it ended', async () => {
    const { child, said } = await startProgramOf(
      'process.send(process.argv.slice(2), () => { process.exitCode = 7; process.disconnect(); })',
      ['serve', '--log.level=debug'],
    );

    expect(await child.ended).toEqual({ code: 7, signal: null });
    expect(said).toEqual([['serve', '--log.level=debug']]);
  });

  it('passes a signal on, and says with which one it ended', async () => {
    const { child } = await startProgramOf('setInterval(() => {}, 1000)');
    child.signal('SIGKILL');

    expect(await child.ended).toEqual({ code: null, signal: 'SIGKILL' });
    expect(() => child.signal('SIGTERM')).not.toThrow();
  });

  it('says that a process could not be started', async () => {
    const { execPath } = process;
    onTestFinished(() => {
      process.execPath = execPath;
    });
    process.execPath = join(directory, 'no-such-node');
    const { child } = await startProgramOf('');

    await expect(child.ended).rejects.toMatchObject({ code: 'ENOENT' });
    expect(() => child.signal('SIGTERM')).not.toThrow();
  });

  it.each([
    { given: '', maxMb: 160 },
    { given: '--enable-source-maps', maxMb: 160 },
    { given: '--max-old-space-size=300', maxMb: 360 },
    { given: '--max_old_space_size=300', maxMb: 360 },
  ])('limits its heap, unless the environment does: "$given"', async ({ given, maxMb }) => {
    // Young objects would take as much again on a machine with much memory.
    vi.stubEnv('NODE_OPTIONS', `${given} --max-semi-space-size=4`);
    const { child, said } = await startProgramOf(
      'import { getHeapStatistics } from "node:v8";' +
        'process.send(getHeapStatistics().heap_size_limit, () => process.disconnect())',
    );
    vi.unstubAllEnvs();
    await child.ended;

    expect(said.map(Number)[0]).toBeGreaterThan((maxMb - 60) * mebibyte);
    expect(said.map(Number)[0]).toBeLessThanOrEqual(maxMb * mebibyte);
  });

  it('leaves no listener on the process behind', slow, async () => {
    const before = process.listenerCount('exit');
    for (const _ of [1, 2, 3]) await (await startProgramOf('')).child.ended;

    expect(process.listenerCount('exit')).toBe(before);
  });
});

describe('heapBytesWithin', () => {
  it.each([
    { what: 'half of the container of the chart', memoryMb: 192, limitMb: 259, heapMb: 96 },
    { what: 'half of a small container', memoryMb: 128, limitMb: 259, heapMb: 64 },
    { what: 'the limit of V8 in a large container', memoryMb: 2048, limitMb: 512, heapMb: 512 },
    { what: 'half of a tiny container', memoryMb: 1, limitMb: 259, heapMb: 0.5 },
    { what: 'the limit of V8 without any other', memoryMb: 0, limitMb: 4144, heapMb: 4144 },
    { what: 'the same, in cgroup v1', memoryMb: 2 ** 44, limitMb: 4144, heapMb: 4144 },
  ])('gives the heap $what', ({ memoryMb, limitMb, heapMb }) => {
    expect(heapBytesWithin(memoryMb * mebibyte, limitMb * mebibyte) / mebibyte).toBe(heapMb);
  });
});
