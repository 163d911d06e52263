export type Json = Readonly<Record<string, unknown>>;

/** Makes another value of one that may be anything. */
export type Change = (value: unknown) => unknown;

export const keep: Change = (value) => value;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
