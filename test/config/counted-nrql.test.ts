import { describe, expect, it } from 'vitest';
import { countedNrql } from '../../src/config/counted-nrql.ts';

const counted = ', count(*) AS n';

describe('a query with a count beside', () => {
  it.each([
    ['SELECT count(*) AS a', ' FROM T FACET host', { sortedBy: 'a' }],
    ["SELECT max(x) AS 'a b'", ' FROM T FACET host', { sortedBy: 'a b' }],
    ['SELECT average(x) as `a, b`', ' FROM T FACET host LIMIT 5', { sortedBy: 'a, b' }],
    ["SELECT sum(x) AS a, uniques(FROM, ',') AS b", ' FROM T FACET host', { sortedBy: 'n' }],
    ['SELECT percentile(x, 50, 95) AS a', ' FROM T FACET host', { sortedBy: 'a' }],
    ['SELECT filter(count(*), WHERE x) AS a', ' FROM T FACET host', { sortedBy: 'n' }],
    ['SELECT count(*) / 2 AS a', ' FROM T FACET host', { sortedBy: 'n' }],
    ['FROM T FACET host SELECT count(*) AS a', '', { sortedBy: 'a' }],
    ['SELECT max(x) AS a', ' FROM T FACET host ORDER BY min(x)', { sortedBy: undefined }],
    ['SELECT count(*) AS a', ' FROM T FACET host EXTRAPOLATE', { sortedBy: 'a', isExact: false }],
  ])('has it behind all others: %s ...%s', (select, rest, more) => {
    expect(countedNrql(`${select}${rest}`, 'n')).toEqual({
      nrql: `${select}${counted}${rest}`,
      count: 'n',
      isExact: true,
      ...more,
    });
  });

  it('without FACET stays as it is', () => {
    const nrql = 'SELECT count(*) AS a FROM T';

    expect(countedNrql(nrql, 'n')).toMatchObject({ nrql, count: undefined, isExact: false });
  });
});
