import { own } from '../model/own.ts';
import { type Found, isPlainMap, type Path } from './yaml-document.ts';

/**
 * A key of the configuration that goes: a warning as long as the schema has it, and without it there an
 * error that says the same.
 */
export interface FormerKey {
  /** Its path; `*` stands for any entry of a list: `apps.*.transactions`. */
  readonly place: string;
  /** The first version of which it is true. */
  readonly since: string;
  /** What to write instead, as a remedy: `write kinds: [web]`. */
  readonly write: string;
}

/** Nothing is on its way out. */
export const formerKeys: readonly FormerKey[] = [];

/** What is said of an unknown key at this path, if it was one; `undefined` if it never was. */
export function goneKey(
  path: Path,
  former: readonly FormerKey[],
): readonly [message: string, help: string] | undefined {
  const place = path.map((step) => (typeof step === 'number' ? '*' : step)).join('.');
  const row = former.find((one) => one.place === place);
  return row && [`"${String(path.at(-1))}" is gone since ${row.since}`, row.write];
}

/** The keys of a file that still work, and will go. */
export function keysThatGo(written: unknown, former: readonly FormerKey[]): readonly Found[] {
  return former.flatMap(({ place, since, write }) =>
    pathsTo(written, place.split('.')).map((path): Found => {
      const message = `"${String(path.at(-1))}" is former since ${since}, and will go`;
      return [path, message, write, 'key'];
    }),
  );
}

function pathsTo(value: unknown, [step, ...rest]: readonly string[]): readonly Path[] {
  if (step === undefined) return [[]];
  const entries: readonly (readonly [PropertyKey, unknown])[] =
    step === '*' && Array.isArray(value) ? [...value.entries()] : [];
  const child = isPlainMap(value) ? own(value, step) : undefined;
  const found = child === undefined ? entries : [[step, child] as const];
  return found.flatMap(([key, inner]) => pathsTo(inner, rest).map((path): Path => [key, ...path]));
}
