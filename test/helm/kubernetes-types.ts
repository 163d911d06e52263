import { readFileSync } from 'node:fs';
import { isObject, type Json, type JsonObject } from './json.ts';
import { quantity } from './kubernetes-names.ts';
import { kubernetesRules } from './kubernetes-rules.ts';

type Types = Readonly<Record<string, JsonObject>>;

const prefix = '#/definitions/';
const recorded = JSON.parse(
  readFileSync(new URL('kubernetes-types.json', import.meta.url), 'utf8'),
) as Types;

function mapValues(object: JsonObject, change: (value: Json, key: string) => Json): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, change(value, key)]),
  );
}

/** Numbers that the API can keep; Helm's are exact up to 2 ** 53. Other formats nobody checks. */
function withBounds({ format, ...schema }: JsonObject): JsonObject {
  if (schema['type'] !== 'integer') return schema;
  const maximum = format === 'int32' ? 2 ** 31 - 1 : Number.MAX_SAFE_INTEGER;
  return { minimum: 0, maximum, ...schema };
}

function plain(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(plain);
  if (!isObject(schema)) return schema;
  return withBounds(mapValues(schema, plain));
}

/** A type as the API server takes it: its schema with the rules that the schema does not have. */
function typeWithRules(name: string, schema: JsonObject): JsonObject {
  const { properties = {}, ...rest } = plain(schema) as {
    readonly properties?: JsonObject;
  } & JsonObject;
  return {
    ...rest,
    ...kubernetesRules[name],
    properties: mapValues(properties, (own, key) => kubernetesRules[`${name}.${key}`] ?? own),
  };
}

const types: Types = {
  ...Object.fromEntries(
    Object.entries(recorded).map(([name, schema]) => [name, typeWithRules(name, schema)]),
  ),
  IntOrString: { type: ['integer', 'string'] },
  Quantity: quantity,
};

/** A reference to a type of Kubernetes. */
export function kubernetesType(name: string): JsonObject {
  if (types[name] === undefined) throw new Error(`${name} is not in kubernetes-types.json`);
  return { $ref: `${prefix}${name}` };
}

/** The schema of one field of a type. */
export function kubernetesField(name: string, field: string): JsonObject {
  const properties = types[name]?.['properties'];
  const schema = isObject(properties) ? properties[field] : undefined;
  if (!isObject(schema)) throw new Error(`${name}.${field} is not in kubernetes-types.json`);
  return schema;
}

function referencesIn(schema: Json): readonly string[] {
  return [...JSON.stringify(schema).matchAll(/"#\/definitions\/([A-Za-z]+)"/gu)].map(
    ([, name = '']) => name,
  );
}

/** The types that a schema refers to, and those that they refer to. */
export function definitionsFor(schema: JsonObject): JsonObject {
  const found = new Map<string, JsonObject>();
  const open = [...referencesIn(schema)];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const type = types[name];
    if (type === undefined) throw new Error(`${name} is not in kubernetes-types.json`);
    if (!found.has(name)) open.push(...referencesIn(type));
    found.set(name, type);
  }
  return Object.fromEntries([...found].toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
