import { expect } from 'vitest';
import type { AppEntry } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { type anAccount, anApplication, anEntry } from '../support/builders.ts';
import { type FakeBatchSource, inBatches } from '../support/fake-batch-source.ts';
import { createFakeSource, webOf } from '../support/fake-source.ts';
import { aBench, type PollerApi, type PollerBench } from '../support/poller-bench.ts';

export interface BatchBench extends PollerBench {
  readonly source: FakeBatchSource;
}

export function aBatchBench(
  entries: readonly AppEntry[] = [anEntry()],
  account: Parameters<typeof anAccount>[0] = {},
): BatchBench {
  const sources: FakeBatchSource[] = [];
  const sourceOf: PollerApi['sourceOf'] = (...how) => {
    const source = inBatches(createFakeSource(...how));
    sources.push(source);
    return source;
  };
  const bench = aBench({ name: 'in batches', sourceOf }, entries, account);
  const [source] = sources;
  if (source === undefined) throw new Error('there is no source');
  return { ...bench, source };
}

export function idsOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${index + 1}`);
}

/** Applications without hosts, which all answer. */
export function list({ source }: BatchBench, ids: readonly string[]): void {
  source.list(...ids.map((id) => anApplication({ id, name: `app ${id}` })));
  for (const id of ids) source.answer(id, webOf(1));
}

/** How many seconds pass between two polls of the same application. */
async function gapsIn(bench: BatchBench, seconds: number): Promise<readonly number[]> {
  const lastAt = new Map<string, number>();
  const gaps: number[] = [];
  let seen = bench.source.sentBatches.length;
  for (let second = 0; second < seconds; second += 1) {
    await bench.clock.advance(1000);
    for (const id of bench.source.sentBatches.slice(seen).flat()) {
      const last = lastAt.get(id);
      if (last !== undefined) gaps.push(second - last);
      lastAt.set(id, second);
    }
    seen = bench.source.sentBatches.length;
  }
  return gaps;
}

/** Applications, of which each discovery found some more. */
async function aGrownAccount(
  discoveryIntervalMs: number,
  { each, all }: Pick<Growth, 'each' | 'all'>,
): Promise<BatchBench> {
  const bench = aBatchBench([anEntry({ poll: { discoveryIntervalMs } })]);
  list(bench, idsOf(each));
  bench.start();
  for (let count = each; count < all; count += each) {
    await bench.clock.advance(discoveryIntervalMs);
    list(bench, idsOf(Math.min(all, count + each)));
  }
  await bench.clock.advance(3 * minuteMs);
  return bench;
}

/** How the applications of an account came to be known: so many, and more of them so often. */
export interface Growth {
  readonly everyMs: number;
  readonly each: number;
  /** A multiple of what a batch holds. */
  readonly all: number;
}

/** Applications settle in few batches, whatever the way in which they were found. */
export async function expectFewBatches({ everyMs, each, all }: Growth): Promise<void> {
  const bench = await aGrownAccount(everyMs, { each, all });
  const before = bench.source.sent();

  const gaps = await gapsIn(bench, 10 * 60);

  const perMinute = (bench.source.sent() - before) / 10;
  const { demandRequestsPerMinute = 0 } = bench.poller.judge.status();
  expect(demandRequestsPerMinute).toBeCloseTo(all / 200 + minuteMs / everyMs, 5);
  expect(perMinute / demandRequestsPerMinute).toBeGreaterThan(0.95);
  expect(perMinute / demandRequestsPerMinute).toBeLessThan(1.05);
  expect(gaps.length).toBeGreaterThan(8 * all);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(30);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(60);
}
