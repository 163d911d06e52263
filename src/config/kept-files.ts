import type { ConfigFile, Included, IncludedFile } from './config-file.ts';
import { type Problem, renderDiagnostics } from './diagnostic.ts';
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
  /** What is in force of these files. */
  readonly files: readonly IncludedFile[];
}

/**
 * Parses a file and what it includes. A broken included file is what it last said, or nothing; of a rule between files
 * the later one is broken. Rejects with a `ConfigError`, and nothing else, if the file itself is broken, or has
 * nothing to poll without them.
 *
 * @param before what was in force of these files
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
  const problems = new Map<string, string>();
  let files = withLast(included, before);
  for (const { pattern, fileName = pattern, found } of included.unreadable) {
    problems.set(fileName, `${found[1]}${found[2] === undefined ? '' : `: ${found[2]}`}`);
  }
  for (;;) {
    const { config, errors, warnings, diagnose } = await inspect(files);
    if (config !== undefined && errors.length === 0) {
      const isKept = (name: string): boolean =>
        files.some(({ fileName, pattern }) => name === fileName || name === pattern);
      const broken = Array.from(problems, ([name, problem]) => ({
        name,
        problem,
        isKept: isKept(name),
      }));
      return { config, warnings: diagnose(warnings), broken, files };
    }
    const names = await brokenOf(errors, files, async (some) => (await inspect(some)).errors);
    // The file itself is broken: all is said that is wrong with it and with those that it includes.
    if (names.size === 0)
      return { ...(await parseConfig(file.text, file, context)), broken: [], files };
    for (const name of names) {
      const own = errors.filter(({ span }) => span?.file.fileName === name);
      if (!problems.has(name))
        problems.set(name, renderDiagnostics(diagnose(own.length > 0 ? own : errors)));
    }
    files = files.flatMap((one) => (names.has(one.fileName) ? lastOf(one, before) : one));
  }
}

/** What a file last said; nothing if that is what it says. */
function lastOf(
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

/** The included files that the errors are of; none if they are all of the file itself. */
async function brokenOf(
  errors: readonly Problem[],
  files: readonly IncludedFile[],
  errorsWith: (files: readonly IncludedFile[]) => Promise<readonly Problem[]>,
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
  let [fewer, enough] = [0, files.length];
  if (!(await hasMore(enough))) return new Set();
  while (enough - fewer > 1) {
    const middle = Math.floor((fewer + enough) / 2);
    if (await hasMore(middle)) enough = middle;
    else fewer = middle;
  }
  return new Set(files.slice(fewer, enough).map(({ fileName }) => fileName));
}
