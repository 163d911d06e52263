import { setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createDaemon } from '../../src/cli/daemon.ts';
import type { JournalEntry } from '../../src/simulator/journal.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakeMachine } from '../support/fake-machine.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';

const minuteMs = 60_000;
const apiKey = 'NRAK-TEST';
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
async function run(minutes: number, foreign: ForeignUse): Promise<readonly Minute[]> {
  const machine = createFakeMachine({
    env: { NEW_RELIC_API_KEY: apiKey },
    openTransport: async () => inMemoryTransport(simulator),
  });
  const { clock } = machine;
  const simulator = createSimulator(
    {
      apiKeys: [apiKey],
      latencyMs: [80, 400],
      journalLimit: 2_000_000,
      fleet: { applications: 50, hosts: 1500, kinds: ['both'] },
    },
    { clock },
  );
  const daemon = await createDaemon(
    { accounts: [anAccount({ requestsPerMinute: 990 })], apps: [anEntry()] },
    { machine, logger: createFakeLogger() },
  );
  const other = inMemoryTransport(simulator);
  setMaxListeners(0, machine.stopSignal);
  const send = (second: number): void => {
    const request = { operation: 'list_applications', target: foreignPath } as const;
    for (let call = 0; call < foreign(second); call += 1) {
      void other.send(request, { 'Api-Key': apiKey }, machine.stopSignal).catch(() => undefined);
    }
    if (second < minutes * 60) clock.after(1000, () => send(second + 1));
  };

  send(0);
  const running = daemon.run(machine.stopSignal);
  await clock.advance(minutes * minuteMs);
  machine.stop();
  await clock.advance(0);
  await running;

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

describe('an account whose key somebody else uses too', () => {
  it('leaves a steady fifth of the quota to somebody else: once learned, at most one 429 an hour', async () => {
    const minutes = await run(64, (second) => (second % 3 === 0 ? 10 : 0));

    const learning = minutes.slice(0, 2);
    const hour = minutes.slice(3, 63);
    expect(sumOf(learning, 'refused')).toBeGreaterThan(0);
    expect(sumOf(learning, 'refused')).toBeLessThanOrEqual(10);
    expect(sumOf(hour, 'refused')).toBeLessThanOrEqual(1);
    expect(sumOf(hour, 'answered') / 60).toBeGreaterThan(0.9 * 800);
  });

  it('is back at the whole budget within two windows after a burst of somebody else', async () => {
    const minutes = await run(12, (second) => (second >= 420 && second < 480 ? 50 : 0));

    expect(minutes[7]?.refused).toBeGreaterThan(0);
    expect(sumOf(minutes.slice(8), 'refused')).toBe(0);
    expect(minutes[9]?.answered).toBeGreaterThan(0.98 * 990);
  });

  it('lives on what is left while somebody else storms, and recovers within two windows', async () => {
    const minutes = await run(20, (second) => (second >= 300 && second < 900 ? 40 : 0));

    const storm = minutes.slice(5, 15);
    expect(storm.every(({ refused }) => refused >= 1 && refused <= 8)).toBe(true);
    expect(sumOf(minutes.slice(15), 'refused')).toBe(0);
    expect(minutes[16]?.answered).toBeGreaterThan(0.98 * 990);
  });
});
