import { setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import type { JournalEntry } from '../../src/simulator/journal.ts';
import { anEntry } from '../support/builders.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { accountOne, aRunningDaemon, keyA } from '../support/running-daemon.ts';

/** Something that this exporter never asks for, so that the journal tells the two apart. */
const foreignPath = '/v2/mobile_applications.json';

/** Calls that the other user of the key makes in each second, from its first minute on. */
type ForeignUse = (second: number) => number;

interface Minute {
  /** Our calls that were answered, and those that were refused. */
  readonly answered: number;
  readonly refused: number;
}

/** Counts our calls in each minute beside somebody else's on the same key. */
async function run(
  minutes: number,
  requestsPerMinute: number,
  foreign: ForeignUse,
): Promise<readonly Minute[]> {
  const { platform, simulator } = await aRunningDaemon(
    { accounts: [accountOne({ requestsPerMinute })], apps: [anEntry({ account: 'one' })] },
    {
      latencyMs: [80, 400],
      journalLimit: 2_000_000,
      fleet: { applications: 50, hosts: 1500, kinds: ['both'] },
    },
  );
  const { clock } = platform;
  const other = inMemoryTransport(simulator);
  setMaxListeners(0, platform.stopSignal);
  const send = (second: number): void => {
    const request = { operation: 'list_applications', target: foreignPath } as const;
    for (let call = 0; call < foreign(second); call += 1) {
      void other.send(request, { 'Api-Key': keyA }, platform.stopSignal).catch(() => undefined);
    }
    if (second < minutes * 60) clock.after(1000, () => send(second + 1));
  };

  send(0);
  await clock.advance(minutes * minuteMs);

  const ours = simulator.journal.entries(({ path }) => path !== foreignPath);
  return Array.from({ length: minutes }, (_, minute) => {
    const isIn = ({ monotonicMs }: JournalEntry): boolean =>
      Math.floor(monotonicMs / minuteMs) === minute;
    const entries = ours.filter(isIn);
    return {
      answered: entries.filter(({ status }) => status === 200).length,
      refused: entries.filter(({ status }) => status === 429).length,
    };
  });
}

function sumOf(minutes: readonly Minute[], key: keyof Minute): number {
  return minutes.reduce((sum, minute) => sum + minute[key], 0);
}

describe('4.2 an account whose key somebody else uses too', () => {
  it('leaves a steady fifth of the quota to somebody else with hardly any 429', async () => {
    const minutes = await run(20, 800, (second) => (second % 3 === 0 ? 10 : 0));

    expect(sumOf(minutes, 'refused')).toBeLessThanOrEqual(2);
    expect(sumOf(minutes.slice(5), 'answered') / 15).toBeGreaterThan(0.95 * 800);
  });

  it('has its whole budget again five minutes after a burst of somebody else', async () => {
    const minutes = await run(14, 990, (second) => (second >= 420 && second < 480 ? 50 : 0));

    const refused = minutes.map((minute) => minute.refused);
    const last = refused.findLastIndex((count) => count > 0);
    expect(last).toBe(7);
    expect(sumOf(minutes, 'refused')).toBeLessThanOrEqual(8);
    expect(minutes[last + 6]?.answered).toBeGreaterThan(0.98 * 990);
  });

  it('draws a few 429s a minute while somebody storms, and is back five minutes after', async () => {
    const minutes = await run(18, 990, (second) => (second >= 120 && second < 720 ? 40 : 0));

    const storm = minutes.slice(2, 12);
    const last = minutes.findLastIndex(({ refused }) => refused > 0);
    expect(Math.min(...storm.map(({ refused }) => refused))).toBeGreaterThanOrEqual(1);
    expect(Math.max(...storm.map(({ refused }) => refused))).toBeLessThanOrEqual(8);
    expect(sumOf(storm, 'refused') / 10).toBeLessThanOrEqual(4);
    expect(last).toBeLessThanOrEqual(12);
    expect(minutes[last + 5]?.answered).toBeGreaterThan(0.9 * 990);
  });
});
