import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostFacets, metricsNrql } from '../../../src/newrelic/nerdgraph/nrql.ts';
import { allHosts, type HostSubset, halvesOf } from '../../../src/newrelic/nerdgraph/query-plan.ts';
import { parseNrql } from '../../../src/simulator/nrql-parser.ts';

/** Whether another reader of NRQL takes the host for one of the part. */
function evaluator({ condition }: HostSubset): (name: string) => boolean {
  const { where } = parseNrql(
    metricsNrql({
      applicationIds: ['1'],
      window: { fromMs: 1_760_000_400_000, toMs: 1_760_000_460_000 },
      facets: hostFacets,
      columns: [],
      condition,
    }),
  );
  const metricTimesliceName = 'Agent/MetricsReported/count';
  return (host) => {
    const attributes = new Map(Object.entries({ appId: '1', metricTimesliceName, host }));
    return where?.verdict({ attribute: (name) => attributes.get(name) ?? null }) === true;
  };
}

/** Names as machines, pods, domains and addresses have them, and any others without line breaks. */
const hostName = fc.oneof(
  fc.nat(20_000).map((number) => `web-${number}`),
  fc.nat(20_000).map((number) => `web-${number}.prod.example.com`),
  fc.tuple(fc.nat(255), fc.nat(255)).map(([high, low]) => `10.0.${high}.${low}`),
  fc.stringMatching(/^shop-[a-z0-9]{10}-[a-z0-9]{5}$/u),
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('ü', '検', "'", '\\', '.', '-', 'a', '0'), minLength: 1 }),
);
const hostNames = fc.uniqueArray(hostName, { maxLength: 60 });

/** Parts by known names, or blindly. */
const someParts = fc.oneof(
  fc
    .tuple(hostNames, fc.integer({ min: 1, max: 10 }))
    .map(([known, most]) => ({ known, parts: halvesOf(known, known.length / most) })),
  fc
    .tuple(hostNames, fc.constantFrom(1, 2, 4, 16, 64))
    .map(([known, count]) => ({ known, parts: halvesOf([], count) })),
);

describe('the parts of hosts', () => {
  it('have nothing in common, and every host is in one, new ones too', () => {
    fc.assert(
      fc.property(someParts, hostNames, ({ known, parts }, others) => {
        for (const name of [...known, ...others]) {
          expect(parts.filter((part) => part.asksFor(name))).toHaveLength(1);
        }
      }),
    );
  });

  it('mean the same to New Relic as to the exporter', () => {
    fc.assert(
      fc.property(someParts, hostNames, ({ known, parts }, others) => {
        for (const part of parts.slice(0, 8)) {
          const isMeant = evaluator(part);
          for (const name of [...known, ...others]) expect(isMeant(name)).toBe(part.asksFor(name));
        }
      }),
    );
  });

  const numbered = (nameOf: (number: number) => string): readonly string[] =>
    Array.from({ length: 12_000 }, (_, index) => nameOf(index));
  const sizesOf = (parts: readonly HostSubset[], names: readonly string[]): readonly number[] =>
    parts.map((part) => names.filter((name) => part.asksFor(name)).length);

  it.each([
    ['numbers', numbered((number) => `web-${number}`)],
    ['hosts of a domain', numbered((number) => `web-${number}.example.com`)],
    ['addresses', numbered((number) => `10.0.${number >> 8}.${number & 255}`)],
  ])('are few of 12,000 hosts that are called by %s, or 64 that fit', (_, names) => {
    const parts = halvesOf(names, 9);

    expect(Math.max(...sizesOf(parts, names))).toBeLessThanOrEqual(12_000 / 9);
    expect(parts.length).toBeLessThan(24);
    expect(Math.max(...sizesOf(halvesOf([], 64), names))).toBeLessThan(5000);
  });

  it.each([
    ['all, if that is few enough', ['a', 'b'], 1, [['a', 'b']]],
    ['all, if there are none', [], 0, [[]]],
    [
      'by the first condition that divides them',
      ['10.0.0.1', '10.0.0.2'],
      2,
      [['10.0.0.2'], ['10.0.0.1']],
    ],
    ['one of those that are all alike', ['.', '-'], 2, [['.', '-']]],
  ])('are %s', (_, names, count, is) => {
    const parts = halvesOf(names, count);

    expect(parts.map((part) => names.filter((name) => part.asksFor(name)))).toEqual(is);
  });

  it.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [64, 64],
  ])('of hosts that nobody has named are as many as wanted, or a few more: %d, %d', (...row) => {
    const [count, parts] = row;

    expect(halvesOf([], count)).toHaveLength(parts);
  });

  it('are asked for without a condition if it is one', () => {
    expect([halvesOf(['a', 'b'], 1), halvesOf([], 1)]).toEqual([[allHosts], [allHosts]]);
  });
});
