import { z } from 'zod';
import { fileSchema } from './schema.ts';

/** JSON Schema (draft 7) of the configuration file, for editors. */
export function configJsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(fileSchema, { target: 'draft-7', io: 'input', unrepresentable: 'any' });
}

/** The text of `config.schema.json`. */
export function configJsonSchemaText(): string {
  return `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`;
}

/** The keys that the map at a path of the file may have, by the schema of the file. */
export function knownKeysAt(
  fileJsonSchema: z.core.JSONSchema.BaseSchema,
  path: readonly PropertyKey[],
): readonly string[] {
  let schema: z.core.JSONSchema._JSONSchema | undefined = fileJsonSchema;
  for (const step of path) {
    if (typeof schema !== 'object') return [];
    const items: z.core.JSONSchema.BaseSchema['items'] = schema.items;
    if (typeof step === 'string') schema = schema.properties?.[step];
    else schema = Array.isArray(items) ? undefined : items;
  }
  return typeof schema === 'object' ? Object.keys(schema.properties ?? {}) : [];
}
