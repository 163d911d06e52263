import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isWorthPolling,
  type SelectedApplication,
} from '../../../src/model/selected-application.ts';
import { applicationMetrics } from '../../../src/model/snapshot.ts';
import { nerdGraphCosts } from '../../../src/newrelic/nerdgraph/nerdgraph-source.ts';
import { anEntry, aQuery, aSelected } from '../../support/builders.ts';
import { neverAborted } from '../calls/fakes.ts';
import {
  aNerdGraphSource,
  aSimulatedSource,
  costOf,
  discovered,
  polled,
  transportTo,
} from './a-nerdgraph-source.ts';
import { anError, failedNrql } from './answers.ts';
import { hostsNamed, someFleet } from './some-fleet.ts';

async function nobody(): Promise<never> {
  throw new Error('nobody should be asked');
}

function apps(count: number, hosts: number): readonly SelectedApplication[] {
  return Array.from({ length: count }, (_, index) =>
    aSelected({ id: `${index + 1}`, hostIds: hostsNamed(hosts, `app${index}`) }),
  );
}

describe('the costs of polls', () => {
  it.each([
    { applications: 0, hosts: 0, application: 0, host: 0 },
    { applications: 25, hosts: 20, application: 1, host: 1 },
    { applications: 200, hosts: 0, application: 1, host: 1 },
    { applications: 100, hosts: 25, application: 1, host: 1 },
    { applications: 500, hosts: 20, application: 3, host: 5 },
    { applications: 5000, hosts: 2, application: 25, host: 25 },
    { applications: 1, hosts: 12_000, application: 1, host: 6 },
  ])(
    'of $applications applications with $hosts hosts each are $application and $host queries',
    ({ applications, hosts, application, host }) => {
      const subjects = apps(applications, hosts).map((selected) => {
        return { kind: 'application' as const, selected };
      });
      expect(nerdGraphCosts.cost([...subjects, { kind: 'query', query: aQuery }])).toEqual({
        list_applications: 0,
        list_hosts: 0,
        application_metrics: application,
        host_metrics: host,
        query: 1,
      });
    },
  );

  it('are the queries that polls make, whatever is asked for', async () => {
    await fc.assert(
      fc.asyncProperty(someFleet, async (fleet) => {
        // What fails divides the next queries.
        const bench = aNerdGraphSource(nobody);
        const due = fleet.filter(isWorthPolling);
        const cost = costOf(bench.source, fleet);

        expect(await polled(bench, due)).toMatchObject({ calls: cost });
      }),
      { numRuns: 50 },
    );
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

const none = [undefined, undefined];

describe('a source of a simulated account', () => {
  it('brings the throughput of applications and hosts', async () => {
    const bench = aSimulatedSource({ fleet });
    const { outcomes, calls } = await polled(bench, await discovered(bench, anEntry()));

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
    expect(calls).toBe(2);
    expect(bench.unexpected).toEqual([]);
  });

  it.each([
    { what: 'that was seen before', forgets: false, is: [0, undefined] },
    { what: 'of an application that was gone for a while', forgets: true, is: none },
  ])('says 0 only of a metric $what', async ({ forgets, is }) => {
    const bench = aSimulatedSource({ fleet });
    const found = await discovered(bench, anEntry());
    await polled(bench, found);
    if (forgets)
      await bench.source.discover({ selectors: [{ kind: 'id', id: '101' }] }, [], neverAborted);
    bench.simulator.fleet.setTraffic(102, { webRpm: 0 });
    await bench.clock.advance(600_000);
    const { outcomes } = await polled(bench, found);

    expect(outcomes.get('102')?.reading?.application).toEqual(is);
    expect(outcomes.get('102')?.reading?.hosts).toEqual(new Map([['cart-1', is]]));
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

  it('tells of windows that New Relic has moved, and divides by their length', async () => {
    const bench = aSimulatedSource({ fleet, graphql: { snapMs: 120_000 } });
    const { outcomes } = await polled(bench, await discovered(bench, anEntry()));

    expect(applicationMetrics(outcomes.get('101')?.reading).get('web')).toBe(120);
    expect(bench.unexpected).toEqual(['window', 'window']);
  });
});

describe('a source of which one application fails every query', () => {
  it('brings all others after a few polls, and tells at once what polls cost then', async () => {
    const { simulator } = aSimulatedSource({
      fleet: {
        traffic: 'flat',
        applications: Array.from({ length: 10 }, (_, index) => ({
          id: 101 + index,
          kind: 'web' as const,
          webRpm: 60,
          hosts: 1,
        })),
      },
    });
    const send = transportTo(simulator);
    const bench = aNerdGraphSource(async (request, signal) =>
      /appId IN \([^)]*107/u.test(request.body ?? '')
        ? { ...failedNrql(anError('INTERNAL_SERVER_ERROR')), status: 500 }
        : send(request, signal),
    );
    const { source } = bench;
    const found = await discovered(bench, anEntry());
    const told: (readonly [isOther: boolean, calls: number])[] = [];
    const bad: number[] = [];
    const calls: number[] = [];
    for (let poll = 0; poll < 4; poll += 1) {
      const before = source.costChanges();
      const { outcomes, calls: made } = await polled(bench, found);
      bad.push([...outcomes.values()].filter(({ failed }) => failed.size > 0).length);
      calls.push(made);
      told.push([source.costChanges() > before, costOf(source, found)]);
    }

    expect(bad).toEqual([10, 3, 1, 1]);
    expect(calls).toEqual([2, 8, 10, 8]);
    expect(told).toEqual([
      [true, 8],
      [true, 10],
      [true, 8],
      [false, 8],
    ]);
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
    const { applications, error } = await source.discover(
      { selectors: [anEntry().selector] },
      [],
      neverAborted,
    );

    expect(applications).toEqual([]);
    expect(error).toMatchObject({ status, reason: 'auth' });
  });
});
