import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRegularFile } from '../../src/daemon/node-platform.ts';

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
    'refuses what is larger than 4 MiB, without reading it: $bytes bytes',
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
    { what: 'what is not there', path: '/no/such/file', code: 'ENOENT' },
  ])('refuses $what with $code', async ({ path, code }) => {
    await expect(readRegularFile(path)).rejects.toMatchObject({ code });
  });
});
