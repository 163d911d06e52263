import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allHosts,
  blindPartsOf,
  type HostSubset,
  halvesOf,
  namedHosts,
  partsOf,
} from '../../src/nerdgraph/host-partition.ts';
import { hostsNrql } from '../../src/nerdgraph/nrql.ts';
import { predicateOf } from '../../src/simulator/nrql-conditions.ts';
import { parseNrql } from '../../src/simulator/nrql-parser.ts';

/** Whether another reader of NRQL takes the host for one of the part. */
function evaluator({ condition }: HostSubset): (name: string) => boolean {
  const question = {
    applicationIds: ['1'],
    window: { fromMs: 1_760_000_400_000, toMs: 1_760_000_460_000 },
  };
  const { where } = parseNrql(
    hostsNrql(question, [{ name: 'c1', metric: 'HttpDispatcher', of: 'count' }], condition),
  );
  const isMeant = where === undefined ? () => true : predicateOf(where);
  return (host) =>
    isMeant({
      attribute: (name) =>
        ({ appId: '1', metricTimesliceName: 'HttpDispatcher', host })[name] ?? null,
    });
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

/** A part that comes out of dividing several times, always taking one of the halves. */
const someParts = fc
  .tuple(hostNames, fc.array(fc.boolean(), { maxLength: 18 }))
  .map(([known, turns]) => {
    const parts = [allHosts];
    for (const isFirst of turns) {
      const halves = halvesOf(parts.at(-1) ?? allHosts, known);
      if (halves !== undefined) parts.push(isFirst ? halves[0] : halves[1]);
    }
    return { known, parts };
  });

function numbered(count: number, nameOf: (number: string) => string): readonly string[] {
  return Array.from({ length: count }, (_, index) => nameOf(String(index).padStart(5, '0')));
}

describe('the halves of hosts', () => {
  it('have nothing in common, and every host is in one', () => {
    fc.assert(
      fc.property(someParts, hostNames, ({ known, parts }, names) => {
        for (const part of parts) {
          const halves = halvesOf(part, known);
          if (halves === undefined) continue;
          const isNamed = halves[0].names !== undefined;
          for (const name of isNamed ? known : [...known, ...names]) {
            const inHalves = halves.filter((half) => half.has(name)).length;
            expect(inHalves).toBe(part.has(name) ? 1 : 0);
          }
        }
      }),
    );
  });

  it('mean the same to New Relic as to the exporter', () => {
    fc.assert(
      fc.property(someParts, hostNames, ({ known, parts }, names) => {
        for (const part of parts) {
          const isMeant = evaluator(part);
          for (const name of [...known, ...names]) expect(isMeant(name)).toBe(part.has(name));
        }
      }),
    );
  });

  it('do not exist for ever', () => {
    let part: HostSubset = allHosts;
    let depth = 0;
    for (let halves = halvesOf(part); halves !== undefined; halves = halvesOf(part)) {
      [part] = halves;
      depth += 1;
    }

    expect(depth).toBe(16);
  });

  it('are written with the end of what stands before the first dot', () => {
    const conditions = halvesOf(allHosts)?.map(({ condition }) => condition);

    expect(conditions).toEqual([
      "host RLIKE r'[^.]*[02468acegikmoqsuwyACEGIKMOQSUWY]([.].*)?'",
      "host NOT RLIKE r'[^.]*[02468acegikmoqsuwyACEGIKMOQSUWY]([.].*)?'",
    ]);
  });

  it('divide hosts that are known, if any condition does', () => {
    const names = ['10.0.0.1', '10.0.0.2'];
    const halves = halvesOf(allHosts, names) ?? [];

    expect(halves.map((half) => names.filter((name) => half.has(name)))).toEqual([
      ['10.0.0.2'],
      ['10.0.0.1'],
    ]);
  });

  it('name hosts that no condition divides', () => {
    const conditions = halvesOf(allHosts, ['.', '-'])?.map(({ condition }) => condition);

    expect(conditions).toEqual(["host IN ('.')", "host IN ('-')"]);
  });

  it('do not exist for a single known host', () => {
    expect(halvesOf(allHosts, ['a'])).toBeUndefined();
    expect(halvesOf(allHosts, [])).toBeUndefined();
  });
});

describe('hosts by name', () => {
  it('are written in order, each once, and quoted', () => {
    expect(namedHosts(['b', "o'a", 'b']).condition).toBe(String.raw`host IN ('b','o\'a')`);
  });

  it('are halved down to single names', () => {
    fc.assert(
      fc.property(fc.uniqueArray(hostName, { minLength: 1, maxLength: 40 }), (names) => {
        const whole = namedHosts(names);
        const halves = halvesOf(whole, names);

        expect(halves === undefined).toBe(names.length === 1);
        for (const name of names) {
          expect(evaluator(whole)(name)).toBe(true);
          expect(halves?.filter((half) => half.has(name)).length ?? 1).toBe(1);
        }
        expect(whole.has('none of them')).toBe(false);
      }),
    );
  });
});

describe('partsOf', () => {
  it.each([
    { what: 'numbers', names: numbered(12_000, (number) => `web-${number}`) },
    { what: 'hosts of a domain', names: numbered(12_000, (number) => `web-${number}.example.com`) },
    {
      what: 'addresses',
      names: numbered(12_000, (number) => `10.0.${Number(number) >> 8}.${Number(number) & 255}`),
    },
  ])('divides 12,000 hosts that are called by $what, none twice', ({ names }) => {
    const parts = partsOf(names, 1333);
    const sizes = parts.map((part) => names.filter((name) => part.has(name)).length);

    expect(Math.max(...sizes)).toBeLessThanOrEqual(1333);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(12_000);
    expect(parts.length).toBeLessThan(24);
  });

  it('has each host in one part, and none with too many that could be divided', () => {
    fc.assert(
      fc.property(hostNames, fc.integer({ min: 1, max: 10 }), (names, most) => {
        const parts = partsOf(names, most);
        for (const name of [...names, 'another']) {
          expect(parts.filter((part) => part.has(name))).toHaveLength(1);
        }
        for (const part of parts) {
          const inPart = names.filter((name) => part.has(name));
          // Only what no condition divides is left as it is.
          const isAlike = halvesOf(part, inPart)?.[0].names !== undefined;
          expect(inPart.length <= most || isAlike).toBe(true);
        }
        const together = parts.flatMap((part) => names.filter((name) => part.has(name)));
        expect(together.toSorted()).toEqual(names.toSorted());
      }),
    );
  });

  it('is everything if that is few enough, new hosts included', () => {
    expect(partsOf(['a', 'b'], 2)).toEqual([allHosts]);
    expect(partsOf([], 1)).toEqual([allHosts]);
  });
});

describe('blindPartsOf', () => {
  it.each([
    { count: 1, parts: 1 },
    { count: 2, parts: 2 },
    { count: 3, parts: 4 },
    { count: 9, parts: 16 },
  ])('makes $parts parts for $count', ({ count, parts }) => {
    expect(blindPartsOf(count)).toHaveLength(parts);
  });

  it('has every host in one of them', () => {
    const parts = blindPartsOf(8);

    fc.assert(
      fc.property(hostName, (name) => {
        expect(parts.filter((part) => part.has(name))).toHaveLength(1);
      }),
    );
  });
});
