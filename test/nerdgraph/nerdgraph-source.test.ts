import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { presetNames } from '../../src/model/presets.ts';
import { isWorthPolling, type SelectedApplication } from '../../src/model/selected-application.ts';
import { applicationMetrics } from '../../src/model/snapshot.ts';
import { createNerdGraphCosts, nerdGraphCosts } from '../../src/nerdgraph/nerdgraph-source.ts';
import { fullSize } from '../../src/nerdgraph/query-sizes.ts';
import { anEntry, aSelected } from '../support/builders.ts';
import { cpuMsOf } from '../support/cpu-time.ts';
import { neverAborted } from '../transport/fakes.ts';
import {
  aNerdGraphSource,
  aSimulatedSource,
  costOf,
  discovered,
  polled,
  transportTo,
} from './a-nerdgraph-source.ts';
import { aQuestion, hostsNamed, someFleet } from './some-fleet.ts';

async function nobody(): Promise<never> {
  throw new Error('nobody should be asked');
}

function apps(count: number, hosts: number): readonly SelectedApplication[] {
  return Array.from({ length: count }, (_, index) =>
    aSelected({ id: `${index + 1}`, hostIds: hostsNamed(hosts, `app${index}`) }),
  );
}

/** With queries of this size at most. */
const costs = createNerdGraphCosts(() => ({ applications: 200, rows: 4000 }));

describe('the costs of polls', () => {
  it('are those of queries of full size before an account is known', () => {
    const some = apps(300, 50);

    expect(nerdGraphCosts.polls(some)).toEqual(createNerdGraphCosts(() => fullSize).polls(some));
  });

  it.each([
    { applications: 0, hosts: 0, application: 0, host: 0 },
    { applications: 25, hosts: 20, application: 1, host: 1 },
    { applications: 200, hosts: 0, application: 1, host: 0 },
    { applications: 100, hosts: 20, application: 1, host: 1 },
    { applications: 500, hosts: 20, application: 3, host: 3 },
    { applications: 5000, hosts: 2, application: 25, host: 25 },
    { applications: 1, hosts: 12_000, application: 1, host: 4 },
  ])(
    'of $applications applications with $hosts hosts each are $application and $host queries',
    ({ applications, hosts, application, host }) => {
      expect(costs.polls(apps(applications, hosts))).toEqual({
        list_applications: 0,
        list_hosts: 0,
        application_metrics: application,
        host_metrics: host,
      });
    },
  );

  it.each([1, 20, 250, 1000])('of %d applications are the same with all presets', (count) => {
    const some = apps(count, 10);
    const all = some.map(({ application }) => ({
      application,
      entry: anEntry({ poll: { metrics: presetNames } }),
    }));

    expect(costs.polls(all)).toEqual(costs.polls(some));
    expect(costs.once(all)).toBe(costs.once(some));
  });

  it('are the calls of the first stages, without those that are made once', () => {
    const { source } = aNerdGraphSource(nobody);
    fc.assert(
      fc.property(someFleet, (fleet) => {
        const due = fleet.filter(isWorthPolling);
        const batches = source.batches(
          due.map((one) => aQuestion(one)),
          [],
        );
        const calls = batches.reduce((sum, batch) => sum + (batch.nextStage()?.size ?? 0), 0);

        expect(calls).toBe(costOf(source, fleet) + source.costs.once(due));
      }),
      { numRuns: 50 },
    );
  });

  it('follow the size that queries may have', () => {
    const small = createNerdGraphCosts(() => ({ applications: 50, rows: 500 }));

    expect(small.polls(apps(100, 20))).toMatchObject({
      application_metrics: 2,
      host_metrics: 4,
    });
    expect(small.once(apps(100, 20))).toBe(2);
  });

  it('are known at once for 10,000 applications, by name too', () => {
    const chosen = apps(10_000, 20).map(({ application }) => ({
      application,
      entry: anEntry({ hosts: { kind: 'match', pattern: /[02468]$/u } }),
    }));

    expect(cpuMsOf(() => costOf(aNerdGraphSource(nobody).source, apps(10_000, 20)))).toBeLessThan(
      1500,
    );
    expect(cpuMsOf(() => costOf(aNerdGraphSource(nobody).source, chosen))).toBeLessThan(3000);
  });
});

describe('the costs of a discovery', () => {
  it.each([
    { applications: 0, calls: 1 },
    { applications: 200, calls: 1 },
    { applications: 201, calls: 2 },
  ])('of $applications applications are $calls calls', ({ applications, calls }) => {
    expect(costs.discovery(apps(applications, 20))).toEqual({ calls });
  });
});

const fleet = {
  traffic: 'flat',
  applications: [
    {
      id: 101,
      name: 'shop',
      kind: 'both',
      webRpm: 120,
      otherRpm: 30,
      hosts: [{ name: 'web-1' }, { name: 'web-2' }],
    },
    { id: 102, name: 'cart', kind: 'web', webRpm: 60, hosts: [{ name: 'cart-1' }] },
  ],
} as const;

describe('a source of a simulated account', () => {
  it('brings the throughput of applications and hosts', async () => {
    const bench = aSimulatedSource({ fleet });
    const { outcomes, stages } = await polled(bench, await discovered(bench, anEntry()));

    expect(outcomes.get('101')?.reading).toEqual({
      windowEndMs: Date.UTC(2026, 8, 1, 9, 57),
      series: anEntry().series,
      application: [120, 30],
      hosts: new Map([
        ['web-1', [60, 15]],
        ['web-2', [60, 15]],
      ]),
    });
    expect(outcomes.get('102')?.reading?.application).toEqual([60, undefined]);
    expect(stages).toEqual([3]);
    expect(bench.unexpected).toEqual([]);
  });

  it('asks once which metrics an application has, and counts that as extra', async () => {
    const bench = aSimulatedSource({ fleet });
    const applications = await discovered(bench, anEntry());

    const first = await polled(bench, applications);
    const second = await polled(bench, applications);

    const extra = [first, second].map(({ outcomes }) =>
      [...outcomes.values()].map(({ extraCalls }) => extraCalls),
    );
    expect(extra).toEqual([
      [1, 0],
      [0, 0],
    ]);
    expect([first.stages, second.stages]).toEqual([[3], [2]]);
    expect(costOf(bench.source, applications)).toBe(2);
  });

  it.each([
    { what: 'had such transactions today', webRpm: 0.01, is: [0, undefined] },
    { what: 'had none', webRpm: 0, is: [undefined, undefined] },
  ])('says 0 of a host that is idle now if its application $what', async ({ webRpm, is }) => {
    const idle = {
      id: 101,
      name: 'shop',
      kind: 'web',
      webRpm,
      hosts: [{ name: 'web-1' }],
    } as const;
    const bench = aSimulatedSource({ fleet: { traffic: 'flat', applications: [idle] } });
    const { outcomes } = await polled(bench, await discovered(bench, anEntry()));

    expect(outcomes.get('101')?.reading?.application).toEqual(is);
    expect(outcomes.get('101')?.reading?.hosts).toEqual(new Map([['web-1', is]]));
  });

  it('asks again for an application that was gone and is back', async () => {
    const bench = aSimulatedSource({ fleet });
    const applications = await discovered(bench, anEntry());
    await polled(bench, applications);
    bench.simulator.fleet.removeApplication(102);
    await discovered(bench, anEntry());

    expect((await polled(bench, applications)).stages).toEqual([3]);
  });

  it('does not forget the metrics of an application that cannot be read for once', async () => {
    let isBroken = false;
    const bench = aSimulatedSource({
      fleet,
      intercept: ({ graphql }) => {
        if (!isBroken || graphql?.asks[0]?.operation !== 'entity_search') return 'pass';
        return (answer) => ({
          ...answer,
          body: answer.body.replace('"name":"cart"', '"name":null'),
        });
      },
    });
    const applications = await discovered(bench, anEntry());
    await polled(bench, applications);
    isBroken = true;
    const { unreadableIds, complete } = await bench.source.discover(
      [anEntry().selector],
      ['101', '102'],
      neverAborted,
    );

    expect({ unreadableIds, complete }).toEqual({ unreadableIds: ['102'], complete: true });
    expect((await polled(bench, applications)).stages).toEqual([2]);
  });

  it('knows the names of the hosts that it has listed', async () => {
    const { source } = aSimulatedSource({ fleet });
    await source.discover([anEntry().selector], [], neverAborted);

    expect(await source.hostNames('101', neverAborted)).toEqual({
      names: new Map([
        ['web-1', 'web-1'],
        ['web-2', 'web-2'],
      ]),
      error: undefined,
      calls: 0,
    });
    expect((await source.hostNames('999', neverAborted)).names.size).toBe(0);
  });

  it('asks at once for a new host that an entry chooses', async () => {
    const bench = aSimulatedSource({ fleet });
    const entry = anEntry({ hosts: { kind: 'match', pattern: /^web-2/u } });
    const shop = (await discovered(bench, entry)).find(
      ({ application }) => application.id === '101',
    );
    // The poller has not been told the name yet.
    const { outcomes } = await polled(bench, shop ? [{ ...shop, namedHostIds: [] }] : [], {
      askHostNames: true,
    });

    expect([...(outcomes.get('101')?.reading?.hosts.keys() ?? [])]).toEqual(['web-2']);
    expect([...(outcomes.get('101')?.hostNames?.keys() ?? [])]).toEqual(['web-1', 'web-2']);
  });

  it('fills up a batch with applications that are due soon', async () => {
    const bench = aSimulatedSource({ fleet });
    const [cart, shop] = await discovered(bench, anEntry());
    const questions = [cart, shop].flatMap((one) => (one ? [aQuestion(one)] : []));
    const batches = bench.source.batches(questions.slice(0, 1), questions.slice(1));

    expect(batches.map((batch) => batch.questions)).toEqual([questions]);
    expect(bench.source.batches([], questions)).toEqual([]);
  });

  it('cuts its windows by the time that it is told, in a batch the same for all', async () => {
    const bench = aSimulatedSource({ fleet });
    await polled(bench, await discovered(bench, anEntry()));
    const windows = bench.requests
      .filter(
        ({ operation }) => operation === 'host_metrics' || operation === 'application_metrics',
      )
      .map(({ body }) =>
        /SINCE (\d+) UNTIL (\d+)/u
          .exec(body ?? '')
          ?.slice(1)
          .map(Number),
      );
    const toMs = Date.UTC(2026, 8, 1, 9, 57);

    expect(windows).toEqual([
      [toMs - 24 * 3_600_000, toMs],
      [toMs - 300_000, toMs],
      [toMs - 300_000, toMs],
    ]);
  });

  it('takes half an hour that ends before the delay for the window of New Relic', async () => {
    const bench = aSimulatedSource({ fleet });
    const entry = anEntry({ poll: { window: { kind: 'vendor_default' } } });
    const { outcomes } = await polled(bench, await discovered(bench, entry));

    expect(outcomes.get('101')?.reading?.windowEndMs).toBe(Date.UTC(2026, 8, 1, 9, 57));
    expect(bench.requests.at(-1)?.body).toContain(`SINCE ${Date.UTC(2026, 8, 1, 9, 27)}`);
  });

  it('understands numbers as texts, and ids as numbers', async () => {
    for (const appIds of ['string', 'number'] as const) {
      const bench = aSimulatedSource({ fleet, graphql: { appIds } });
      const { outcomes } = await polled(bench, await discovered(bench, anEntry()));

      expect(applicationMetrics(outcomes.get('101')?.reading).get('web')).toBe(120);
    }
  });

  it('tells of windows that New Relic has moved, and divides by their length', async () => {
    const bench = aSimulatedSource({ fleet, graphql: { snapMs: 120_000 } });
    const { outcomes } = await polled(bench, await discovered(bench, anEntry()));

    expect(applicationMetrics(outcomes.get('101')?.reading).get('web')).toBe(120);
    expect(bench.unexpected).toEqual(['window', 'window']);
  });
});

describe('a source without rights', () => {
  it.each([
    { what: 'a wrong key', options: { apiKeys: ['NRAK-OTHER'] }, status: 401 },
    {
      what: 'a wrong key, told under 200',
      options: { apiKeys: ['NRAK-OTHER'], graphql: { badKey: 'in_errors' } },
      status: 401,
    },
    { what: 'another account', options: { graphql: { accountId: 1 } }, status: 403 },
  ] as const)('finds nothing with $what', async ({ options, status }) => {
    const { simulator } = aSimulatedSource({ fleet, ...options });
    const { source } = aNerdGraphSource(transportTo(simulator));
    const { applications, error } = await source.discover([anEntry().selector], [], neverAborted);

    expect(applications).toEqual([]);
    expect(error).toMatchObject({ status, reason: 'auth' });
  });
});
