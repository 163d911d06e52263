import { isIPv4, isIPv6 } from 'node:net';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { isObject, type Json, type JsonObject } from './json.ts';

type Values = fc.Arbitrary<Json>;

/** Deeper down only what is required is generated. */
const maxDepth = 6;
/** More entries of a map or list find nothing new. */
const maxEntries = 3;
const formats: Readonly<Record<string, Values>> = { ipv4: fc.ipV4(), ipv6: fc.ipV6() };

/** Whether a value is as a schema wants it, with the types that the schema refers to. */
export function checkerOf(definitions: JsonObject): (schema: JsonObject, value: Json) => boolean {
  const ajv = new Ajv({ strict: false, formats: { ipv4: isIPv4, ipv6: isIPv6 } });
  return (schema, value) => ajv.validate({ ...schema, definitions }, value);
}

/**
 * Values that a schema allows. Conditions ("if", "not", "dependencies") are not looked at: filter by them.
 */
export function arbitraryOf(schema: JsonObject, definitions: JsonObject): Values {
  return anyValue(schema, definitions, 0);
}

function anyValue(schema: JsonObject, definitions: JsonObject, depth: number): Values {
  const { $ref, allOf, anyOf, ...own } = schema;
  if (typeof $ref === 'string') {
    return anyValue(definitionOf($ref, definitions), definitions, depth);
  }
  const [first] = Array.isArray(allOf) ? allOf : [];
  if (isObject(first) && typeof first['$ref'] === 'string') {
    return anyValue(first, definitions, depth);
  }
  if (Array.isArray(anyOf)) {
    const alternatives = anyOf.filter(isObject).map((one) => ({ ...own, ...one }));
    return fc.oneof(...alternatives.map((one) => anyValue(one, definitions, depth)));
  }
  if ('const' in schema) return fc.constant(schema['const'] ?? null);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as Json[]));
  const types = [schema['type'] ?? 'object'].flat() as readonly string[];
  return fc.oneof(...types.map((type) => ofType(type, schema, definitions, depth)));
}

function definitionOf(reference: string, definitions: JsonObject): JsonObject {
  const definition = definitions[reference.replace('#/definitions/', '')];
  if (!isObject(definition)) throw new Error(`there is no ${reference}`);
  return definition;
}

function ofType(type: string, schema: JsonObject, definitions: JsonObject, depth: number): Values {
  switch (type) {
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'integer':
    case 'number':
      return fc.integer({
        min: numberOf(schema, 'minimum', 0),
        max: Math.min(numberOf(schema, 'maximum', 10_000_000), 10_000_000_000),
      });
    case 'string':
      return anyText(schema);
    case 'array':
      return anyList(schema, definitions, depth);
    default:
      return anyMap(schema, definitions, depth);
  }
}

function numberOf(schema: JsonObject, keyword: string, otherwise: number): number {
  const value = schema[keyword];
  return typeof value === 'number' ? value : otherwise;
}

function anyText(schema: JsonObject): Values {
  const { pattern, format } = schema;
  const known = typeof format === 'string' ? formats[format] : undefined;
  if (known !== undefined) return known;
  const minLength = numberOf(schema, 'minLength', 0);
  const maxLength = numberOf(schema, 'maxLength', 253);
  if (typeof pattern !== 'string')
    return fc.string({ minLength, maxLength: Math.min(maxLength, 12) });
  return fc
    .stringMatching(new RegExp(pattern, 'u'), { size: 'xsmall' })
    .filter((text) => text.length >= minLength && text.length <= maxLength);
}

function anyList(schema: JsonObject, definitions: JsonObject, depth: number): Values {
  const items = isObject(schema['items']) ? schema['items'] : { type: 'string' };
  const minLength = numberOf(schema, 'minItems', 0);
  const most = Math.min(numberOf(schema, 'maxItems', maxEntries), maxEntries);
  const maxLength = depth >= maxDepth ? minLength : most;
  return fc.array(anyValue(items, definitions, depth + 1), { minLength, maxLength });
}

function anyMap(schema: JsonObject, definitions: JsonObject, depth: number): Values {
  const { properties, patternProperties, additionalProperties } = schema;
  if (isObject(patternProperties)) {
    const [entry] = Object.entries(patternProperties);
    const [pattern = '', value = {}] = entry ?? [];
    const keys = fc.stringMatching(new RegExp(pattern, 'u'), { size: 'xsmall' });
    const values = anyValue(isObject(value) ? value : {}, definitions, depth + 1);
    return fc.dictionary(keys, values, { maxKeys: maxEntries });
  }
  if (isObject(properties)) return anyRecord(schema, properties, definitions, depth);
  if (!isObject(additionalProperties)) return fc.constant({});
  const values = anyValue(additionalProperties, definitions, depth + 1);
  return fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/u), values, { maxKeys: maxEntries });
}

function anyRecord(
  schema: JsonObject,
  properties: JsonObject,
  definitions: JsonObject,
  depth: number,
): Values {
  const required = Array.isArray(schema['required']) ? (schema['required'] as string[]) : [];
  const optional = Object.keys(properties).filter((key) => !required.includes(key));
  const least = Math.max(0, numberOf(schema, 'minProperties', 0) - required.length);
  const most = Math.min(
    numberOf(schema, 'maxProperties', optional.length + required.length) - required.length,
    depth >= maxDepth ? least : optional.length,
  );
  return fc.subarray(optional, { minLength: least, maxLength: most }).chain((chosen) =>
    fc.record(
      Object.fromEntries(
        [...required, ...chosen].map((key) => {
          const property = properties[key];
          return [key, anyValue(isObject(property) ? property : {}, definitions, depth + 1)];
        }),
      ),
    ),
  );
}
