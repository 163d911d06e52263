import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { AppSnapshot } from '../../src/model/snapshot.ts';
import { anApplication, anEntry } from '../support/builders.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, type PollerBench } from '../support/poller-bench.ts';

const minuteMs = 60_000;

/** So many applications without hosts, which all answer. */
function listed({ source }: PollerBench, count: number): void {
  const ids = Array.from({ length: count }, (_, index) => `${index + 1}`);
  source.list(...ids.map((id) => anApplication({ id, name: `app ${id}` })));
  for (const id of ids) source.answer(id, webOf(1));
}

/** So many hosts of application 1, which all answer. */
function many({ source }: PollerBench, hosts: number): readonly string[] {
  return Array.from({ length: hosts }, (_, index) => {
    source.answer(`1/${index}`, webOf(1));
    return `${index}`;
  });
}

/** From now on no timer fires: a fault of our own. */
function loseTimers(clock: FakeClock): void {
  Object.assign(clock, { after: () => () => undefined });
}

describe('stalled', () => {
  const slowly = { poll: { intervalMs: 60 * minuteMs, discoveryIntervalMs: 60 * minuteMs } };

  it.each([
    { what: 'polls are due every minute', entry: {}, perMinute: 800 },
    { what: 'nothing is due for an hour', entry: slowly, perMinute: 800 },
    { what: 'intervals are stretched twentyfold', entry: {}, perMinute: 1 },
  ])('says nothing while $what', async ({ entry, perMinute }) => {
    const bench = aBench([anEntry(entry)], { requestsPerMinute: perMinute });
    listed(bench, 20);
    bench.start();
    const seen = new Set<string | undefined>();

    for (let second = 0; second < 7200; second += 10) {
      await bench.clock.advance(10_000);
      seen.add(bench.poller.stalled());
    }

    expect([...seen]).toEqual([undefined]);
  });

  it.each([
    {
      what: 'no discovery is answered',
      arrange: (bench: PollerBench) => bench.source.hangDiscovery(),
    },
    {
      what: 'no call is answered',
      arrange: (bench: PollerBench) => bench.source.answer('1', new Promise(() => undefined)),
    },
    {
      what: 'the key is refused',
      arrange: (bench: PollerBench) =>
        bench.source.failDiscovery(new ApiError('auth', 'no', { status: 401 })),
    },
  ])('says nothing while $what: that is no fault of our own', async ({ arrange }) => {
    const bench = aBench();
    listed(bench, 1);
    bench.start();
    await bench.clock.advance(10_000);
    arrange(bench);
    const seen = new Set<string | undefined>();

    for (let second = 0; second < 3600; second += 10) {
      await bench.clock.advance(10_000);
      seen.add(bench.poller.stalled());
    }

    expect([...seen]).toEqual([undefined]);
  });

  it.each([
    {
      what: 'the timer of the polls is lost',
      entry: { poll: { discoveryIntervalMs: 60 * minuteMs } },
      reason: /^account production: a poll has been due for 3\d\d s$/u,
    },
    {
      what: 'the timer of the calls is lost',
      entry: { poll: { discoveryIntervalMs: 60 * minuteMs } },
      hosts: 100,
      reason: /^account production: a call has been due for 300 s$/u,
    },
    {
      what: 'the timer of the discoveries is lost',
      entry: { poll: { intervalMs: 60 * minuteMs } },
      reason: /^account production: a discovery has been late for 300 s$/u,
    },
  ])('gives a reason when $what', async ({ entry, reason, hosts = 0 }) => {
    const bench = aBench([anEntry(entry)], { requestsPerMinute: 30 });
    listed(bench, 2);
    if (hosts > 0) bench.source.list(anApplication({ id: '1', hostIds: many(bench, hosts) }));
    bench.start();
    await bench.clock.advance(1000);
    loseTimers(bench.clock);
    // Ten seconds after a poll its application comes to its place.
    await bench.clock.advance(minuteMs);
    const atMs = bench.clock.monotonicMs();
    const before = bench.poller.stalled();

    while (bench.poller.stalled() === undefined && bench.clock.monotonicMs() < atMs + 600_000) {
      await bench.clock.advance(1000);
    }

    expect(before).toBeUndefined();
    expect(bench.poller.stalled()).toMatch(reason);
  });

  it('says nothing before the account was started and after it was stopped', async () => {
    const bench = aBench();
    listed(bench, 1);
    const before = bench.poller.stalled();
    await bench.poller.runOnce(new AbortController().signal);
    await bench.clock.advance(60 * minuteMs);

    expect([before, bench.poller.stalled()]).toEqual([undefined, undefined]);
  });
});

describe('an account that is stopped', () => {
  it('breaks its polls off at once, even if the discovery under way does not end', async () => {
    const bench = aBench();
    listed(bench, 2);
    bench.source.answer('2', new Promise(() => undefined));
    const abort = new AbortController();
    const done = bench.poller.run(abort.signal);
    await bench.clock.advance(59_000);
    const release = bench.source.holdDiscovery();
    await bench.clock.advance(2000);
    const before = bench.source.calls.length;

    abort.abort(new Error('stopped'));
    await bench.clock.advance(10 * minuteMs);
    const after = bench.source.calls.length;
    release();
    await done;

    expect(after).toBe(before);
    expect(bench.clock.pendingTimers()).toBe(0);
  });

  it('publishes nothing more of what a discovery had changed', async () => {
    const bench = aBench();
    const ids = Array.from({ length: 3000 }, (_, index) => `${index}`);
    const list = (name: string): void => {
      bench.source.list(...ids.map((id) => anApplication({ id, name, reporting: false })));
    };
    const abort = new AbortController();
    list('old');
    const done = bench.poller.run(abort.signal);
    await bench.clock.advance(30_000);
    list('new');
    const real = { ...bench.sink };
    Object.assign(bench.sink, {
      publish: (snapshot: AppSnapshot) => {
        if (snapshot.application.name === 'new') abort.abort(new Error('stopped'));
        real.publish(snapshot);
      },
    });

    await bench.clock.advance(60_000);
    await done;

    const renamed = [...bench.sink.apps.values()].filter(
      ({ application }) => application.name === 'new',
    );
    expect(renamed.length).toBeGreaterThan(0);
    expect(renamed.length).toBeLessThan(3000);
    expect(bench.clock.pendingTimers()).toBe(0);
  });
});

describe('limitChanged', () => {
  it('lets polls that waited for a small limit have their turn by the larger one', async () => {
    const discoveryIntervalMs = 60 * minuteMs;
    const bench = aBench([anEntry({ poll: { discoveryIntervalMs } })], { requestsPerMinute: 1 });
    listed(bench, 10);
    bench.start();
    await bench.clock.advance(30 * minuteMs);
    const before = bench.source.calls.length;
    bench.limit.perMinute = 800;

    bench.poller.limitChanged();
    const { pollIntervalSeconds } = bench.poller.status();
    await bench.clock.advance(minuteMs);
    const after = bench.source.calls.length;

    expect(pollIntervalSeconds).toBe(60);
    expect(before).toBeLessThan(40);
    expect(after - before).toBeGreaterThanOrEqual(10);
    expect(bench.poller.stalled()).toBeUndefined();
  });

  it('lets the next poll have its turn that a short fall of the limit had moved far away', async () => {
    const bench = aBench([anEntry({ poll: { discoveryIntervalMs: 60 * minuteMs } })]);
    listed(bench, 1);
    bench.source.list(anApplication({ id: '1', hostIds: many(bench, 100) }));
    bench.start();
    await bench.clock.advance(90_000);
    const polls = (): number => bench.source.calls.filter((call) => call === 'app 1').length;
    const before = polls();

    const stretches: number[] = [];
    for (const perMinute of [5, 800]) {
      bench.limit.perMinute = perMinute;
      bench.poller.limitChanged();
      stretches.push(Math.round(bench.poller.plan.stretch));
      await bench.clock.advance(minuteMs);
    }

    expect(stretches).toEqual([21, 1]);
    expect(polls() - before).toBeGreaterThanOrEqual(1);
  });

  it('makes the polls that wait keep the distance of a smaller limit', async () => {
    const bench = aBench([anEntry({ poll: { discoveryIntervalMs: 60 * minuteMs } })]);
    listed(bench, 100);
    bench.start();
    await bench.clock.advance(5 * minuteMs);
    bench.limit.perMinute = 10;

    bench.poller.limitChanged();
    const before = bench.source.calls.length;
    await bench.clock.advance(5 * minuteMs);

    expect(bench.poller.status().pollIntervalSeconds).toBeGreaterThan(600);
    const perMinute = (bench.source.calls.length - before) / 5;
    expect(perMinute).toBeGreaterThan(8);
    expect(perMinute).toBeLessThan(12);
  });

  it('starts nothing before the account was started', async () => {
    const bench = aBench();

    bench.poller.limitChanged();
    await bench.clock.advance(minuteMs);

    expect(bench.source.calls).toEqual([]);
    expect(bench.clock.pendingTimers()).toBe(0);
  });
});

describe('the demand', () => {
  it('is what is really sent where hosts come and go, within 5 %', async () => {
    const bench = aBench([anEntry({ poll: { hostNames: true } })]);
    let host = 0;
    const minute = async (): Promise<void> => {
      const applications = Array.from({ length: 50 }, (_, index) => {
        host += 1;
        bench.source.answer(`${index + 1}`, webOf(1));
        bench.source.answer(`${index + 1}/${host}`, webOf(1));
        bench.source.names(`${index + 1}`, new Map([[`${host}`, `ip-${host}`]]));
        return anApplication({ id: `${index + 1}`, name: `app ${index}`, hostIds: [`${host}`] });
      });
      bench.source.list(...applications);
      await bench.clock.advance(minuteMs);
    };
    await minute();
    bench.start();
    for (let passed = 0; passed < 12; passed += 1) await minute();
    const before = bench.source.calls.length;
    for (let passed = 0; passed < 10; passed += 1) await minute();

    const sentPerMinute = (bench.source.calls.length - before) / 10;
    const { demandRequestsPerMinute } = bench.poller.status();
    expect(sentPerMinute).toBeGreaterThan(145);
    expect(sentPerMinute / demandRequestsPerMinute).toBeGreaterThan(0.95);
    expect(sentPerMinute / demandRequestsPerMinute).toBeLessThan(1.05);
  });

  it('has no names in it that are asked for once, at the start', async () => {
    const bench = aBench([anEntry({ poll: { hostNames: true } })], { requestsPerMinute: 105 });
    const ids = Array.from({ length: 50 }, (_, index) => `${index + 1}`);
    bench.source.list(...ids.map((id) => anApplication({ id, hostIds: ['1'] })));
    for (const id of ids) {
      bench.source.names(id, new Map([['1', `ip-${id}`]]));
      for (const subject of [id, `${id}/1`]) bench.source.answer(subject, webOf(1));
    }
    bench.start();

    await bench.clock.advance(5 * minuteMs);

    expect(bench.source.calls.filter((call) => call.startsWith('names'))).toHaveLength(50);
    expect(bench.poller.status().demandRequestsPerMinute).toBe(101);
    expect(bench.poller.status().pollIntervalSeconds).toBe(60);
  });

  it('has the retries of the last ten minutes in it', async () => {
    const bench = aBench();
    listed(bench, 10);
    bench.start();
    const seen: number[] = [];

    for (const perMinute of [0, 30, 0]) {
      for (let passed = 0; passed < 12; passed += 1) {
        bench.retried.total += perMinute;
        await bench.clock.advance(minuteMs);
      }
      seen.push(bench.poller.status().demandRequestsPerMinute);
    }

    expect(seen[0]).toBe(11);
    expect(seen[1]).toBeGreaterThan(38);
    expect(seen[1]).toBeLessThan(45);
    expect(seen[2]).toBe(11);
  });
});

describe('an application of which not everything arrives', () => {
  const serverError = (): ApiError => new ApiError('server', 'no', { status: 503 });

  /** With hosts 10, 11, and so on, which all answer. */
  const aWideApplication = (hosts: number): { bench: PollerBench; hostIds: readonly string[] } => {
    const bench = aBench();
    const hostIds = Array.from({ length: hosts }, (_, index) => `${index + 10}`);
    bench.source.list(anApplication({ id: '1', hostIds }));
    for (const subject of ['1', ...hostIds.map((id) => `1/${id}`)]) {
      bench.source.answer(subject, webOf(1));
    }
    return { bench, hostIds };
  };

  it('shows at its first poll what arrived, when one of a hundred hosts failed', async () => {
    const { bench } = aWideApplication(100);
    bench.source.answer('1/10', serverError());
    bench.start();

    await bench.clock.advance(30_000);

    expect(bench.sink.apps.get('1')?.reading?.hosts.size).toBe(99);
    expect(bench.sink.apps.get('1')?.pollSucceeded).toBe(false);
  });

  it('shows its old values as long as four fifths of its hosts fail, until they are stale', async () => {
    const { bench, hostIds } = aWideApplication(200);
    bench.start();
    await bench.clock.advance(90_000);
    for (const [index, id] of hostIds.entries()) {
      if (index % 5 !== 0) bench.source.answer(`1/${id}`, serverError());
    }
    const shown = new Set<number | undefined>();

    for (let passed = 0; passed < 14; passed += 1) {
      await bench.clock.advance(minuteMs);
      shown.add(bench.sink.apps.get('1')?.reading?.hosts.size);
    }
    await bench.clock.advance(3 * minuteMs);

    expect([...shown]).toEqual([200]);
    expect(bench.sink.apps.get('1')?.reading).toBeUndefined();
  });
});

describe('applications that always answer 401 while the list works', () => {
  it('make discoveries no more frequent than configured', async () => {
    const bench = aBench();
    listed(bench, 60);
    for (let id = 10; id <= 60; id += 10) {
      bench.source.answer(`${id}`, new ApiError('auth', 'no', { status: 401 }));
    }
    bench.start();
    const lists = (): number => bench.source.calls.filter((call) => call === 'list').length;
    await bench.clock.advance(10 * minuteMs);
    const before = lists();

    await bench.clock.advance(10 * minuteMs);

    expect(before).toBeLessThanOrEqual(12);
    expect(lists() - before).toBe(10);
  });
});
