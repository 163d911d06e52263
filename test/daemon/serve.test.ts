import { describe, expect, it } from 'vitest';
import { keepListening } from '../../src/daemon/serve.ts';
import { listenErrorOf } from '../../src/server/listen-address.ts';
import type { BoundAddress } from '../../src/server/metrics-server.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
  /** Why the system refuses an address, by address; it may change. */
  readonly refused: Map<string, string>;
  readonly told: (readonly number[])[];
  readonly tries: string[];
  readonly stop: () => void;
  readonly done: Promise<void>;
}

async function aBench(
  addresses: readonly string[],
  refused: ReadonlyMap<string, string> = new Map(),
): Promise<Bench> {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  const stopper = new AbortController();
  const codes = new Map(refused);
  const told: (readonly number[])[] = [];
  const tries: string[] = [];
  const listenOn = async (address: string): Promise<BoundAddress> => {
    tries.push(address);
    const code = codes.get(address);
    if (code !== undefined) throw listenErrorOf(address, Object.assign(new Error(code), { code }));
    return { host: '::', port: Number(address.slice(1)) };
  };
  const listening = (bound: readonly BoundAddress[]): void => {
    told.push(bound.map(({ port }) => port));
  };
  const done = keepListening(
    addresses,
    { server: { listenOn }, clock, logger, listening },
    stopper.signal,
  );
  await settle();
  return { clock, logger, refused: codes, told, tries, stop: () => stopper.abort(), done };
}

describe('keepListening', () => {
  it('listens on all addresses at once and ends', async () => {
    const { told, tries, clock, done } = await aBench([':1', ':2']);
    await done;

    expect(told).toEqual([[1, 2]]);
    expect(tries).toEqual([':1', ':2']);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('listens where it can, and tries the others until they can be had', async () => {
    const bench = await aBench([':1', ':2', ':3'], new Map([[':2', 'EADDRINUSE']]));
    await bench.clock.advance(11_000);
    bench.refused.clear();
    await bench.clock.advance(5000);
    await bench.done;

    expect(bench.told).toEqual([[1, 3], [2]]);
    expect(bench.tries).toEqual([':1', ':2', ':3', ':2', ':2', ':2']);
    expect(bench.logger.lines).toMatchObject([
      { level: 'error', message: 'cannot listen, trying again', fields: { address: ':2' } },
    ]);
    expect(String(bench.logger.lines[0]?.fields['problem'])).toContain('--web.listen-address');
  });

  it('says again what is wrong when that changes', async () => {
    const bench = await aBench([':1'], new Map([[':1', 'EADDRINUSE']]));
    await bench.clock.advance(60_000);
    bench.refused.set(':1', 'EACCES');
    await bench.clock.advance(60_000);
    bench.stop();
    await bench.done;

    expect(
      bench.logger.lines.map(({ fields }) => /in use|permit/u.exec(String(fields['problem']))?.[0]),
    ).toEqual(['in use', 'permit']);
  });

  it('ends at once when it is stopped', async () => {
    const bench = await aBench([':1'], new Map([[':1', 'EADDRINUSE']]));
    bench.stop();
    await bench.done;

    expect(bench.told).toEqual([]);
    expect(bench.clock.pendingTimers()).toBe(0);
  });

  it('does not take a fault of our own for a port that is taken', async () => {
    const server = {
      listenOn: async (): Promise<BoundAddress> => {
        throw new TypeError('our fault');
      },
    };
    const listening = keepListening(
      [':1'],
      { server, clock: createFakeClock(), logger: createFakeLogger(), listening: () => {} },
      new AbortController().signal,
    );

    await expect(listening).rejects.toThrow('our fault');
  });
});
