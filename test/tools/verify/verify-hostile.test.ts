import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { facts } from '../../../src/tools/verify/facts.ts';
import { verified } from './verify-bench.ts';

/** What comes in place of a document, or of a member of it. */
const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(null, [], {}, '', -1, 1e308, 'Canary', [[]], [null], { results: null }),
);

interface Oddity {
  /** Which of the places of a document, counted around. */
  readonly place: number;
  readonly value: unknown;
}

/** Every place in a document, in the order in which it is written. */
function placesIn(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, one]) => placesIn(one, [...path, name]))];
}

function replaced(value: unknown, [step, ...rest]: readonly string[], by: unknown): unknown {
  if (step === undefined) return by;
  if (Array.isArray(value)) {
    return value.map((one, index) => (String(index) === step ? replaced(one, rest, by) : one));
  }
  const members = Object.entries(Object(value)).map(([name, one]) => [
    name,
    name === step ? replaced(one, rest, by) : one,
  ]);
  return Object.fromEntries(members);
}

describe('verify', () => {
  it('ends with a row for every fact, whatever New Relic answers', async () => {
    const oddity = fc.option(fc.record({ place: fc.nat(100), value: odd }), { freq: 2 });
    const fleet = {
      applications: [
        {
          id: 7_654_321,
          name: 'Canary shop',
          kind: 'both',
          hosts: [{ id: 9_876_543, name: 'web-canary' }],
        },
        { id: 8_765_432, name: 'Canary old', kind: 'not_reporting' },
      ],
    } as const;
    await fc.assert(
      fc.asyncProperty(fc.array(oddity, { minLength: 40, maxLength: 40 }), async (oddities) => {
        let calls = 0;
        const { seen, exitCode, stderr, stdout } = await verified({
          fleet,
          variant: (_, answer) => {
            const change: Oddity | null = oddities[calls] ?? null;
            calls += 1;
            if (change === null) return answer;
            const document: unknown = JSON.parse(answer.body);
            const places = placesIn(document);
            const place = places[change.place % places.length] ?? [];
            return { ...answer, body: JSON.stringify(replaced(document, place, change.value)) };
          },
        });

        expect([...seen.keys()]).toEqual(facts.map(({ id }) => id));
        expect([0, 1]).toContain(exitCode);
        expect(stderr).toBe('');
        expect(stdout).not.toMatch(/7654321|8765432|9876543|web-canary|Canary shop|Canary old/u);
      }),
      { numRuns: 10 },
    );
  });
});
