import { describe, expect, it } from 'vitest';
import { configJsonSchema } from '../../src/config/schema.ts';
import { knownKeysAt } from '../../src/config/shape-problems.ts';

describe('knownKeysAt', () => {
  it.each([
    { path: [], contains: 'accounts' },
    { path: ['accounts', 3], contains: 'api_key_file' },
    { path: ['poll'], contains: 'interval' },
    { path: ['apps', 0], contains: 'transactions' },
  ])('knows $contains at $path', ({ path, contains }) => {
    expect(knownKeysAt(configJsonSchema(), path)).toContain(contains);
  });

  it.each([{ path: ['nothing'] }, { path: ['apps', 0, 'labels'] }, { path: ['apps', 0, 'id', 1] }])(
    'knows nothing at $path',
    ({ path }) => {
      expect(knownKeysAt(configJsonSchema(), path)).toStrictEqual([]);
    },
  );
});
