import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { configJsonSchema } from '../../src/config/schema.ts';

const root = new URL('../../', import.meta.url);

/** Every key that the schema knows, at any depth. */
function keysIn(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own =
    'properties' in schema && typeof schema.properties === 'object' && schema.properties !== null
      ? Object.keys(schema.properties)
      : [];
  return [...own, ...Object.values(schema).flatMap(keysIn)];
}

/** Every schema of a single value, with the path of its key. */
function fieldsIn(schema: unknown, path = ''): readonly (readonly [string, unknown])[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own =
    'properties' in schema && typeof schema.properties === 'object' && schema.properties !== null
      ? Object.entries(schema.properties).flatMap(([key, value]) => [
          [`${path}.${key}`, value] as const,
          ...fieldsIn(value, `${path}.${key}`),
        ])
      : [];
  return 'items' in schema ? [...own, ...fieldsIn(schema.items, `${path}[]`)] : own;
}

describe('config.schema.json', () => {
  it('is what the code generates (write it anew with "npm run generate")', async () => {
    const schema = `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`;

    await expect(schema).toMatchFileSnapshot('../../config.schema.json');
  });

  it('describes every key', () => {
    const fields = fieldsIn(configJsonSchema());
    const undescribed = fields.filter(
      ([, field]) => typeof field !== 'object' || field === null || !('description' in field),
    );

    expect(fields.length).toBeGreaterThan(30);
    expect(undescribed).toStrictEqual([]);
  });
});

describe('config.example.yaml', () => {
  it('is valid and causes no warning', async () => {
    const text = await readFile(new URL('config.example.yaml', root), 'utf8');

    const { config, warnings } = await parseConfig(text, { fileName: 'f', directory: '/' });

    expect(warnings).toStrictEqual([]);
    expect(config.apps).toHaveLength(4);
  });

  it('shows every key, in use or as a comment', async () => {
    const text = await readFile(new URL('config.example.yaml', root), 'utf8');
    const shown = new Set(
      [...text.matchAll(/^\s*(?:# +)?(?:- )?([a-z_]+):/gmu)].map((match) => match[1]),
    );

    const keys = keysIn(configJsonSchema());

    expect(keys.length).toBeGreaterThan(30);
    expect(keys.filter((key) => !shown.has(key))).toStrictEqual([]);
  });
});
