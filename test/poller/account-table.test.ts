import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { Application } from '../../src/model/application.ts';
import type { AccountConfig, AppEntry } from '../../src/model/config.ts';
import type { Throughput } from '../../src/model/reading.ts';
import { isOwn } from '../../src/model/shard.ts';
import type { SnapshotSink } from '../../src/model/snapshot.ts';
import type { Discovery } from '../../src/model/source.ts';
import { createAccountPlanner } from '../../src/poller/account-planner.ts';
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
    },
    {
      clock,
      sink: options.sink ?? sink,
      planner: createAccountPlanner(
        { discoveryIntervalMs: 60_000 },
        {
          clock,
          capacity: () => ({ limitPerMinute: budgetPerMinute(), carriedPerMinute: Infinity }),
          retries: () => 0,
        },
      ),
      observer: { polled: () => undefined, skipped: () => undefined },
      log: {
        discovered: () => undefined,
        polled: () => undefined,
        demand: ({ budgetPerMinute: budget, stretch }) => demands.push({ budget, stretch }),
        stop: () => undefined,
      },
    },
  );
  return { table, sink, clock, demands };
}

const { signal } = new AbortController();

const noError = {
  error: undefined,
  hostNames: undefined,
  hostNamesError: undefined,
  hostNameCalls: 0,
} as const;

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
    const request = table.begin(id);
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
      unauthorized: false,
    };
    table.polled(id, request, outcome, -100);
  }
}

function anyRequest({ table }: TableBench, id: string): PollRequest {
  const request = table.begin(id);
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
  ])('publishes $what', async ({ next, published }) => {
    const bench = aTable();
    await bench.table.discovered(found(shop('1'), shop('2')), signal);
    pollAll(bench);
    publishedIds(bench);

    await bench.table.discovered(next, signal);

    expect(publishedIds(bench)).toEqual(published);
  });

  it('publishes each application once more when the discovery becomes stale, and when it is back', async () => {
    const bench = aTable({ entries: [anEntry({ poll: { staleAfterMs: 120_000 } })] });
    await bench.table.discovered(found(shop('1'), shop('2')), signal);
    publishedIds(bench);
    const counts: number[] = [];
    for (let minute = 0; minute < 5; minute += 1) {
      await bench.table.discovered(failed(), signal);
      counts.push(publishedIds(bench).length);
      await bench.clock.advance(60_000);
    }

    await bench.table.discovered(found(shop('1'), shop('2')), signal);

    expect(counts).toEqual([0, 0, 2, 0, 0]);
    expect(publishedIds(bench)).toEqual(['1', '2']);
  });

  it('lets other work have its turn when much has changed, and is done soon after', async () => {
    const bench = aTable();
    const ids = Array.from({ length: 10 }, (_, index) => `${index + 1}`);
    await bench.table.discovered(found(...ids.map((id) => shop(id, {}, 400))), signal);
    pollAll(bench);
    publishedIds(bench);

    await bench.table.discovered(
      found(...ids.map((id) => shop(id, { name: 'renamed' }, 400))),
      signal,
    );
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
    await bench.table.discovered(found(...ids.map((id) => shop(id, {}, 400))), signal);
    pollAll(bench);
    await bench.table.discovered(
      found(...ids.map((id) => shop(id, { name: 'renamed' }, 400))),
      signal,
    );

    await bench.table.discovered(found(shop('1', { name: 'renamed' }, 400)), signal);
    const left = [...bench.sink.apps.keys()];
    await bench.clock.advance(0);

    expect(left).toEqual(['1']);
    expect([...bench.sink.apps.keys()]).toEqual(['1']);
  });

  it('publishes nothing more once it was stopped', async () => {
    const bench = aTable();
    const ids = Array.from({ length: 10 }, (_, index) => `${index + 1}`);
    await bench.table.discovered(found(...ids.map((id) => shop(id, {}, 400))), signal);
    pollAll(bench);
    await bench.table.discovered(
      found(...ids.map((id) => shop(id, { name: 'renamed' }, 400))),
      signal,
    );
    publishedIds(bench);

    bench.table.stop();
    await bench.clock.advance(0);

    expect(publishedIds(bench)).toEqual([]);
  });

  it('plans for the hosts that there are now', async () => {
    const bench = aTable();
    await bench.table.discovered(found(shop('1')), signal);
    const before = bench.table.plan;
    await bench.table.discovered(found(shop('1')), signal);
    const unchanged = bench.table.plan;

    await bench.table.discovered(found(shop('1', {}, 9)), signal);

    expect(unchanged).toEqual(before);
    expect([before.hosts, bench.table.plan.hosts]).toEqual([3, 9]);
    expect([before.demandPerMinute, bench.table.plan.demandPerMinute]).toEqual([5, 11]);
  });
});

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

describe('AccountTable, when another shard takes over', () => {
  it('hands over what is no longer its own, and removes what nobody wants', async () => {
    const handedOver: { readonly id: string; readonly withinMs: number }[] = [];
    const shown = createFakeSink();
    const sink: SnapshotSink = {
      ...shown,
      handOver: (_account, id, withinMs) => handedOver.push({ id, withinMs }),
    };
    const bench = aTable({ sink });
    await bench.table.discovered(found(shop('1'), shop('2'), shop('3')), signal);
    pollAll(bench);
    const members = ['a', 'b'];
    const owner = (id: string): string | undefined =>
      members.find((self) => isOwn({ self, members }, id));

    await bench.table.reconfigure(
      {
        account: anAccount({ shard: { self: 'a', members } }),
        entries: [anEntry({ selector: { kind: 'match', pattern: /shop [12]/u } })],
        discoveryIntervalMs: 60_000,
      },
      signal,
    );

    const kept = ['1', '2', '3'].filter((id) => owner(id) === 'a' && id !== '3');
    expect([...bench.table.states.keys()]).toEqual(kept);
    expect(handedOver.map(({ id }) => id)).toEqual(
      ['1', '2', '3'].filter((id) => owner(id) === 'b'),
    );
    expect(handedOver.every(({ withinMs }) => withinMs === 195_000)).toBe(true);
    expect(handedOver.length).toBeGreaterThan(0);
  });
});
