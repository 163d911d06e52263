import { cpSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { settle } from '../../support/fake-clock.ts';
import {
  type Backfilled,
  backfilled,
  smallRun as run,
  temporaryDirectory,
  undisturbed,
} from './backfill-bench.ts';

describe('backfill, disturbed', () => {
  let whole: Backfilled;
  beforeAll(async () => {
    whole = await undisturbed(run);
  });

  const moments = Array.from({ length: 30 }, (_, index) => index);
  it.each(moments)('is whole, and a second run is refused, at moment %i', async (moment) => {
    const directory = await temporaryDirectory();
    const others: Promise<Backfilled>[] = [];
    // The first half of them: so many turns after the start. The other half: at calls.
    const first = backfilled({
      ...run,
      directory,
      beforeCall: (call, { clock }) => {
        const at = new Date(clock.wallMs()).toISOString();
        if (call === moment - 14) others.push(backfilled({ ...run, directory, at }));
      },
    });
    const turns = moment < 15 ? moment ** 2 : 0;
    for (let turn = 0; turn < turns; turn += 1) await settle();
    if (moment < 15) others.push(backfilled({ ...run, directory }));
    const runs = [await first, ...(await Promise.all(others))];
    const refused = runs.filter(({ exitCode }) => exitCode === 2);
    const done = runs.filter(({ exitCode }) => exitCode === 0);

    expect(runs.length - refused.length - done.length).toBe(0);
    expect(refused.map(({ calls }) => calls).filter((calls) => calls > 0)).toEqual([]);
    expect(done.length).toBeGreaterThan(0);
    expect(done.at(-1)?.output).toBe(whole.output);
  });

  it.each(moments)('goes on, to the same bytes, after kill -9 at moment %i', async (moment) => {
    const [directory, killed] = [await temporaryDirectory(), await temporaryDirectory()];
    let snapshot: Promise<number> | undefined;
    await backfilled({
      ...run,
      directory: killed,
      // The first half at calls, the other half so many turns after the last one, when all is put together.
      beforeCall: (call, { clock }) => {
        const turns = 12 * (moment - 15);
        if (call === Math.min(moment + 1, whole.calls)) {
          snapshot = copied(killed, directory, Math.max(0, turns)).then(() => clock.wallMs());
        }
      },
    });
    const killedMs = (await snapshot) ?? 0;
    const after = (ms: number): string => new Date(killedMs + ms).toISOString();
    const refused = await backfilled({ ...run, directory, at: after(30_000) });
    const next = await backfilled({ ...run, directory, at: after(61_000) });

    // Before there is a lock, and after it was given back, nothing is in use.
    expect(refused.exitCode === 2 ? refused.calls : 0).toBe(0);
    expect(next).toMatchObject({ exitCode: 0, output: whole.output, left: ['plan.json'] });
    expect(await readdir(directory)).toEqual(['past.om', 'past.om.parts']);
  });
});

/** A copy of a directory as it is after so many turns. */
async function copied(from: string, to: string, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await settle();
  for (;;) {
    await rm(to, { recursive: true });
    try {
      cpSync(from, to, { recursive: true, preserveTimestamps: true });
      return;
    } catch {
      // A file has gone while it was copied.
    }
  }
}
