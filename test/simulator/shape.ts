import { readFileSync } from 'node:fs';

/** Reads one of the documents in test/samples. */
export function sample(name: string): unknown {
  const text = readFileSync(new URL(`../samples/${name}`, import.meta.url), 'utf8');
  const document: unknown = JSON.parse(text);
  return document;
}

function collect(value: unknown, path: string, into: Set<string>): void {
  if (Array.isArray(value)) {
    into.add(`${path}: array`);
    for (const item of value) collect(item, `${path}[]`, into);
  } else if (typeof value === 'object' && value !== null) {
    into.add(`${path}: object`);
    for (const [key, member] of Object.entries(value)) collect(member, `${path}.${key}`, into);
  } else {
    into.add(`${path}: ${value === null ? 'null' : typeof value}`);
  }
}

/** Every path of a document with its type, whatever the values: `$.applications[].id: number`. */
export function shapeOf(document: unknown): readonly string[] {
  const paths = new Set<string>();
  collect(document, '$', paths);
  return [...paths].toSorted();
}
