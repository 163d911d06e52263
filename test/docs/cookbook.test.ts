import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { parseNrql } from '../../src/simulator/nrql-parser.ts';
import { readDocument } from './documents.ts';
import { goodConfigsIn } from './example-rule.ts';

const [cookbook = ''] = goodConfigsIn(readDocument('docs/nrql-cookbook.md').text);
const { config } = await parseConfig(cookbook, { fileName: 'config.yaml', directory: '/' });
const { queries = [] } = config;

describe('the cookbook', () => {
  it('has ten queries', () => {
    expect(queries).toHaveLength(10);
  });

  it.each(queries.map(({ query }) => query))(
    '$name is NRQL with the names that its gauges are read from',
    ({ nrql, gauges, facets }) => {
      const { select, facets: by } = parseNrql(`${nrql} SINCE 1760000400000 UNTIL 1760000700000`);

      expect(select.map(({ name }) => name)).toEqual(gauges.map(({ member }) => member));
      expect(by.map(({ name }) => name)).toEqual(facets.map(({ name }) => name));
    },
  );
});
