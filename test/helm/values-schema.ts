import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { configJsonSchema } from '../../src/config/schema.ts';
import { isObject, type Json, type JsonObject } from './json.ts';
import { definitionsFor } from './kubernetes-types.ts';
import { valueTypes } from './value-types.ts';

/** The schema of the values, from their defaults and from the schema of the configuration file. */
export function valuesSchema(values: JsonObject, config: JsonObject): JsonObject {
  const { properties = {}, ...rest } = schemaOf('', { ...values, config: {} }) as {
    readonly properties?: JsonObject;
  } & JsonObject;
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart newrelic-exporter',
    ...rest,
    properties: { ...properties, config: forHelm(config) },
    // Within the file: a chart that has this one as a dependency must work offline.
    definitions: definitionsFor(properties),
  };
}

function schemaOf(path: string, value: Json): JsonObject {
  const type = valueTypes[path];
  if (type !== undefined) return type;
  if (!isObject(value)) {
    if (Array.isArray(value)) throw new Error(`the list ${path} needs a type in value-types.ts`);
    return { type: typeOf(value) };
  }
  const entries = Object.entries(value);
  if (entries.length === 0 && path !== 'config') {
    throw new Error(`the map ${path} needs a type in value-types.ts`);
  }
  return {
    type: 'object',
    additionalProperties: path === 'global',
    properties: Object.fromEntries(
      entries.map(([key, child]) => [key, schemaOf(path === '' ? key : `${path}.${key}`, child)]),
    ),
  };
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/**
 * The schema of the configuration file as far as Helm can follow it: its regular expressions know no
 * look-ahead, it merges the defaults in, which are empty, and the chart adds the files of the keys,
 * so that there may be none, but still not two. Of a reserved name Helm would only say "'not' failed":
 * those of queries a template refuses. With an id of its own, references below it would begin there.
 */
function forHelm(schema: JsonObject): JsonObject {
  const { $schema: _, $id: __, title: ___, required: ____, anyOf: _____, ...config } = schema;
  const text = JSON.stringify(config)
    .replaceAll(/"pattern":"([^"]*)\(\?=\[0-9\]\)/gu, '"minLength":1,"pattern":"$1')
    .replaceAll('"format":"regex",', '')
    .replaceAll('"minItems":1,', '');
  const relaxed = JSON.parse(text) as {
    properties: { accounts: { items: Record<string, Json> }; queries: Json };
  };
  relaxed.properties.queries = withoutReservedNames(relaxed.properties.queries);
  const { items } = relaxed.properties.accounts;
  items['allOf'] = [{ not: { required: ['api_key_file', 'api_key_env'] } }];
  delete items['oneOf'];
  return relaxed;
}

function withoutReservedNames(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withoutReservedNames);
  if (!isObject(schema)) return schema;
  const { not: _, ...rest } = schema;
  return Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, withoutReservedNames(value)]),
  );
}

const root = new URL('../../', import.meta.url);

function readChartFile(path: string): string {
  return readFileSync(new URL(`helm/newrelic-exporter/${path}`, root), 'utf8');
}

export function readValues(): JsonObject {
  return parse(readChartFile('values.yaml')) as JsonObject;
}

export function readConfigSchema(): JsonObject {
  return JSON.parse(JSON.stringify(configJsonSchema())) as JsonObject;
}
