import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createBoundedReader,
  readRegularFile,
  timerDelayMs,
} from '../../src/daemon/node-platform.ts';
import { createFakeClock, settle } from '../support/fake-clock.ts';

describe('timerDelayMs', () => {
  it.each([
    { what: 'a usual delay', delayMs: 60_000, expected: 60_000 },
    { what: 'a delay in the past', delayMs: -5, expected: 0 },
    { what: 'the longest that a timer can wait', delayMs: 2 ** 31 - 1, expected: 2 ** 31 - 1 },
    { what: 'more than that, which would fire at once', delayMs: 2 ** 31, expected: 2 ** 31 - 1 },
  ])('is $expected for $what', ({ delayMs, expected }) => {
    expect(timerDelayMs(delayMs)).toBe(expected);
  });
});

const content = new TextEncoder().encode('content');

describe('createBoundedReader', () => {
  it('gives what the file holds, and leaves no timer behind', async () => {
    const clock = createFakeClock();
    const readFile = createBoundedReader(clock, async () => content);

    expect(await readFile('/a')).toBe(content);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('gives up on a file that is not read within five seconds', async () => {
    const clock = createFakeClock();
    const readFile = createBoundedReader(clock, async () => new Promise(() => {}));

    const failure = readFile('/mnt/key').catch((error: unknown) => error);
    await clock.advance(5000);

    expect(await failure).toMatchObject({ code: 'ETIMEDOUT' });
  });

  it('refuses a file at once while a read of it hangs, and reads it again afterwards', async () => {
    const clock = createFakeClock();
    const answers: (() => void)[] = [];
    const readFile = createBoundedReader(
      clock,
      async () => new Promise((resolve) => answers.push(() => resolve(content))),
    );
    const first = readFile('/mnt/key').catch((error: unknown) => error);
    await clock.advance(5000);

    expect(await first).toMatchObject({ code: 'ETIMEDOUT' });
    await expect(readFile('/mnt/key')).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    answers[0]?.();
    await settle();
    const third = readFile('/mnt/key');
    answers[1]?.();

    expect(await third).toBe(content);
    expect(answers).toHaveLength(2);
  });

  it('gives a read time after the process stood still, however long that was', async () => {
    const due: (() => void)[] = [];
    const answers: (() => void)[] = [];
    const readFile = createBoundedReader(
      // Whatever was due meanwhile runs at once.
      {
        ...createFakeClock(),
        after: (_, run) => {
          due.push(run);
          return () => undefined;
        },
      },
      async () => new Promise((resolve) => answers.push(() => resolve(content))),
    );

    const reading = readFile('/key');
    for (const run of due.splice(0)) run();
    answers[0]?.();

    expect(await reading).toBe(content);
  });

  it('rejects with the error of the read', async () => {
    const clock = createFakeClock();
    const error = new Error('no such file');
    const readFile = createBoundedReader(clock, async () => Promise.reject(error));

    await expect(readFile('/a')).rejects.toBe(error);
    expect(clock.pendingTimers()).toBe(0);
  });
});

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'read-regular-file-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

describe('readRegularFile', () => {
  it('reads a file, also through a symbolic link', async () => {
    await writeFile(join(directory, 'key'), 'NRAK');
    await symlink('key', join(directory, 'link'));

    expect(new TextDecoder().decode(await readRegularFile(join(directory, 'link')))).toBe('NRAK');
  });

  it('refuses a named pipe at once, although nobody writes into it', async () => {
    const path = join(directory, 'pipe');
    execFileSync('mkfifo', [path]);

    await expect(readRegularFile(path)).rejects.toMatchObject({ code: 'ENOTREG' });
  });

  it.each([
    { bytes: 4 * 1024 ** 2, outcome: { status: 'fulfilled' } },
    { bytes: 4 * 1024 ** 2 + 1, outcome: { status: 'rejected', reason: { code: 'EFBIG' } } },
    { bytes: 1024 ** 4, outcome: { status: 'rejected', reason: { code: 'EFBIG' } } },
  ])(
    'refuses a file of more than 4 MiB without reading it: $bytes bytes',
    async ({ bytes, outcome }) => {
      const path = join(directory, 'large');
      await writeFile(path, '');
      await truncate(path, bytes);

      expect((await Promise.allSettled([readRegularFile(path)]))[0]).toMatchObject(outcome);
    },
  );

  it.each([
    { what: 'a device that never ends', path: '/dev/zero', code: 'ENOTREG' },
    { what: 'a directory', path: tmpdir(), code: 'EISDIR' },
    { what: 'a missing file', path: '/no/such/file', code: 'ENOENT' },
  ])('refuses $what with $code', async ({ path, code }) => {
    await expect(readRegularFile(path)).rejects.toMatchObject({ code });
  });
});
