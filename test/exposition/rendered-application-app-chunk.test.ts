import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AppSnapshot } from '../../src/model/snapshot.ts';
import { anApplication } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aChunkOf } from './builders.ts';

const names = ['a', 'b', 'a\u0000', 'a\uFFFD'] as const;

const anySnapshot: fc.Arbitrary<AppSnapshot> = fc.record({
  account: fc.constantFrom('production', 'test'),
  application: fc
    .record({
      name: fc.constantFrom(...names),
      healthStatus: fc.constantFrom('green', 'odd', undefined),
      hostIds: fc.constantFrom(['1', '2'], undefined),
    })
    .map((one) => anApplication(one)),
  hostsOnly: fc.boolean(),
  labels: fc.constantFrom({}, { team: 'payments' }),
  hostNames: fc.constantFrom(
    new Map(),
    new Map([
      ['1', 'one'],
      ['2', 'one\u0000'],
    ]),
  ),
  reading: fc.option(
    fc.record({
      windowEndMs: fc.constantFrom(undefined, 60_000),
      application: fc.constantFrom(webOf(1), webOf(2), new Map()),
      hosts: fc.constantFrom(
        new Map(),
        new Map([['1', webOf(1)]]),
        new Map([
          ['1', webOf(1)],
          ['2', webOf(3)],
          ['x\u0000', webOf(3)],
          ['x\uFFFD', webOf(3)],
        ]),
      ),
    }),
    { nil: undefined },
  ),
  pollSucceeded: fc.constantFrom(undefined, true, false),
  lastSuccessMs: fc.constantFrom(undefined, 1000, 2000),
});

describe('renderApp', () => {
  it('renders the same with what was rendered before as without', () => {
    const parts = fc.uniqueArray(
      fc.constantFrom<keyof AppSnapshot>(
        'account',
        'application',
        'labels',
        'hostNames',
        'reading',
        'pollSucceeded',
        'lastSuccessMs',
      ),
    );
    fc.assert(
      fc.property(anySnapshot, anySnapshot, parts, (before, other, kept) => {
        const same = Object.fromEntries(kept.map((part) => [part, before[part]]));
        const snapshot = { ...other, ...same };

        const previous = { snapshot: before, chunk: aChunkOf(before) };

        expect(aChunkOf(snapshot, previous)).toEqual(aChunkOf(snapshot));
      }),
      { numRuns: 300 },
    );
  });

  it('shows nothing but hosts where the application itself is not wanted', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const all = aChunkOf({ ...snapshot, hostsOnly: false })
          .bytes.toString()
          .split('\n');
        const hosts = all.filter((line) =>
          line.startsWith('newrelic_application_host_requests_per_minute{'),
        );

        const chunk = aChunkOf({ ...snapshot, hostsOnly: true });

        expect(
          chunk.bytes
            .toString()
            .split('\n')
            .filter((line) => line !== ''),
        ).toEqual(hosts);
        expect(chunk.series).toBe(hosts.length);
      }),
    );
  });

  it('does not look at hosts again when only what the list says has changed', () => {
    let looks = 0;
    const hosts = new Map([['1', webOf(1)]]);
    const counting = new Proxy(hosts, {
      get: (target, property): unknown => {
        if (property === Symbol.iterator) looks += 1;
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const before: AppSnapshot = {
      account: 'production',
      application: anApplication(),
      hostsOnly: false,
      labels: {},
      hostNames: new Map(),
      reading: { windowEndMs: 1, application: webOf(1), hosts: counting },
      pollSucceeded: true,
      lastSuccessMs: 1,
    };
    const chunk = aChunkOf(before);
    const looksOfFirst = looks;

    const next = { ...before, application: anApplication({ healthStatus: 'red' }) };
    const after = aChunkOf(next, { snapshot: before, chunk });

    expect(looksOfFirst).toBe(1);
    expect(looks).toBe(1);
    expect(after.bytes.toString()).toContain('status="red"} 1');
    expect(after.bytes.toString()).toContain('host_id="1"');
  });
});
