import type { Json, JsonObject } from './json.ts';

const lineWidth = 100;

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}

/** On one line where it fits, as the formatter of this project has it. */
function listText(values: readonly Json[], indent: string, column: number): string {
  const line = `[${values.map((value) => JSON.stringify(value)).join(', ')}]`;
  const isPlain = !values.some((value) => isList(value) || isObject(value));
  // A comma may follow.
  if (isPlain && column + line.length < lineWidth) return line;
  const inner = `${indent}  `;
  const items = values.map((value) => `${inner}${jsonText(value, inner, inner.length)}`);
  return `[\n${items.join(',\n')}\n${indent}]`;
}

/** JSON that does not change when nothing has changed. Fields that are `undefined` are left out. */
export function jsonText(value: Json, indent = '', column = 0): string {
  if (isList(value)) return listText(value, indent, column);
  if (!isObject(value)) return JSON.stringify(value);
  const inner = `${indent}  `;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .map(([name, field]) => {
      const head = `${inner}${JSON.stringify(name)}: `;
      return `${head}${jsonText(field, inner, head.length)}`;
    });
  return fields.length === 0 ? '{}' : `{\n${fields.join(',\n')}\n${indent}}`;
}
