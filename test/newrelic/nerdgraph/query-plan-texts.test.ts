import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seriesOf } from '../../../src/model/polled-series.ts';
import { presetNames } from '../../../src/model/presets.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import { valueNames } from '../../../src/model/vendor-value.ts';
import { maxNrqlCharacters } from '../../../src/newrelic/nerdgraph/column-sets.ts';
import { metricsNrql } from '../../../src/newrelic/nerdgraph/nrql.ts';
import {
  type Division,
  type PlannedQuery,
  plannedQueries,
  undivided,
} from '../../../src/newrelic/nerdgraph/query-plan.ts';
import { anEntry, aSelected, throughputSeries } from '../../support/builders.ts';
import { someMetrics } from './some-metrics.ts';

function planOf(
  all: readonly SelectedApplication[],
  divisionOf: (id: string) => Division = () => undivided,
): readonly PlannedQuery[] {
  return plannedQueries(
    all.map((selected) => ({ selected })),
    () => divisionOf,
  );
}

function textOf(query: PlannedQuery): string {
  const window = { fromMs: 1_760_000_400_000, toMs: 1_760_002_200_000 };
  return metricsNrql({ ...query, window });
}

/** Some are escaped, some have two code units, and one becomes two in lower case. */
const someCharacter = fc.constantFrom("'", '\\', 'x', 'Y', '1', '-', '.', '検', '😀', 'İ');
const lengthUpTo = (most: number) => fc.oneof(fc.constant(most), fc.integer({ min: 1, max: most }));

/** As a metric may be called, with the values that take one column and several. */
const someCustomSeries = fc
  .record({
    series: fc.constantFrom(...throughputSeries),
    prefix: fc.constantFrom('', 'Apdex/'),
    character: someCharacter,
    number: fc.nat(99),
    length: lengthUpTo(255),
    value: fc.constantFrom(...valueNames),
  })
  .map(({ series, prefix, character, number, length, value }) => ({
    ...series,
    metric: `${prefix}${number}${character.repeat(length)}`.slice(0, 255),
    value,
  }));

/** One name that somebody has written, or those of a pod and of its machine. */
const ownNames = fc.oneof(
  fc.tuple(someCharacter, lengthUpTo(254)).map(([one, length]) => [`A${one.repeat(length)}`]),
  fc
    .tuple(lengthUpTo(253), lengthUpTo(253))
    .map(([pod, machine]) =>
      ['P', 'M'].map((name, at) => name.padEnd(at === 0 ? pod : machine, 'x.')),
    ),
);

/** Hosts of which nearly all are on one side of each condition that divides them. */
const likeHosts: readonly string[] = [
  ...Array.from({ length: 99 }, (_, index) => `${index}-aaaa.x.aaaa`),
  ...[0, 1, 2, 3].flatMap((place) =>
    ['b', 'c'].flatMap((other) => {
      const last = `${'a'.repeat(place)}${other}${'a'.repeat(3 - place)}`;
      return [`1-${last}.x.aaaa`, `1-aaaa.x.${last}`];
    }),
  ),
];

describe('the texts of queries', () => {
  const someSeries = fc.oneof(
    someMetrics.map((metrics) => seriesOf(metrics, ['web', 'other'])),
    fc.array(someCustomSeries, { minLength: 1, maxLength: 40 }),
  );

  it('are never longer than New Relic may take', () => {
    fc.assert(
      fc.property(
        someSeries,
        fc.integer({ min: 1, max: 15 }),
        fc.option(ownNames, { nil: undefined }),
        fc.constantFrom(1, 4, 64),
        (series, digits, names, parts) => {
          const hosts = names === undefined ? true : ({ kind: 'self', names } as const);
          const entry = anEntry({ hosts, series });
          const ids = Array.from({ length: 200 }, (_, index) => `${10 ** digits + index}`);
          const [first] = ids;
          const all = ids.map((id) =>
            aSelected({ id, hostIds: id === first ? likeHosts : ['x'] }, entry),
          );
          const divided = { ...undivided, parts };
          const queries = planOf(all, (id) => (id === first ? divided : undivided));
          const asked = queries.filter(({ columns }) => columns === queries[0]?.columns);
          const lengths = queries.map((query) => textOf(query).length);

          expect(Math.max(...lengths)).toBeLessThanOrEqual(maxNrqlCharacters);
          expect(new Set(asked.flatMap((one) => one.applicationIds))).toEqual(new Set(ids));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('have as many ids as fit', () => {
    const entry = anEntry({ poll: { metrics: presetNames } });
    const all = Array.from({ length: 200 }, (_, index) =>
      aSelected({ id: `${1_000_000_000 + index}` }, entry),
    );
    const [first, second] = planOf(all);

    expect(maxNrqlCharacters - (first ? textOf(first).length : 0)).toBeLessThanOrEqual(11);
    const counts = [first, second].map((query) => query?.applicationIds.length ?? 0);
    expect(counts[0]).toBeGreaterThan(100);
    expect(counts.reduce((sum, count) => sum + count)).toBe(200);
  });
});
