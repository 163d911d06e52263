import { readFileSync } from 'node:fs';
import { isObject, type Json, type JsonObject } from './json.ts';

type Types = Readonly<Record<string, JsonObject>>;

const prefix = '#/definitions/';
const recorded = JSON.parse(
  readFileSync(new URL('kubernetes-types.json', import.meta.url), 'utf8'),
) as Types;

const types: Types = {
  ...recorded,
  IntOrString: { type: ['integer', 'string'] },
  // The server's own schema takes any text, and says what is wrong when it is too late.
  Quantity: {
    type: ['string', 'number'],
    pattern: String.raw`^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]{1,2})?$`,
    minimum: 0,
  },
};

/** A reference to a type of Kubernetes. */
export function kubernetesType(name: string): JsonObject {
  if (types[name] === undefined) throw new Error(`${name} is not in kubernetes-types.json`);
  return { $ref: `${prefix}${name}` };
}

/** The schema of a field of a type, or of a field of that field, or of the entries of a list. */
export function kubernetesField(name: string, ...path: readonly string[]): JsonObject {
  let schema: Json | undefined = types[name];
  for (const field of path) {
    const of: Json | undefined = isObject(schema) ? (schema['items'] ?? schema) : undefined;
    const properties: Json | undefined = isObject(of) ? of['properties'] : undefined;
    schema = isObject(properties) ? properties[field] : undefined;
  }
  if (!isObject(schema)) throw new Error(`${name}.${path.join('.')} is not there`);
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
