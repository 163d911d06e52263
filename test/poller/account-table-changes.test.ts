import { describe, expect, it } from 'vitest';
import type { PollOutcome } from '../../src/model/poll-outcome.ts';
import { createOwnerOf } from '../../src/model/shard.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeSink } from '../support/fake-sink.ts';
import {
  anyRequest,
  aTable,
  found,
  noError,
  pollAll,
  publishedIds,
  shop,
  signal,
} from '../support/table-bench.ts';

describe('AccountTable, when a poll ended', () => {
  it('publishes host names that came with a poll that changed nothing else', async () => {
    const bench = aTable();
    await bench.table.discovered(found(shop('1')), signal);
    pollAll(bench);
    const outcome: PollOutcome = {
      ...noError,
      reading: undefined,
      failed: new Set(['100', '101', '102']),
      plannedCalls: 4,
      gone: false,
      unauthorized: false,
    };
    const request = { ...anyRequest(bench, '1'), askHostNames: true };
    bench.table.polled('1', request, outcome, -100);
    publishedIds(bench);

    bench.table.polled('1', request, { ...outcome, hostNames: new Map([['100', 'a']]) }, -100);
    bench.table.polled('1', { ...request, askHostNames: false }, outcome, -100);

    expect(publishedIds(bench)).toEqual(['1']);
    expect(bench.sink.apps.get('1')?.hostNames).toEqual(new Map([['100', 'a']]));
  });
});

describe('AccountTable, when it is configured anew', () => {
  const labels = { team: 'payments' };
  const options = { account: anAccount(), discoveryIntervalMs: 60_000 };

  it.each([
    { what: 'nothing that looks the same', entry: anEntry(), published: [] },
    { what: 'everything that has other labels', entry: anEntry({ labels }), published: ['1', '2'] },
  ])('publishes $what', async ({ entry, published }) => {
    const bench = aTable();
    await bench.table.discovered(found(shop('1'), shop('2')), signal);
    pollAll(bench);
    publishedIds(bench);

    const unwanted = await bench.table.reconfigure({ ...options, entries: [entry] }, signal);

    expect(publishedIds(bench)).toEqual(published);
    expect(unwanted).toEqual([]);
  });

  it('removes what is no longer wanted at once, and names it and what is polled otherwise', async () => {
    const bench = aTable();
    await bench.table.discovered(found(shop('1'), shop('2'), shop('3')), signal);
    pollAll(bench);

    const unwanted = await bench.table.reconfigure(
      {
        ...options,
        entries: [
          anEntry({ selector: { kind: 'id', id: '1' } }),
          anEntry({ selector: { kind: 'id', id: '2' }, hosts: false }),
        ],
      },
      signal,
    );

    expect([...bench.sink.apps.keys()]).toEqual(['1', '2']);
    expect(unwanted).toEqual(['2', '3']);
  });

  it('keeps the values, the due times and what failed', async () => {
    const bench = aTable();
    await bench.table.discovered(found(shop('1')), signal);
    pollAll(bench);
    const before = bench.table.states.get('1');

    await bench.table.reconfigure({ ...options, entries: [anEntry({ labels })] }, signal);

    const { selected, ...kept } = bench.table.states.get('1') ?? { selected: undefined };
    expect(selected?.entry.labels).toEqual(labels);
    expect(kept).toEqual({ ...before, selected: undefined, ...kept });
    expect(kept).toMatchObject({ reading: before?.reading, nextDueMs: before?.nextDueMs });
  });
});

describe('AccountTable, when the budget changes', () => {
  it('tells of a plan that a discovery has changed, but not of one that only follows the limit', async () => {
    let budget = 800;
    const bench = aTable({ budgetPerMinute: () => budget });
    await bench.table.discovered(found(shop('1', {}, 99)), signal);
    budget = 50;

    bench.table.followLimit();

    expect(bench.planned).toEqual([101]);
    expect(bench.table.plan.budgetPerMinute).toBe(50);
  });

  it('is followed at the latest when a poll ends', async () => {
    let budget = 800;
    const bench = aTable({ budgetPerMinute: () => budget });
    await bench.table.discovered(found(shop('1', {}, 99), shop('2')), signal);
    budget = 50;

    pollAll(bench);

    const { stretch } = bench.table.plan;
    expect(stretch).toBeGreaterThan(2);
    expect(bench.table.states.get('1')?.nextDueMs).toBeGreaterThan(60_000);
    expect(bench.demands.at(-1)).toEqual({ budget: 50, stretch });
  });

  it('stretches the intervals as the budget of the moment asks for', async () => {
    let budget = 800;
    const bench = aTable({ budgetPerMinute: () => budget });
    await bench.table.discovered(found(shop('1', {}, 99)), signal);
    const plenty = bench.table.plan;
    budget = 50;

    bench.table.followLimit();

    expect(plenty).toMatchObject({ budgetPerMinute: 800, stretch: 1, demandPerMinute: 101 });
    expect(bench.table.plan.budgetPerMinute).toBe(50);
    expect(bench.table.plan.stretch).toBeCloseTo(100 / (50 * 0.985 - 1), 5);
    expect(bench.table.begin('1')?.periodMs).toBeCloseTo(60_000 * bench.table.plan.stretch, 5);
    expect(bench.demands.at(-1)).toEqual({ budget: 50, stretch: bench.table.plan.stretch });
  });
});

describe('AccountTable, when a discovery changes the demand', () => {
  it('moves the polls that wait, so that they follow the intervals of now', async () => {
    const bench = aTable({ budgetPerMinute: () => 50 });
    await bench.table.discovered(found(shop('1', {}, 500), shop('2')), signal);
    pollAll(bench);
    const before = bench.table.states.get('2')?.nextDueMs ?? 0;
    const { stretch } = bench.table.plan;

    await bench.table.discovered(found(shop('2')), signal);

    expect(stretch).toBeGreaterThan(5);
    expect(bench.table.plan.stretch).toBe(1);
    expect(bench.table.states.get('2')?.nextDueMs).toBeCloseTo(before / stretch, 6);
  });
});

describe('AccountTable, with another shard than before', () => {
  it('removes what is no longer its own, and what nobody wants', async () => {
    const sink = createFakeSink();
    const bench = aTable({ sink });
    await bench.table.discovered(found(shop('2'), shop('3'), shop('4')), signal);
    pollAll(bench);

    await bench.table.reconfigure(
      {
        account: anAccount({ shard: { ordinal: 0, total: 2 } }),
        entries: [anEntry({ selector: { kind: 'match', pattern: /shop [23]/u } })],
        discoveryIntervalMs: 60_000,
      },
      signal,
    );

    const kept = ['2', '3'].filter((id) => createOwnerOf(2)(id) === 0);
    expect(kept).toHaveLength(1);
    expect([...bench.table.states.keys()]).toEqual(kept);
    expect([...sink.apps.keys()]).toEqual(kept);
  });
});
