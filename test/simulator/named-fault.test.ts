import { describe, expect, it } from 'vitest';
import { createMatcher } from '../../src/simulator/fault-rule.ts';
import { Fleet } from '../../src/simulator/fleet.ts';
import type { JournalEntry } from '../../src/simulator/journal.ts';
import { FaultError, faultScript, type NamedFault } from '../../src/simulator/named-fault.ts';
import { createFakeClock } from '../support/fake-clock.ts';

function aFleet(): Fleet {
  const applications = [
    { id: 1, name: 'Search', hosts: [] },
    { id: 2, name: 'Checkout (production)', hosts: [{ id: 21, name: 'a' }, { id: 22 }] },
    { id: 3, name: 'Checkout (staging)', hosts: [{ id: 31, name: 'b' }] },
  ];
  return new Fleet({ applications }, createFakeClock());
}

function aRequest(path: string, monotonicMs = 0): JournalEntry {
  const [, , , applicationId, , hostId] = path.split('/');
  return {
    monotonicMs,
    wallMs: 0,
    method: 'GET',
    path,
    query: '',
    applicationId,
    hostId: path.includes('/hosts/') ? hostId : undefined,
    remotePort: 1,
    keyIndex: 0,
    inFlight: 1,
    status: undefined,
  };
}

const paths = [
  '/v2/applications.json',
  '/v2/applications/2/metrics/data.json',
  '/v2/applications/2/hosts/21/metrics/data.json',
  '/v2/applications/2/hosts/22/metrics/data.json',
  '/v2/applications/2/hosts.json',
  '/v2/applications/3/metrics/data.json',
  '/v2/applications/3/hosts/31/metrics/data.json',
  '/graphql',
];

/** The paths that a fault concerns, and what it does to them. */
function effectOf(fault: NamedFault, monotonicMs = 0): unknown {
  const { rules } = faultScript([fault], aFleet());
  return rules.flatMap(({ when = {}, fault: effect }) => {
    const isMeant = createMatcher(when, 0);
    const meant = paths.filter((path) => isMeant(aRequest(path, monotonicMs), null));
    return [{ ...effect, meant: meant.map((path) => paths.indexOf(path)) }];
  });
}

describe('a fault by its name', () => {
  it.each<{ fault: NamedFault; effect: unknown }>([
    {
      fault: { name: 'fail-app', application: 'checkout' },
      effect: [{ kind: 'status', status: 500, meant: [1, 2, 3] }],
    },
    {
      fault: { name: 'hang-app', application: '3' },
      effect: [{ kind: 'silence', meant: [5, 6] }],
    },
    {
      fault: { name: 'missing-host', application: undefined },
      effect: [{ kind: 'status', status: 404, meant: [2] }],
    },
    {
      fault: { name: 'first-metric', application: undefined },
      effect: [{ kind: 'first_metric_only', others: 'without_values', meant: [1, 2, 3, 5, 6] }],
    },
    {
      fault: { name: 'lost-metrics', application: 'staging' },
      effect: [{ kind: 'first_metric_only', others: 'missing', meant: [5, 6] }],
    },
    {
      fault: { name: 'html-502', everyCalls: 3 },
      effect: [
        { kind: 'status', status: 502, body: expect.stringMatching(/^<html>/u), meant: [0, 3, 6] },
      ],
    },
    {
      fault: { name: 'reset', everyCalls: 1 },
      effect: [{ kind: 'reset', meant: [0, 1, 2, 3, 4, 5, 6, 7] }],
    },
  ])('concerns what it says: $fault', ({ fault, effect }) => {
    expect(effectOf(fault)).toEqual(effect);
  });

  it('throttles for 20 s in every period, from 30 s on', () => {
    const isThrottled = (atMs: number): boolean =>
      JSON.stringify(effectOf({ name: '429-every', everyMs: 300_000 }, atMs)).includes('[0,1,');

    expect([29_999, 30_000, 49_999, 50_000, 330_000].map(isThrottled)).toEqual([
      false,
      true,
      true,
      false,
      true,
    ]);
  });
});

describe('a script of faults', () => {
  it('says what each of them does, and which entries match nothing', () => {
    const { sentences, missingNames } = faultScript(
      [
        { name: 'fail-app', application: 'production' },
        { name: 'hang-app', application: 'Search' },
        { name: 'missing-app', application: 'Cart' },
        { name: 'missing-host', application: 'staging' },
        { name: 'first-metric', application: undefined },
        { name: 'lost-metrics', application: 'staging' },
        { name: '429-every', everyMs: 300_000 },
        { name: 'slow', latencyMs: 1500 },
        { name: 'html-502', everyCalls: 1 },
        { name: 'reset', everyCalls: 4 },
        { name: 'wrong-key', afterMs: 0 },
        { name: 'wrong-key', afterMs: 120_000 },
      ],
      aFleet(),
    );

    expect(missingNames).toEqual(['Cart']);
    expect(sentences).toEqual([
      'REST calls for the values of "Checkout (production)" (id 2) and its hosts get status 500',
      'REST calls for the values of "Search" (id 1) and its hosts are never answered',
      'the configuration has an entry "Cart", which matches nothing',
      'the host b of "Checkout (staging)" is listed, but REST calls for its values get status 404',
      'REST calls for metrics of any application that do not share all values get those of the first one; the others have none',
      'REST calls for metrics of "Checkout (staging)" (id 3) and its hosts that do not share all values get those of the first one; the others are missing',
      'after 30 s, and then every 5 min, all calls of 20 s get status 429',
      'every answer takes 1.5 s',
      'every call gets status 502 and a page of HTML, as from a gateway',
      'one call of 4 ends with a reset connection',
      'the key is refused with status 401',
      'after 2 min the key is refused with status 401, as if it had been deleted',
    ]);
  });

  it('is refused where the account does not fit', () => {
    const fault: NamedFault = { name: 'missing-host', application: 'Search' };

    expect(() => faultScript([fault], aFleet())).toThrow(
      new FaultError('the simulated account has no host that could be missing', 'Search'),
    );
  });
});
