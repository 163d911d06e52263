import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ConfigError } from '../../src/config/diagnostic.ts';
import { parseDuration } from '../../src/config/duration.ts';
import { parseConfig } from '../../src/config/load-config.ts';
import { configJsonSchema } from '../../src/config/schema.ts';
import { configKeyProblems } from './config-key-rule.ts';
import { readDocument } from './documents.ts';
import { codeWordsIn, rowsWith, sectionOf } from './markdown.ts';

const mapSchema = z.object({
  properties: z.record(z.string(), z.looseObject({ default: z.unknown().optional() })),
  required: z.array(z.string()).optional(),
});
const fileSchema = z.object({
  properties: z.object({
    accounts: z.object({ items: mapSchema }),
    poll: mapSchema,
    apps: z.object({ items: mapSchema }),
    queries: z.object({ items: mapSchema }),
  }),
});

/** A list whose elements are texts or maps. */
const listSchema = z.object({
  items: z.object({ anyOf: z.tuple([z.unknown(), mapSchema]) }),
});

const { text } = readDocument('docs/configuration.md');
const json = configJsonSchema();
const maps = fileSchema.parse(json).properties;

describe('docs/configuration.md', () => {
  it.each([
    { section: 'Keys of the file', schema: mapSchema.parse(json) },
    { section: 'Keys of `accounts`', schema: maps.accounts.items },
    { section: 'Keys of `poll`', schema: maps.poll },
    { section: 'Keys of `apps`', schema: maps.apps.items },
    { section: 'Keys of `queries`', schema: maps.queries.items },
    {
      section: 'Which metrics',
      schema: listSchema.parse(maps.poll.properties['metrics']).items.anyOf[1],
    },
  ])('$section: names every key of the schema, its default, and no other', (row) => {
    expect(configKeyProblems(sectionOf(text, row.section), row.schema)).toEqual([]);
  });

  /** Rows such as `duration, 1s to 1d`, as a file that sets the key to one of the bounds or beyond. */
  const bounded = ['accounts', 'poll', 'queries'].flatMap((map) =>
    rowsWith(sectionOf(text, `Keys of \`${map}\``), ['key', 'type']).flatMap(({ key, type }) => {
      const bounds = /^duration, (\w+) to (\w+)/.exec(type);
      return bounds === null
        ? []
        : [{ map, key: codeWordsIn(key)[0] ?? '', least: bounds[1] ?? '', most: bounds[2] ?? '' }];
    }),
  );

  const isAccepted = async (map: string, key: string, value: string): Promise<boolean> => {
    const inMap = (name: string): string => (name === map ? `${key}: ${value}` : '');
    const config = `
accounts: [{ name: a, source: nerdgraph, account_id: 1, api_key_env: K, ${inMap('accounts')} }]
poll: { ${inMap('poll')} }
queries: [{ as: a, nrql: SELECT count(*) FROM Log, ${inMap('queries')} }]
`;
    try {
      await parseConfig(config, { fileName: 'f', directory: '/' });
      return true;
    } catch (error) {
      if (error instanceof ConfigError) return false;
      throw error;
    }
  };

  it('states bounds of durations', () => {
    expect(bounded.map(({ map, key }) => `${map}.${key}`)).toEqual([
      'accounts.timeout',
      'poll.interval',
      'poll.discovery_interval',
      'poll.window',
      'poll.delay',
      'poll.stale_after',
      'queries.window',
    ]);
  });

  it.each(bounded)(
    '$map.$key is allowed from $least to $most',
    async ({ map, key, least, most }) => {
      const everything = { minMs: 0, maxMs: Number.MAX_SAFE_INTEGER };
      const leastMs = parseDuration(least, everything) ?? Number.NaN;
      const mostMs = parseDuration(most, everything) ?? Number.NaN;

      expect(await isAccepted(map, key, least)).toBe(true);
      expect(await isAccepted(map, key, most)).toBe(true);
      expect(await isAccepted(map, key, `${leastMs - 1}ms`)).toBe(false);
      expect(await isAccepted(map, key, `${mostMs + 1}ms`)).toBe(false);
    },
  );
});
