/** One line of the log as data: plain JSON values, without secrets. */
export interface LogEntry {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A field of a line, with a text, a number, a boolean, a list or `null`. */
export type FlatField = readonly [name: string, value: unknown];

/** The fields without objects inside: `error: { reason: 'dns' }` becomes `error.reason`. */
export function flatFields(fields: Readonly<Record<string, unknown>>): readonly FlatField[] {
  return Object.entries(fields).flatMap(([name, value]): readonly FlatField[] => {
    if (!isRecord(value) || Object.keys(value).length === 0) return [[name, value]];
    return flatFields(value).map(([inner, item]) => [`${name}.${inner}`, item]);
  });
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
