import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { codeWordsIn, rowsWith } from './markdown.ts';

/** What JSON Schema says of the keys of one map. */
export interface MapSchema {
  readonly properties: Readonly<Record<string, { readonly default?: unknown }>>;
  readonly required?: readonly string[] | undefined;
}

/** Where the keys of a map in a section differ from its schema: names, defaults, what is required. */
export function configKeyProblems(section: string, schema: MapSchema): readonly string[] {
  const rows = rowsWith(section, ['key', 'default']).flatMap((row) =>
    codeWordsIn(row.key).map((key) => ({ key, cell: row.default })),
  );
  const keys = rows.map(({ key }) => key);
  return [
    ...Object.keys(schema.properties)
      .filter((key) => !keys.includes(key))
      .map((key) => `${key} is not documented`),
    ...keys.filter((key, index) => keys.indexOf(key) !== index).map((key) => `${key} stands twice`),
    ...rows.flatMap(({ key, cell }) => cellProblems(key, cell, schema)),
  ];
}

function cellProblems(key: string, cell: string, schema: MapSchema): readonly string[] {
  const property = schema.properties[key];
  if (property === undefined) return [`${key} does not exist`];
  if (schema.required?.includes(key) === true) {
    return cell === 'required' ? [] : [`${key} is required`];
  }
  const documented = /^`([^`]+)`$/.exec(cell)?.[1];
  const written: unknown = documented === undefined ? undefined : parse(documented);
  if (isDeepStrictEqual(written, property.default)) return [];
  return [`the default of ${key} is ${JSON.stringify(property.default)}, not ${cell}`];
}
