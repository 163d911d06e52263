import type { ConfigFile, Included, IncludedFile } from './config-file.ts';
import { type FileProblem, renderDiagnostics } from './diagnostic.ts';
import {
  type InspectedConfig,
  inspectConfig,
  type ParsedConfig,
  parseConfig,
  type ReadingContext,
} from './load-config.ts';
import { inOrder } from './read-file.ts';

/** An included file, or a pattern, that cannot be used as it is. */
export interface BrokenFile {
  /** The name of the file, or the pattern. */
  readonly name: string;
  /** What is wrong, for people: with places and remedies. */
  readonly problem: string;
  /** Whether something of it is in force: what it last said. */
  readonly isKept: boolean;
}

/** A configuration without what is broken of the files that it includes. */
export interface KeptConfig extends ParsedConfig {
  readonly broken: readonly BrokenFile[];
  /** What these files last said while they were whole, whether it is in force or not. */
  readonly files: readonly IncludedFile[];
}

/**
 * Parses a file and what it includes. A broken included file is what it last said, or nothing; of a rule between files
 * the one that has changed is broken, else the later one. Rejects with a `ConfigError`, and nothing else, if the file itself is broken, or has
 * nothing to poll without them.
 *
 * @param before what these files last said
 */
export async function parseKeeping(
  file: ConfigFile,
  before: readonly IncludedFile[],
  context: ReadingContext,
): Promise<KeptConfig> {
  const { included } = file;
  if (included === undefined) {
    return { ...(await parseConfig(file.text, file, context)), broken: [], files: [] };
  }
  const inspect = async (files: readonly IncludedFile[]): Promise<InspectedConfig> =>
    inspectConfig(
      file.text,
      { ...file, included: { ...included, files, unreadable: [] } },
      context,
    );
  const errorsWith: ErrorsWith = async (some) => (await inspect(some)).errors;
  const problems = new Map(
    included.unreadable.map(({ pattern, fileName = pattern, found: [, message, help] }) => [
      fileName,
      help === undefined ? message : `${message}: ${help}`,
    ]),
  );
  let files = withLast(included, before);
  for (;;) {
    const { config, errors, warnings, diagnose } = await inspect(files);
    if (config !== undefined && errors.length === 0) {
      return { config, warnings: diagnose(warnings), ...keptOf(problems, files, before) };
    }
    const named = await brokenOf(errors, files, errorsWith);
    const names = (await changedOf(named, files, before, errorsWith)) ?? named;
    // The file itself is broken: all is said that is wrong with it and with those that it includes.
    if (names.size === 0) {
      return { ...(await parseConfig(file.text, file, context)), broken: [], files };
    }
    for (const name of names) {
      const own = errors.filter(({ span }) => span?.file.fileName === name);
      const text = renderDiagnostics(diagnose(own.length > 0 ? own : errors));
      problems.set(name, problems.get(name) ?? text);
    }
    files = files.flatMap((one) => (names.has(one.fileName) ? lastGood(one, before) : one));
  }
}

/** What is broken, and what all files last said, in force or not. */
function keptOf(
  problems: ReadonlyMap<string, string>,
  files: readonly IncludedFile[],
  before: readonly IncludedFile[],
): Pick<KeptConfig, 'broken' | 'files'> {
  const inForce = new Set(files.flatMap(({ fileName, pattern }) => [fileName, pattern]));
  const names = new Set(files.map(({ fileName }) => fileName));
  const lost = before.filter(
    ({ fileName, pattern }) =>
      !names.has(fileName) && (problems.has(fileName) || problems.has(pattern)),
  );
  return {
    broken: Array.from(problems, ([name, problem]) => {
      return { name, problem, isKept: inForce.has(name) };
    }),
    files: [...files, ...lost],
  };
}

/** What a file last said; nothing if that is what it says. */
function lastGood(
  { fileName, text }: IncludedFile,
  before: readonly IncludedFile[],
): readonly IncludedFile[] {
  return before.filter((one) => one.fileName === fileName && one.text !== text);
}

/** Those that can be read, and what the others last said. */
function withLast(
  { files, unreadable }: Included,
  before: readonly IncludedFile[],
): readonly IncludedFile[] {
  const names = new Set(files.map(({ fileName }) => fileName));
  const isOf = (one: IncludedFile) => (other: (typeof unreadable)[number]) =>
    other.fileName === one.fileName ||
    (other.fileName === undefined && other.pattern === one.pattern);
  const last = before.filter((one) => !names.has(one.fileName) && unreadable.some(isOf(one)));
  return [...files, ...last].toSorted((a, b) => inOrder(a.fileName, b.fileName));
}

type ErrorsWith = (files: readonly IncludedFile[]) => Promise<readonly FileProblem[]>;

/**
 * If a file is called broken that says what it last said: the first one that has changed and brings in an error;
 * `undefined` if none does.
 */
async function changedOf(
  names: ReadonlySet<string>,
  files: readonly IncludedFile[],
  before: readonly IncludedFile[],
  errorsWith: ErrorsWith,
): Promise<ReadonlySet<string> | undefined> {
  const said = new Map(before.map(({ fileName, text }) => [fileName, text]));
  const changed = files.filter(({ fileName, text }) => said.get(fileName) !== text);
  const isNamed = files.some((one) => names.has(one.fileName) && !changed.includes(one));
  if (!isNamed || changed.length === 0) return undefined;
  const isWholeWith = async (count: number): Promise<boolean> => {
    const old = new Set(changed.slice(count));
    const some = files.flatMap((one) => (old.has(one) ? lastGood(one, before) : one));
    return (await errorsWith(some)).length === 0;
  };
  if (!(await isWholeWith(0))) return undefined;
  const first = await leastThat(changed.length, async (count) => !(await isWholeWith(count)));
  return new Set(changed.slice(first - 1, first).map(({ fileName }) => fileName));
}

/** The least number for which something is so, which is so for the most and all above the least. */
async function leastThat(most: number, isSo: (count: number) => Promise<boolean>): Promise<number> {
  let [fewer, enough] = [0, most];
  while (enough - fewer > 1) {
    const middle = Math.floor((fewer + enough) / 2);
    if (await isSo(middle)) enough = middle;
    else fewer = middle;
  }
  return enough;
}

/** The included files that the errors are of; none if they are all of the file itself. */
async function brokenOf(
  errors: readonly FileProblem[],
  files: readonly IncludedFile[],
  errorsWith: ErrorsWith,
): Promise<ReadonlySet<string>> {
  const all = new Set(files.map(({ fileName }) => fileName));
  const named = errors
    .flatMap(({ span }) => span?.file.fileName ?? [])
    .filter((name) => all.has(name));
  if (named.length > 0 || files.length === 0) return new Set(named);
  // The first file with which the file itself has an error that it does not have alone.
  const alone = new Set((await errorsWith([])).map(({ message }) => message));
  const hasMore = async (count: number): Promise<boolean> =>
    (await errorsWith(files.slice(0, count))).some(({ message }) => !alone.has(message));
  if (!(await hasMore(files.length))) return new Set();
  const first = await leastThat(files.length, hasMore);
  return new Set(files.slice(first - 1, first).map(({ fileName }) => fileName));
}
