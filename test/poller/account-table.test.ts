import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { Application } from '../../src/model/application.ts';
import type { AccountConfig, AppEntry } from '../../src/model/config.ts';
import type { Throughput } from '../../src/model/reading.ts';
import { isOwn } from '../../src/model/shard.ts';
import type { SnapshotSink } from '../../src/model/snapshot.ts';
import type { Discovery } from '../../src/model/source.ts';
import type { AccountHandover } from '../../src/poller/account-handover.ts';
import { AccountTable } from '../../src/poller/account-table.ts';
import type { PollRequest } from '../../src/poller/poll-application.ts';
import type { PollOutcome } from '../../src/poller/poll-outcome.ts';
import { anAccount, anApplication, anEntry } from '../support/builders.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createFakeSink, type FakeSink } from '../support/fake-sink.ts';
import { webOf } from '../support/fake-source.ts';

interface TableBench {
  readonly table: AccountTable;
  readonly sink: FakeSink;
  readonly clock: FakeClock;
  readonly demands: { readonly budget: number; readonly stretch: number }[];
}

function aTable(
  options: {
    readonly entries?: readonly AppEntry[];
    readonly handover?: AccountHandover;
    readonly budgetPerMinute?: () => number;
    readonly clock?: FakeClock;
    readonly sink?: SnapshotSink;
    readonly account?: AccountConfig;
  } = {},
): TableBench {
  const { clock = createFakeClock(), budgetPerMinute = () => 800 } = options;
  const sink = createFakeSink();
  const demands: { readonly budget: number; readonly stretch: number }[] = [];
  const table = new AccountTable(
    {
      account: options.account ?? anAccount(),
      entries: options.entries ?? [anEntry()],
      discoveryIntervalMs: 60_000,
      handover: options.handover,
    },
    {
      clock,
      sink: options.sink ?? sink,
      budgetPerMinute,
      observer: { polled: () => undefined, skipped: () => undefined },
      log: {
        discovered: () => undefined,
        polled: () => undefined,
        demand: (_perMinute, budget, stretch) => demands.push({ budget, stretch }),
        stop: () => undefined,
      },
    },
  );
  return { table, sink, clock, demands };
}

const noError = { error: undefined, hostNames: undefined, hostNamesError: undefined } as const;

/** New objects every time, as the vendor's answers are. */
function shop(id: string, overrides: Partial<Application> = {}, hosts = 3): Application {
  const hostIds = Array.from({ length: hosts }, (_, index) => `${id}0${index}`);
  return anApplication({
    id,
    name: `shop ${id}`,
    hostIds,
    instanceIds: [...hostIds],
    summary: {
      requestsPerMinute: 5,
      responseTimeSeconds: 0.1,
      errorRatio: 0,
      apdexScore: 1,
      apdexTargetSeconds: 0.5,
    },
    ...overrides,
  });
}

function found(...applications: Application[]): Discovery {
  return {
    applications,
    complete: true,
    unreadableIds: [],
    pendingIds: [],
    calls: 1,
    error: undefined,
  };
}

function failed(...applications: Application[]): Discovery {
  const error = new ApiError('server', 'HTTP 500', { status: 500 });
  return { applications, complete: false, unreadableIds: [], pendingIds: [], calls: 1, error };
}

/** Polls every application once, with success. */
function pollAll({ table }: TableBench): void {
  for (const [id, { selected }] of table.states) {
    const request = table.requestFor(id);
    if (request === undefined) continue;
    const hosts = new Map(
      selected.application.hostIds?.map((host): [string, Throughput] => [host, webOf(1)]),
    );
    const outcome: PollOutcome = {
      ...noError,
      reading: { windowEndMs: 1, application: webOf(2), hosts },
      failed: new Set(),
      plannedCalls: 1 + hosts.size,
      gone: false,
      refused: false,
    };
    table.polled(id, request, outcome, 100);
  }
}

function anyRequest({ table }: TableBench, id: string): PollRequest {
  const request = table.requestFor(id);
  if (request === undefined) throw new Error(`there is no application ${id}`);
  return request;
}

/** The ids published since the last call. */
function publishedIds({ sink }: TableBench): readonly string[] {
  return sink.published.splice(0).map(({ application }) => application.id);
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
  ])('publishes $what', ({ next, published }) => {
    const bench = aTable();
    bench.table.discovered(found(shop('1'), shop('2')));
    pollAll(bench);
    publishedIds(bench);

    bench.table.discovered(next);

    expect(publishedIds(bench)).toEqual(published);
  });

  it('publishes each application once more when the discovery becomes stale, and when it is back', async () => {
    const bench = aTable({ entries: [anEntry({ poll: { staleAfterMs: 120_000 } })] });
    bench.table.discovered(found(shop('1'), shop('2')));
    publishedIds(bench);
    const counts: number[] = [];
    for (let minute = 0; minute < 5; minute += 1) {
      bench.table.discovered(failed());
      counts.push(publishedIds(bench).length);
      await bench.clock.advance(60_000);
    }

    bench.table.discovered(found(shop('1'), shop('2')));

    expect(counts).toEqual([0, 0, 2, 0, 0]);
    expect(publishedIds(bench)).toEqual(['1', '2']);
  });

  it('lets other work have its turn when much has changed, and is done soon after', async () => {
    const bench = aTable();
    const ids = Array.from({ length: 10 }, (_, index) => `${index + 1}`);
    bench.table.discovered(found(...ids.map((id) => shop(id, {}, 400))));
    pollAll(bench);
    publishedIds(bench);

    bench.table.discovered(found(...ids.map((id) => shop(id, { name: 'renamed' }, 400))));
    const atOnce = publishedIds(bench).length;
    await bench.clock.advance(0);
    const inAll = atOnce + publishedIds(bench).length;

    expect(atOnce).toBe(3);
    expect(inAll).toBe(10);
    expect(bench.clock.pendingTimers()).toBe(0);
  });

  it('removes at once what is gone, however much else has changed, and never brings it back', async () => {
    const bench = aTable();
    const ids = Array.from({ length: 10 }, (_, index) => `${index + 1}`);
    bench.table.discovered(found(...ids.map((id) => shop(id, {}, 400))));
    pollAll(bench);
    bench.table.discovered(found(...ids.map((id) => shop(id, { name: 'renamed' }, 400))));

    bench.table.discovered(found(shop('1', { name: 'renamed' }, 400)));
    const left = [...bench.sink.apps.keys()];
    await bench.clock.advance(0);

    expect(left).toEqual(['1']);
    expect([...bench.sink.apps.keys()]).toEqual(['1']);
    expect([...bench.table.handover().published.keys()]).toEqual(['1']);
  });

  it('publishes nothing more once it was stopped', async () => {
    const bench = aTable();
    const ids = Array.from({ length: 10 }, (_, index) => `${index + 1}`);
    bench.table.discovered(found(...ids.map((id) => shop(id, {}, 400))));
    pollAll(bench);
    bench.table.discovered(found(...ids.map((id) => shop(id, { name: 'renamed' }, 400))));
    publishedIds(bench);

    bench.table.stop();
    await bench.clock.advance(0);

    expect(publishedIds(bench)).toEqual([]);
  });

  it('plans for the hosts that there are now', () => {
    const bench = aTable();
    bench.table.discovered(found(shop('1')));
    const before = bench.table.plan;
    bench.table.discovered(found(shop('1')));
    const unchanged = bench.table.plan;

    bench.table.discovered(found(shop('1', {}, 9)));

    expect(unchanged).toBe(before);
    expect([before.hosts, bench.table.plan.hosts]).toEqual([3, 9]);
    expect([before.demandPerMinute, bench.table.plan.demandPerMinute]).toEqual([5, 11]);
  });
});

describe('AccountTable, when a poll ended', () => {
  it('publishes host names that came with a poll that changed nothing else', () => {
    const bench = aTable();
    bench.table.discovered(found(shop('1')));
    pollAll(bench);
    const outcome: PollOutcome = {
      ...noError,
      reading: undefined,
      failed: new Set(['100', '101', '102']),
      plannedCalls: 4,
      gone: false,
      refused: false,
    };
    const request = { ...anyRequest(bench, '1'), askHostNames: true };
    bench.table.polled('1', request, outcome, 100);
    publishedIds(bench);

    bench.table.polled('1', request, { ...outcome, hostNames: new Map([['100', 'a']]) }, 100);
    bench.table.polled('1', { ...request, askHostNames: false }, outcome, 100);

    expect(publishedIds(bench)).toEqual(['1']);
    expect(bench.sink.apps.get('1')?.hostNames).toEqual(new Map([['100', 'a']]));
  });
});

describe('AccountTable, when it takes over from another', () => {
  const labels = { team: 'payments' };

  it.each([
    { what: 'nothing that looks the same', entry: anEntry(), published: [] },
    { what: 'everything that has other labels', entry: anEntry({ labels }), published: ['1', '2'] },
  ])('publishes $what', ({ entry, published }) => {
    const old = aTable();
    old.table.discovered(found(shop('1'), shop('2')));
    pollAll(old);

    const bench = aTable({
      entries: [entry],
      handover: old.table.handover(),
      clock: old.clock,
    });

    expect(publishedIds(bench)).toEqual(published);
  });

  it('publishes what the other one did not get to', async () => {
    const old = aTable();
    const ids = Array.from({ length: 10 }, (_, index) => `${index + 1}`);
    old.table.discovered(found(...ids.map((id) => shop(id, {}, 400))));
    pollAll(old);
    publishedIds(old);
    old.table.discovered(found(...ids.map((id) => shop(id, { name: 'renamed' }, 400))));
    old.table.stop();
    const before = publishedIds(old);

    const bench = aTable({ handover: old.table.handover(), clock: old.clock });
    await bench.clock.advance(0);

    expect([...before, ...publishedIds(bench)]).toEqual(ids);
  });
});

describe('AccountTable, when the budget changes', () => {
  it('stretches the intervals as the budget of the moment asks for', () => {
    let budget = 800;
    const bench = aTable({ budgetPerMinute: () => budget });
    bench.table.discovered(found(shop('1', {}, 99)));
    const plenty = bench.table.plan;
    budget = 50;

    bench.table.budgetChanged();

    expect(plenty).toMatchObject({ budgetPerMinute: 800, stretch: 1, demandPerMinute: 101 });
    expect(bench.table.plan.budgetPerMinute).toBe(50);
    expect(bench.table.plan.stretch).toBeCloseTo(100 / (50 * 0.985 - 1), 5);
    expect(bench.table.requestFor('1')?.spanMs).toBeCloseTo(60_000 * bench.table.plan.stretch, 5);
    expect(bench.demands.at(-1)).toEqual({ budget: 50, stretch: bench.table.plan.stretch });
  });
});

describe('AccountTable, when another shard takes over', () => {
  it('hands over what is no longer its own, and removes what nobody wants', () => {
    const before = aTable();
    before.table.discovered(found(shop('1'), shop('2'), shop('3')));
    pollAll(before);
    const handedOver: { readonly id: string; readonly withinMs: number }[] = [];
    const sink: SnapshotSink = {
      ...before.sink,
      handOver: (_account, id, withinMs) => handedOver.push({ id, withinMs }),
    };
    const members = ['a', 'b'];
    const owner = (id: string): string | undefined =>
      members.find((self) => isOwn({ self, members }, id));

    const after = aTable({
      handover: before.table.handover(),
      clock: before.clock,
      sink,
      account: anAccount({ shard: { self: 'a', members } }),
      entries: [anEntry({ selector: { kind: 'match', pattern: /shop [12]/u } })],
    });

    const kept = ['1', '2', '3'].filter((id) => owner(id) === 'a' && id !== '3');
    expect([...after.table.states.keys()]).toEqual(kept);
    expect(handedOver.map(({ id }) => id)).toEqual(
      ['1', '2', '3'].filter((id) => owner(id) === 'b'),
    );
    expect(handedOver.every(({ withinMs }) => withinMs === 195_000)).toBe(true);
    expect(handedOver.length).toBeGreaterThan(0);
  });
});
