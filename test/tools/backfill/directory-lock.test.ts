import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DirectoryLock } from '../../../src/tools/backfill/directory-lock.ts';
import { diskDone } from '../../support/disk-done.ts';
import { createFakePlatform, type FakePlatform } from '../../support/fake-platform.ts';
import { temporaryDirectory } from './backfill-bench.ts';

async function passed<Value>(ms: number, { clock }: FakePlatform, work?: Promise<Value>) {
  const settled = work?.catch(() => undefined);
  for (let leftMs = ms; leftMs > 0; leftMs -= 1000) {
    await diskDone();
    await clock.advance(1000);
  }
  await diskDone();
  await settled;
}

async function taken(directory: string, platform: FakePlatform): Promise<DirectoryLock> {
  const taking = DirectoryLock.take(directory, platform);
  await passed(3000, platform, taking);
  return taking;
}

/** That somebody else has left, so long ago. */
async function leftBy(host: string, agoMs: number, directory: string, { clock }: FakePlatform) {
  const path = join(directory, 'lock');
  await writeFile(path, `0a0b ${host}\n`);
  const seconds = (clock.wallMs() - agoMs) / 1000;
  await utimes(path, seconds, seconds);
}

describe('the lock of a directory', () => {
  it('refuses a second run, and says until when it is in use, and where', async () => {
    const directory = await temporaryDirectory();
    const platform = createFakePlatform({ hostname: 'job-x1' });
    const lock = await taken(directory, platform);

    await expect(taken(directory, platform)).rejects.toThrow(
      /in use until 2026-09-01T10:01:3\dZ by a run on job-x1: wait for it/u,
    );
    await lock.release();
    expect(await readdir(directory)).toEqual([]);
    expect(platform.clock.pendingTimers()).toBe(0);
  });

  it('is held as long as its owner goes on, however long that is', async () => {
    const directory = await temporaryDirectory();
    const platform = createFakePlatform();
    const lock = await taken(directory, platform);
    await passed(200_000, platform);

    await expect(taken(directory, platform)).rejects.toThrow('in use until 2026-09-01T10:0');
    await lock.mustHold();
    await lock.release();
  });

  it.each([
    { host: 'exporter', agoMs: 59_000, isFree: false },
    { host: 'another-pod', agoMs: 59_000, isFree: false },
    { host: 'another-pod', agoMs: -30_000, isFree: false },
    { host: 'exporter', agoMs: 60_000, isFree: true },
    { host: 'another-pod', agoMs: 3_600_000, isFree: true },
    // A clock that was wrong by a year holds nobody up for a year.
    { host: 'another-pod', agoMs: -31_536_000_000, isFree: true },
  ])('of $host, touched $agoMs ms ago, is free: $isFree', async ({ host, agoMs, isFree }) => {
    const directory = await temporaryDirectory();
    const platform = createFakePlatform();
    await leftBy(host, agoMs, directory, platform);
    const outcome = await taken(directory, platform).then(
      () => 'taken',
      (error: unknown) => String(error),
    );

    expect(outcome).toMatch(
      isFree ? /^taken$/u : new RegExp(`in use until .* by a run on ${host}`),
    );
    expect((await readFile(join(directory, 'lock'), 'utf8')).startsWith('0a0b')).toBe(!isFree);
  });

  it('is of one when two find none, or an old one, in the same moment', async () => {
    for (const isOld of [false, true]) {
      const directory = await temporaryDirectory();
      const platform = createFakePlatform();
      if (isOld) await leftBy('gone', 70_000, directory, platform);
      const outcomes = await Promise.allSettled([
        taken(directory, platform),
        taken(directory, platform),
      ]);

      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    }
  });

  it('is known to be lost by an owner that has stood still, and left to the next one', async () => {
    const directory = await temporaryDirectory();
    const platform = createFakePlatform();
    const lock = await taken(directory, platform);
    await leftBy('the-next', 0, directory, platform);
    await passed(30_000, platform);

    await expect(lock.mustHold()).rejects.toThrow('by a run on the-next');
    await lock.release();
    expect(await readFile(join(directory, 'lock'), 'utf8')).toContain('the-next');
    await rm(join(directory, 'lock'));
    await expect(lock.mustHold()).rejects.toThrow('lock is gone');
  });

  it('is left by a run that is stopped while it waits', async () => {
    const directory = await temporaryDirectory();
    const platform = createFakePlatform();
    const taking = DirectoryLock.take(directory, platform);
    const outcome = taking.catch((error: unknown) => String(error));
    await diskDone();
    platform.stop();

    expect(await outcome).toContain('stopped by the test');
    expect(await readdir(directory)).toEqual([]);
  });
});
