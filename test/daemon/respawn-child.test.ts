import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { heapBytesWithin } from '../../src/daemon/node-platform.ts';
import type { ChildProgram } from '../../src/daemon/platform.ts';
import { heapFlagsFor, startChildProgram } from '../../src/daemon/respawn.ts';

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
  const child = startChildProgram(pathToFileURL(path), Number.POSITIVE_INFINITY, args, (message) =>
    said.push(message),
  );
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

  it('leaves no listener on the process behind', async () => {
    const before = process.listenerCount('exit');
    for (const _ of [1, 2, 3]) await (await startProgramOf('')).child.ended;

    expect(process.listenerCount('exit')).toBe(before);
  });
});

const mebibyte = 1024 ** 2;

describe('heapFlagsFor', () => {
  it.each([
    {
      what: 'the container of the chart',
      memoryMb: 192,
      heapMb: 259,
      flags: ['--max-old-space-size=96'],
    },
    { what: 'a small container', memoryMb: 128, heapMb: 259, flags: ['--max-old-space-size=64'] },
    { what: 'a container that is large enough', memoryMb: 1024, heapMb: 512, flags: [] },
    { what: 'a tiny container', memoryMb: 1, heapMb: 259, flags: ['--max-old-space-size=1'] },
    { what: 'no limit', memoryMb: 0, heapMb: 4144, flags: [] },
    { what: 'no limit, as cgroup v1 reports it', memoryMb: 2 ** 44, heapMb: 4144, flags: [] },
  ])('give the heap half of the memory of $what', ({ memoryMb, heapMb, flags }) => {
    const heapBytes = heapBytesWithin(memoryMb * mebibyte, heapMb * mebibyte);

    expect(heapFlagsFor(heapBytes, heapMb * mebibyte, '')).toEqual(flags);
  });

  it.each([
    '--max-old-space-size=100',
    '--enable-source-maps --max_old_space_size=100',
    '--max-heap-size=100',
  ])('never override a given flag: %s', (given) => {
    expect(heapFlagsFor(96 * mebibyte, 259 * mebibyte, given)).toEqual([]);
  });

  it('are also given beside other flags', () => {
    const given = '--max-semi-space-size=4 --enable-source-maps';

    expect(heapFlagsFor(96 * mebibyte, 259 * mebibyte, given)).toHaveLength(1);
  });
});
