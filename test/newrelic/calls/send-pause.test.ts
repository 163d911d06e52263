import { describe, expect, it } from 'vitest';
import { sleep } from '../../../src/model/clock.ts';
import { settle } from '../../support/fake-clock.ts';
import { anAnswer, held, neverAborted, scripted } from './fakes.ts';
import { aSendBench, type SendBench } from './send-bench.ts';

const once = { mayRetry: false } as const;

describe('a 429', () => {
  it('pauses the key for as long as the answer says, and is counted', async () => {
    const bench = aSendBench(scripted(anAnswer(429, { 'retry-after': '20' }), anAnswer()).send);
    await bench.clock.advance(5000);

    void bench.send(once);
    await bench.clock.advance(0);
    expect(bench.calls.key.pausedUntilMs()).toBe(25_500);
    const refusals = { calls: 1, sinceMs: 5000, lastMs: 5000, cause: 'overload' };
    expect(bench.calls.key.refusals()).toEqual(refusals);
  });

  it.each([200, 503])('is not what a %d is', async (status) => {
    const headers = { 'retry-after': '20', 'x-ratelimit-limit': '1000' };
    const bench = aSendBench(scripted(anAnswer(status, headers)).send);
    await bench.send(once);

    expect([bench.calls.key.pausedUntilMs(), bench.calls.key.refusals()]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('that comes late pauses the key from when the vendor gave it', async () => {
    const bench: SendBench = aSendBench(async (...asked) => wire.send(...asked));
    const { clock } = bench;
    const startMs = clock.wallMs();
    const at = (ms: number): string => new Date(startMs + ms).toUTCString();
    const reset = String((startMs + 20_000) / 1000);
    // The vendor's clock agrees with ours.
    const wire = scripted(
      anAnswer(200, { date: at(0) }),
      async () => {
        await sleep(clock, 25_000, neverAborted);
        return anAnswer(429, { date: at(1000), 'x-ratelimit-reset': reset });
      },
      anAnswer(),
    );
    await bench.send(once);
    void bench.send(once);
    await clock.advance(25_000);

    // From when it arrived, it would last until 44.5 s.
    expect(bench.sentAtMs.at(-1)).toBe(25_000);
    expect(bench.calls.key.refusals()?.cause).toBe('key_limit');
  });

  it('holds what waits for a place while it keeps the account away', async () => {
    const wire = held();
    const bench = aSendBench(wire.send, { account: { concurrency: 1 } });
    const outcomes = Promise.all([1, 2, 3].map(async () => bench.outcomeOf()));
    await settle();

    wire.answer(anAnswer(429, { 'retry-after': '30' }));
    await bench.clock.advance(30_499);
    const sentDuringPause = wire.requests.length;
    await bench.clock.advance(1);
    for (let request = 0; request < 3; request += 1) {
      wire.answer();
      await bench.clock.advance(3000);
    }

    expect(sentDuringPause).toBe(1);
    expect(await outcomes).toEqual([200, 200, 200]);
    expect(bench.observer.events.filter((event) => event === 'throttled')).toHaveLength(1);
  });
});

describe("the vendor's clock", () => {
  it.each([
    ['agrees', 0, 200, false],
    ['is an hour ahead in 429s', 3_600_000, 429, true],
    ['is an hour ahead in 503s', 3_600_000, 503, true],
  ])('%s: windows are cut by it if that is true: %d ms, %d, %s', async (...row) => {
    const [, aheadMs, status, isUsed] = row;
    const bench: SendBench = aSendBench(async () => {
      const date = new Date(bench.clock.wallMs() + aheadMs).toUTCString();
      return anAnswer(status, { date, 'retry-after': '0' });
    });
    for (let call = 0; call < 3; call += 1) {
      void bench.send(once);
      await bench.clock.advance(1000);
    }

    const { vendorClock } = bench.transport;
    const differenceMs = vendorClock.wallMs() - bench.clock.wallMs();
    expect(Math.abs(differenceMs - (isUsed ? aheadMs : 0))).toBeLessThan(1000);
    expect(vendorClock.skewSeconds()).toBe(isUsed ? differenceMs / 1000 : undefined);
  });
});
