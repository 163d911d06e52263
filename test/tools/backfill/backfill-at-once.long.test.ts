import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { settle } from '../../support/fake-clock.ts';
import {
  type Backfilled,
  backfilled,
  smallRun as run,
  temporaryDirectory,
  undisturbed,
} from './backfill-bench.ts';

/** Ten after the start, ten at calls up to the last one, and ten from there until the directory is given back. */
const moments = Array.from({ length: 30 }, (_, index) => index);

/** How far a run is behind its last call: from slices that lack, and a file that is written, to a lock that is gone. */
function stageOf(directory: string, slices: number): number {
  const names = readdirSync(directory, { recursive: true }).map(String);
  const parts = names.filter((name) => name.endsWith('.part')).length;
  if (!names.includes('past.om.parts/lock')) return slices + 6;
  // Then its slices go.
  if (names.includes('past.om')) return slices + 5 - parts;
  if (!names.includes('past.om.parts/plan.json')) return 0;
  const plan = readFileSync(join(directory, 'past.om.parts', 'plan.json'), 'utf8');
  if (plan.includes('"bytes"')) return 4;
  if (names.some((name) => name.includes('plan.json.'))) return 3;
  if (names.some((name) => name.startsWith('past.om.') && name.endsWith('.tmp'))) return 2;
  return parts === slices ? 1 : 0;
}

function stagesOf(slices: number): readonly number[] {
  const going = [0.25, 0.5, 0.75].map((share) => 5 + Math.ceil(share * slices));
  return [1, 2, 3, 4, 5, ...going, slices + 5, slices + 6];
}

describe('backfill, disturbed', () => {
  let whole: Backfilled;
  let slices = 0;
  beforeAll(async () => {
    whole = await undisturbed(run);
    // But for the list of applications, and the groups of the query.
    slices = whole.calls - 2;
    expect(slices).toBe(15);
  });

  /** A run, and what is done at a moment of it. */
  async function disturbed<Value>(
    moment: number,
    directory: string,
    work: (wallMs: number) => Promise<Value>,
  ): Promise<readonly [first: Backfilled, result: Value | undefined]> {
    const works: Promise<Value>[] = [];
    const first = backfilled({
      ...run,
      directory,
      beforeCall: (call, { clock }) => {
        const share = moment < 20 ? (moment - 9) / 11 : 1;
        if (call !== Math.ceil(share * whole.calls)) return;
        const stage = stagesOf(slices)[moment - 20] ?? 0;
        const until = async (): Promise<void> => {
          while (stageOf(directory, slices) < stage) await settle();
        };
        works.push(until().then(async () => work(clock.wallMs())));
      },
    });
    if (moment < 10) {
      for (let turn = 0; turn < moment ** 2; turn += 1) await settle();
      works.push(work(Date.parse('2026-09-01T10:00:30Z')));
    }
    return [await first, await works[0]];
  }

  it.each(moments)('is whole, and a second run is refused, at moment %i', async (moment) => {
    const directory = await temporaryDirectory();
    const [first, second] = await disturbed(moment, directory, async (wallMs) =>
      backfilled({ ...run, directory, at: new Date(wallMs).toISOString() }),
    );
    const runs = second === undefined ? [] : [first, second];
    const refused = runs.filter(({ exitCode }) => exitCode === 2);
    const done = runs.filter(({ exitCode }) => exitCode === 0);

    expect(runs).toHaveLength(2);
    expect(refused.length + done.length).toBe(2);
    expect(refused.map(({ calls }) => calls).filter((calls) => calls > 0)).toEqual([]);
    expect(done.length).toBeGreaterThan(0);
    expect(done.at(-1)?.output).toBe(whole.output);
  });

  it.each(moments)('goes on, to the same bytes, after kill -9 at moment %i', async (moment) => {
    const [directory, killed] = [await temporaryDirectory(), await temporaryDirectory()];
    const [, killedMs = 0] = await disturbed(moment, killed, async (wallMs) => {
      await copied(killed, directory);
      return wallMs;
    });
    const after = (ms: number): string => new Date(killedMs + ms).toISOString();
    const refused = await backfilled({ ...run, directory, at: after(30_000) });
    const next = await backfilled({ ...run, directory, at: after(61_000) });

    // Before there is a lock, and after it was given back, nothing is in use.
    expect(refused.exitCode === 2 ? refused.calls : 0).toBe(0);
    expect(next).toMatchObject({ exitCode: 0, output: whole.output, left: ['plan.json'] });
    expect(await readdir(directory)).toEqual(['past.om', 'past.om.parts']);
  });
});

async function copied(from: string, to: string): Promise<void> {
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
