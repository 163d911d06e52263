import { describe, expect, it } from 'vitest';
import type { AccountInUse } from '../../src/model/config.ts';
import { createOwnerOf } from '../../src/model/shard.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeSink } from '../support/fake-sink.ts';
import { eachAfter } from '../support/slow.ts';
import {
  anyRequest,
  aTable,
  discover,
  ended,
  endPoll,
  failed,
  found,
  pollAll,
  publishedIds,
  shop,
  signal,
  type TableBench,
  wholeOutcome,
} from '../support/table-bench.ts';

function nextDueMs({ table }: TableBench, id: string): number {
  const state = table.states.get(id);
  return state === undefined ? 0 : state.dueMs;
}

async function reconfigured(bench: TableBench, options: AccountInUse): Promise<void> {
  await bench.table.reconfigure(options, signal);
  await ended(bench.clock, bench.table.publishAll(signal));
}

describe('AccountTable, when a discovery ended', () => {
  it.each([
    { what: 'nothing, if nothing changed', next: found(shop('1'), shop('2')), published: [] },
    {
      what: 'nothing, if the list comes in another order',
      next: found(shop('2'), shop('1')),
      published: [],
    },
    {
      what: 'only the application with another name',
      next: found(shop('1', { name: 'renamed' }), shop('2')),
      published: ['1'],
    },
    {
      what: 'only the application with another summary',
      next: found(shop('1'), shop('2', { summary: undefined })),
      published: ['2'],
    },
    {
      what: 'only the application with fewer hosts',
      next: found(shop('1'), shop('2', {}, 2)),
      published: ['2'],
    },
    {
      what: 'only a new application',
      next: found(shop('1'), shop('2'), shop('3')),
      published: ['3'],
    },
    { what: 'nothing, if one is gone', next: found(shop('1')), published: [] },
    { what: 'nothing, if the discovery found nothing', next: failed(), published: [] },
    {
      what: 'what a part of a list has changed',
      next: failed(shop('2', { healthStatus: 'red' })),
      published: ['2'],
    },
  ])('publishes $what', async ({ next, published }) => {
    const bench = aTable();
    await discover(bench, found(shop('1'), shop('2')));
    pollAll(bench);
    publishedIds(bench);

    await discover(bench, next);

    expect(publishedIds(bench)).toEqual(published);
  });

  it('lets other work run in between when much has changed, and is done soon after', async () => {
    const bench = aTable();
    const ids = Array.from({ length: 10 }, (_, index) => `${index + 1}`);
    await discover(bench, found(...ids.map((id) => shop(id, {}, 400))));
    pollAll(bench);
    publishedIds(bench);
    const renamed = found(...ids.map((id) => shop(id, { name: 'renamed' }, 400)));
    await bench.table.discovered(renamed, signal);

    const publishing = bench.table.publishAll(signal);
    const atOnce = publishedIds(bench).length;
    await ended(bench.clock, publishing);

    expect(atOnce).toBe(1);
    expect(publishedIds(bench)).toHaveLength(9);
    expect(bench.clock.pendingTimers()).toBe(0);
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
    await discover(bench, found(shop('1'), shop('2')));
    pollAll(bench);
    publishedIds(bench);

    await reconfigured(bench, { ...options, entries: [entry] });

    expect(publishedIds(bench)).toEqual(published);
  });

  it('keeps the values, the due times and what failed', async () => {
    const bench = aTable();
    await discover(bench, found(shop('1')));
    pollAll(bench);
    const before = bench.table.states.applications.get('1');

    await reconfigured(bench, { ...options, entries: [anEntry({ labels })] });

    const { selected, ...kept } = bench.table.states.applications.get('1') ?? {
      selected: undefined,
    };
    expect(selected?.entry.labels).toEqual(labels);
    expect(kept).toEqual({ ...before, selected: undefined, ...kept });
    expect(kept).toMatchObject({ reading: before?.reading, dueMs: before?.dueMs });
  });
});

describe('8.3 a reload that asks something else', () => {
  eachAfter(1, [
    { what: 'due at once, if the budget suffices', requestsPerMinute: 20_000, dueNow: 10_000 },
    { what: 'due over the interval, if it does not', requestsPerMinute: 5000, dueNow: 1 },
  ])('makes ten thousand applications $what', async ({ requestsPerMinute, dueNow }) => {
    const account = anAccount({ requestsPerMinute });
    const bench = aTable({ account, entries: [anEntry({ hosts: false })] });
    const { states } = bench.table;
    const shops = Array.from({ length: 10_000 }, (_, index) => shop(`${index}`, {}, 0));
    await discover(bench, found(...shops));
    pollAll(bench);
    const before = new Map([...states.applications].map(([id, { dueMs }]) => [id, dueMs]));
    await bench.clock.advance(1);

    const entries = [anEntry({ hosts: false, poll: { delayMs: 60_000 } })];
    const applied = bench.table.reconfigure({ account, entries }, signal);
    const meanwhile = bench.table.look().due.length;
    await ended(bench.clock, applied);

    const nowMs = bench.clock.monotonicMs();
    const after = [...states.applications].map(([id, { dueMs }]) => ({ id, dueMs }));
    expect(meanwhile).toBe(0);
    expect(after.filter(({ dueMs }) => dueMs <= nowMs)).toHaveLength(dueNow);
    expect(after.filter(({ id, dueMs }) => dueMs > (before.get(id) ?? 0))).toEqual([]);
  });

  it('takes in nothing of the old answer, though it comes in the same turn', async () => {
    const bench = aTable();
    await discover(bench, found(shop('1')));
    pollAll(bench);
    const request = anyRequest(bench, '1');
    const entries = [anEntry({ poll: { delayMs: 60_000 } })];
    await ended(bench.clock, bench.table.reconfigure({ account: anAccount(), entries }, signal));
    const before = bench.table.states.get('1');

    endPoll(bench, request, wholeOutcome());

    expect(bench.table.states.get('1')).toBe(before);
  });
});

describe('AccountTable, when the budget changes', () => {
  it('follows it with the next look, and stretches what has passed of each interval', async () => {
    const bench = aTable();
    await discover(bench, found(shop('1', {}, 99), shop('2')));
    pollAll(bench);
    bench.calls.resize({ requestsPerMinute: 50, concurrency: 8 });

    bench.table.look();

    const { stretch } = bench.table.plan;
    expect(stretch).toBeGreaterThan(2);
    expect(nextDueMs(bench, '1')).toBeGreaterThan(60_000);
  });
});

describe('AccountTable, with another shard than before', () => {
  it('removes what now belongs to another shard, and what no entry wants', async () => {
    const sink = createFakeSink();
    const bench = aTable({ sink });
    await discover(bench, found(shop('2'), shop('3'), shop('4')));
    pollAll(bench);

    await reconfigured(bench, {
      account: anAccount({ shard: { ordinal: 0, total: 2 } }),
      entries: [anEntry({ selector: { kind: 'match', pattern: /shop [23]/u } })],
    });

    const kept = ['2', '3'].filter((id) => createOwnerOf(2)(id) === 0);
    expect(kept).toHaveLength(1);
    expect([...bench.table.states.applications.keys()]).toEqual(kept);
    expect([...sink.apps.keys()]).toEqual(kept);
  });
});
