import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostFacets, metricsNrql } from '../../../src/newrelic/nerdgraph/nrql.ts';
import { allHosts, type HostSubset, partsOf } from '../../../src/newrelic/nerdgraph/query-plan.ts';
import { predicateOf } from '../../../src/simulator/nrql-conditions.ts';
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
  const isMeant = where === undefined ? () => true : predicateOf(where);
  const metricTimesliceName = 'Agent/MetricsReported/count';
  return (host) =>
    isMeant({ attribute: (name) => ({ appId: '1', metricTimesliceName, host })[name] ?? null });
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
    .map(([known, most]) => ({ known, parts: partsOf(known, known.length / most) })),
  fc
    .tuple(hostNames, fc.constantFrom(1, 2, 4, 16, 64))
    .map(([known, count]) => ({ known, parts: partsOf([], count) })),
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
});

function numbered(nameOf: (number: number) => string): readonly string[] {
  return Array.from({ length: 12_000 }, (_, index) => nameOf(index));
}

const manyHosts = [
  { what: 'numbers', names: numbered((number) => `web-${number}`) },
  { what: 'hosts of a domain', names: numbered((number) => `web-${number}.example.com`) },
  { what: 'addresses', names: numbered((number) => `10.0.${number >> 8}.${number & 255}`) },
];

describe('partsOf', () => {
  it.each(manyHosts)(
    'divides 12,000 hosts that are called by $what into few parts',
    ({ names }) => {
      const parts = partsOf(names, 9);
      const sizes = parts.map((part) => names.filter((name) => part.asksFor(name)).length);

      expect(Math.max(...sizes)).toBeLessThanOrEqual(12_000 / 9);
      expect(parts.length).toBeLessThan(24);
    },
  );

  it.each([
    { what: 'all, if that is few enough', names: ['a', 'b'], most: 2, is: [['a', 'b']] },
    { what: 'all, if there are none', names: [], most: 1, is: [[]] },
    {
      what: 'by the first condition that divides them',
      names: ['10.0.0.1', '10.0.0.2'],
      most: 1,
      is: [['10.0.0.2'], ['10.0.0.1']],
    },
    { what: 'one of those that are all alike', names: ['.', '-'], most: 1, is: [['.', '-']] },
  ])('is $what', ({ names, most, is }) => {
    const parts = partsOf(names, names.length / most);

    expect(parts.map((part) => names.filter((name) => part.asksFor(name)))).toEqual(is);
  });
});

describe('all hosts', () => {
  it.each([{ parts: partsOf(['a', 'b'], 1) }, { parts: partsOf([], 1) }])(
    'are asked for without a condition',
    ({ parts }) => {
      expect(parts).toEqual([allHosts]);
    },
  );
});

describe('the parts of hosts that nobody has named', () => {
  it.each([
    { count: 1, parts: 1 },
    { count: 2, parts: 2 },
    { count: 3, parts: 4 },
    { count: 64, parts: 64 },
  ])('are $parts for $count', ({ count, parts }) => {
    expect(partsOf([], count)).toHaveLength(parts);
  });

  it.each(manyHosts)(
    'are 64 that an answer has room for, of 12,000 hosts called by $what',
    ({ names }) => {
      const sizes = partsOf([], 64).map(
        (part) => names.filter((name) => part.asksFor(name)).length,
      );

      expect(Math.max(...sizes)).toBeLessThan(5000);
    },
  );
});
