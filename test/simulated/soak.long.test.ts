import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { AccountSource } from '../../src/model/config.ts';
import { problemsOf } from './flatness.ts';
import { type Measurement, startSoak } from './soak.ts';

/** As `--expose-gc` does, for a process that was started without it. */
function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

/** Caches and compiled code grow that long. */
const cyclesBefore = 300;
const cycles = 300;
const measureEvery = 30;

describe('10 a daemon on an account that never keeps still', () => {
  it.each<{ readonly what: string; readonly source: AccountSource; readonly faults: number }>([
    { what: 'REST', source: { kind: 'rest', accountId: undefined }, faults: 500 },
    { what: 'NerdGraph', source: { kind: 'nerdgraph', accountId: 1_234_567 }, faults: 50 },
  ])(
    'holds no more after hundreds of cycles than after some: $what',
    async ({ source, faults: atLeast }) => {
      const collectGarbage = garbageCollector();
      const soak = await startSoak({ applications: 8, hosts: 24, seed: 7, source });
      for (let cycle = 0; cycle < cyclesBefore; cycle += 1) await soak.cycle();
      await soak.calmDown();
      await soak.measure(collectGarbage);
      const measurements: Measurement[] = [];
      for (let cycle = 1; cycle <= cycles; cycle += 1) {
        await soak.cycle();
        if (cycle % measureEvery !== 0) continue;
        await soak.calmDown();
        measurements.push(await soak.measure(collectGarbage));
      }
      await soak.stop();

      const faults = measurements.reduce((sum, one) => sum + one.faults, 0);
      const logLines = measurements.map((one) => one.logLines);
      expect(faults).toBeGreaterThan(atLeast);
      expect(problemsOf(measurements)).toEqual([]);
      // Series of accounts that are no longer configured are gone.
      expect(measurements.map(({ accounts }) => accounts)).toEqual(
        measurements.map(() => ['production']),
      );
      expect(Math.max(...logLines)).toBeLessThan(10 * measureEvery);
    },
  );
});
