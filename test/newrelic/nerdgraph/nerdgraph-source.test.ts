import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isWorthPolling,
  type SelectedApplication,
} from '../../../src/model/selected-application.ts';
import { throughputIn } from '../../../src/model/snapshot.ts';
import { unexpectedAnswers } from '../../../src/model/telemetry.ts';
import { minuteMs } from '../../../src/model/time.ts';
import { createUnexpectedAnswers } from '../../../src/newrelic/answer.ts';
import { nerdGraphCosts } from '../../../src/newrelic/nerdgraph/nerdgraph-source.ts';
import { createFaults } from '../../../src/simulator/faults.ts';
import { anEntry, aQuery, aSelected } from '../../support/builders.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createFakeLogger } from '../../support/fake-logger.ts';
import { neverAborted } from '../calls/fakes.ts';
import {
  aNerdGraphSource,
  aSimulatedSource,
  costOf,
  discovered,
  polled,
  type SimulatedSource,
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
    [0, 0, 0, 0],
    [25, 20, 1, 1],
    [200, 0, 1, 1],
    [201, 0, 2, 2],
    [100, 25, 1, 1],
    [40, 250, 1, 4],
    [41, 250, 2, 5],
    [500, 20, 3, 5],
    [5000, 2, 25, 25],
    [1, 12_000, 1, 6],
  ])('of %d applications with %d hosts each are %d and %d queries', (...row) => {
    const [applications, hosts, ofApplications, ofHosts] = row;
    const subjects = apps(applications, hosts).map((selected) => {
      return { kind: 'application' as const, selected };
    });

    expect(nerdGraphCosts.cost([...subjects, { kind: 'query', query: aQuery }])).toEqual({
      list_applications: 0,
      list_hosts: 0,
      application_metrics: ofApplications,
      host_metrics: ofHosts,
      query: 1,
    });
  });

  it('are the queries that polls make, whatever is asked for', async () => {
    await fc.assert(
      fc.asyncProperty(someFleet, async (fleet) => {
        // What fails divides the next queries.
        const bench = aNerdGraphSource(nobody);
        const cost = costOf(bench.source, fleet);

        expect(await polled(bench, fleet.filter(isWorthPolling))).toMatchObject({ calls: cost });
      }),
      { numRuns: 50 },
    );
  });
});

const shop = { id: 101, name: 'shop', kind: 'both', webRpm: 120, otherRpm: 30 } as const;
const cart = {
  id: 102,
  name: 'cart',
  kind: 'web',
  webRpm: 60,
  hosts: [{ name: 'cart-1' }],
} as const;
const applications = [{ ...shop, hosts: [{ name: 'web-1' }, { name: 'web-2' }] }, cart];
const fleet = { traffic: 'flat', applications: [...applications, { ...cart, id: 103 }] } as const;
const none = [undefined, undefined];
const toMs = Date.UTC(2026, 8, 1, 9, 57);

/** Queries take too long in the second minute. */
function slowForAMinute(): SimulatedSource {
  const clock = createFakeClock();
  const when = { operation: 'nrql', fromMs: minuteMs, untilMs: 2 * minuteMs } as const;
  const fault = { kind: 'graphql_error', errorClass: 'TIMEOUT', message: 'it is slow' } as const;
  const { intercept } = createFaults([{ when, fault }], { clock });
  return aSimulatedSource({ fleet, intercept }, clock);
}

type Meanwhile = typeof polled | typeof onlyShopIsThere;

const onlyShopIsThere = async ({ source }: Pick<SimulatedSource, 'source'>): Promise<unknown> =>
  source.discover({ selectors: [{ kind: 'id', id: '101' }] }, [], neverAborted);

describe('a source of a simulated account', () => {
  it('brings the throughput of applications and hosts, of one window', async () => {
    const bench = aSimulatedSource({ fleet });
    const { outcomes, calls } = await polled(bench, await discovered(bench, anEntry()));
    const ofHost = [60, 15];

    expect(outcomes.get('101')?.reading).toEqual({
      windowEndMs: toMs,
      series: anEntry().series,
      application: [120, 30],
      hosts: new Map([
        ['web-1', ofHost],
        ['web-2', ofHost],
      ]),
    });
    expect(outcomes.get('102')?.reading?.application).toEqual([60, undefined]);
    expect([calls, bench.unexpected]).toEqual([2, []]);
  });

  it.each<[string, Meanwhile, readonly unknown[]]>([
    ['that was seen before', async () => undefined, [0, undefined]],
    ['that was seen before all queries failed', polled, [0, undefined]],
    ['of an application that was gone for a while', onlyShopIsThere, none],
  ])('says 0 only of a metric %s', async (_, meanwhile, is) => {
    const bench = slowForAMinute();
    const found = await discovered(bench, anEntry());
    await polled(bench, found);
    await bench.clock.advance(minuteMs);
    await meanwhile(bench, found);
    bench.simulator.fleet.setTraffic(102, { webRpm: 0 });
    await bench.clock.advance(9 * minuteMs);
    const { outcomes } = await polled(bench, found);

    const hosts = new Map([['cart-1', is]]);
    expect(outcomes.get('102')?.reading).toMatchObject({ application: is, hosts });
  });

  it('tells of windows that New Relic has moved, and divides by their length', async () => {
    const bench = aSimulatedSource({ fleet, graphql: { snapMs: 120_000 } });
    const { outcomes } = await polled(bench, await discovered(bench, anEntry()));

    expect(throughputIn(outcomes.get('101')?.reading).get('web')).toBe(120);
    expect(bench.unexpected).toEqual(['window', 'window']);
  });
});

describe('a source of which one application fails every query', () => {
  it('brings all others after a few polls, and tells when nothing more is to be found out', async () => {
    const many = Array.from({ length: 10 }, (_, at) => ({ ...cart, id: 101 + at, hosts: 1 }));
    const { simulator } = aSimulatedSource({ fleet: { traffic: 'flat', applications: many } });
    const send = transportTo(simulator);
    const bench = aNerdGraphSource(async (request, signal) =>
      /appId IN \([^)]*107/u.test(request.body ?? '')
        ? { ...failedNrql(anError('INTERNAL_SERVER_ERROR')), status: 500 }
        : send(request, signal),
    );
    const found = await discovered(bench, anEntry());
    const seen: unknown[] = [];
    for (let poll = 0; poll < 5; poll += 1) {
      const before = bench.source.costChanges();
      const { outcomes, calls } = await polled(bench, found);
      const bad = [...outcomes.values()].filter(({ failed }) => failed.size > 0).length;
      seen.push([bad, calls, bench.source.costChanges() > before]);
    }

    expect(costOf(bench.source, found)).toBe(2);
    expect(seen).toEqual([
      [10, 2, true],
      [1, 8, true],
      [1, 6, false],
      [1, 4, false],
      [1, 4, false],
    ]);
  });
});

describe('a source without rights', () => {
  const wrongKey = { apiKeys: ['NRAK-OTHER'] };
  it.each([
    ['a wrong key', wrongKey, 401],
    ['a wrong key, told under 200', { ...wrongKey, graphql: { badKey: 'in_errors' } }, 401],
    ['another account', { graphql: { accountId: 1 } }, 403],
  ] as const)('finds nothing with %s', async (_, options, status) => {
    const { source } = aSimulatedSource({ fleet, ...options });
    const found = await source.discover({ selectors: [anEntry().selector] }, [], neverAborted);

    expect(found).toMatchObject({ applications: [], error: { status, reason: 'auth' } });
  });
});

describe('unexpected answers', () => {
  it('have a counter of each kind from the start', () => {
    const counted: string[] = [];
    const unexpected = (kind: string, count: number): void => void counted.push(`${kind} ${count}`);
    createUnexpectedAnswers('main', { observer: { unexpected }, logger: createFakeLogger() });

    expect(counted).toEqual(unexpectedAnswers.map((kind) => `${kind} 0`));
  });
});
