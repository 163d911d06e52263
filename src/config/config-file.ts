import { dirname, isAbsolute, join, resolve } from 'node:path';
import pLimit from 'p-limit';
import { ConfigError, diagnosticsOf, errorAt, type SourceText } from './diagnostic.ts';
import {
  decodeUtf8,
  digestOf,
  type FileSystem,
  inOrder,
  type ReadFile,
  readFailure,
  readRemedy,
} from './read-file.ts';
import { pathHelp } from './suggestion.ts';
import { type Found, readYaml } from './yaml-document.ts';

/** A file of ten thousand applications is smaller. */
const largestFileBytes = 1024 * 1024;
/** Of all included files together. */
const largestIncludedCharacters = 16 * 1024 * 1024;
const mostIncluded = 10_000;

/** Where a configuration comes from, beside its text. */
export interface ConfigSource {
  /** The name of the file in messages. */
  readonly fileName: string;
  /** Absolute. Relative paths in the file are resolved against it. */
  readonly directory: string;
  /** Absent if the file includes none. */
  readonly included?: Included;
}

/** An included file. */
export interface IncludedFile extends SourceText {
  /** The first that stands for it. */
  readonly pattern: string;
}

/** What cannot be included: a file, or all that a pattern stands for. */
export interface Unreadable {
  readonly found: Found;
  readonly pattern: string;
  /** `undefined` if it is all of the pattern. */
  readonly fileName: string | undefined;
  /** That its volume does not answer may pass. */
  readonly cause?: unknown;
}

/** What the patterns of `include` stand for. */
export interface Included {
  /** In the order of their paths, byte by byte. */
  readonly files: readonly IncludedFile[];
  readonly unreadable: readonly Unreadable[];
  /** Why there are too many of them. */
  readonly errors: readonly Found[];
  /** Patterns that no file matches. */
  readonly warnings: readonly Found[];
}

/** A configuration file that was read but not parsed, and those that it includes. */
export interface ConfigFile extends ConfigSource {
  readonly text: string;
  /** Of the bytes of all files, of their names, and of what is wrong with them. */
  readonly digest: string;
  readonly asked: CheckedFiles;
}

/** The patterns in a file with this digest. */
interface CheckedFiles {
  readonly digest: string;
  readonly patterns: readonly string[];
}

/** A file that cannot be used as a whole. */
export function fileError(
  path: string,
  message: string,
  help: string,
  options?: ErrorOptions,
): ConfigError {
  return new ConfigError(diagnosticsOf(path, [errorAt(undefined, message, help)]), options);
}

/** What messages call a file, the flag that names it, and what helps if another name does not. */
export interface FileKind {
  readonly name: string;
  readonly flag: string;
  readonly remedy?: string | undefined;
}

const mainFile: FileKind = { name: 'configuration file', flag: '--config.file' };

/** A file and its digest, or why it cannot be used: a predicate such as "is not UTF-8", and what helps. */
type ReadText =
  | { readonly text: string; readonly digest: string }
  | { readonly problem: string; readonly help: string | undefined; readonly cause?: unknown };

async function readText(path: string, readFile: ReadFile): Promise<ReadText> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    return { problem: readFailure(error), help: readRemedy(error, undefined), cause: error };
  }
  if (bytes.byteLength > largestFileBytes) {
    return { problem: 'is larger than 1 MiB', help: 'is it the right file?' };
  }
  const text = decodeUtf8(bytes);
  if (text === undefined) return { problem: 'is not UTF-8', help: 'save it with that encoding' };
  return { text, digest: digestOf(bytes) };
}

/**
 * Reads a file alone, whatever text it holds. Rejects with a `ConfigError`, and nothing else, if that fails.
 */
export async function readOneFile(
  path: string,
  { readFile }: { readonly readFile: ReadFile },
  { name, flag, remedy = `name the ${name} with ${flag}` }: FileKind,
): Promise<SourceText & { readonly digest: string; readonly directory: string }> {
  const read = await readText(path, readFile);
  if ('text' in read) return { ...read, fileName: path, directory: dirname(resolve(path)) };
  const { problem, help = remedy, cause } = read;
  throw fileError(path, `the ${name} ${problem}`, help, { cause });
}

/**
 * Reads the configuration file and all that it includes, whatever texts they hold. Rejects with a
 * `ConfigError`, and nothing else, if there is no such file, or if a volume does not answer.
 *
 * @param before what was asked for last: the same bytes ask for the same, so they are not parsed again
 * @param remedy what helps if it is not there; default: to name another one
 */
export async function readConfigFile(
  path: string,
  files: FileSystem,
  before?: CheckedFiles,
  remedy?: string,
): Promise<ConfigFile> {
  const main = await readOneFile(path, files, { ...mainFile, remedy });
  const { digest } = main;
  const patterns = before?.digest === digest ? before.patterns : patternsIn(main);
  const file = { ...main, asked: { digest, patterns } };
  if (patterns.length === 0) return file;
  const { digests, ...included } = await readIncluded(main, patterns, files);
  const { unreadable, errors, warnings } = included;
  const all = [digest, digests, unreadable.map(({ found }) => found), errors, warnings];
  return { ...file, included, digest: digestOf(Buffer.from(JSON.stringify(all))) };
}

/** What a file includes. What is no pattern, the schema reports. */
function patternsIn(main: SourceText): readonly string[] {
  // Most files include none, and to parse a large one takes a while.
  if (!/include|\\[xuU]/u.test(main.text)) return [];
  const read = readYaml(main);
  const { include }: { include?: unknown } = 'value' in read ? read.value : {};
  return Array.isArray(include)
    ? include.map((one: unknown) => (typeof one === 'string' ? one : ''))
    : [];
}

const hasWildcard = /[*?]/u;

/** A name of a file that a segment of a pattern stands for; like in a shell, a leading dot has to be written. */
function matcherOf(segment: string): (name: string) => boolean {
  const source = segment
    .replaceAll(/[\\^$.*+?()[\]{}|]/gu, String.raw`\$&`)
    .replaceAll(String.raw`\*`, '.*')
    .replaceAll(String.raw`\?`, '.');
  const regex = new RegExp(`^${source}$`, 'su');
  return (name) => regex.test(name) && (!name.startsWith('.') || segment.startsWith('.'));
}

/**
 * The files that a pattern stands for, by the names that messages give them: one without a wildcard stands
 * for itself. Rejects if a directory cannot be read, or what stands before the first wildcard is not there: files
 * of it would be gone without a word.
 */
async function matchesOf(
  pattern: string,
  directory: string,
  { listDirectory, realPath }: FileSystem,
): Promise<readonly string[]> {
  const segments = pattern.split('/').filter((one, index) => one !== '' || index === 0);
  const literal = segments.findIndex((one) => hasWildcard.test(one));
  if (literal === -1) return [pattern];
  const fixed = segments.slice(0, literal).join('/') || (pattern.startsWith('/') ? '/' : '.');
  let found: readonly string[] = [fixed];
  for (const segment of segments.slice(literal)) {
    const matches = matcherOf(segment);
    const next: string[] = [];
    for (const parent of found) {
      const names = await listDirectory(resolve(directory, parent));
      next.push(...names.filter(matches).map((name) => join(parent, name)));
    }
    found = next;
  }
  if (found.length === 0) await realPath(resolve(directory, fixed));
  return found;
}

/** A file that a pattern stands for. */
interface Match {
  /** The name in messages. */
  readonly fileName: string;
  readonly path: string;
  readonly pattern: string;
  /** That of the pattern in `include`. */
  readonly index: number;
}

/** Why something cannot be included. */
function unreadableOf(
  { index, pattern, fileName }: Pick<Match, 'index' | 'pattern'> & Partial<Match>,
  error: unknown,
): Unreadable {
  const what = fileName === undefined ? `a directory of "${pattern}"` : includedName(fileName);
  const failure = readFailure(error);
  const files = `write a pattern for files, such as "${join(pattern, '*.yaml')}"`;
  const usual = failure === 'is a directory' ? files : 'create it, or take it out of "include"';
  const help = readRemedy(error, pathHelp(pattern) ?? usual);
  const found: Found = [['include', index], `${what} ${failure}`, help];
  return { found, pattern, fileName, cause: error };
}

function includedName(fileName: string): string {
  return `the included file ${fileName}`;
}

type Matches = Pick<Included, 'unreadable' | 'warnings'> & { readonly matches: readonly Match[] };

async function matchesOfAll(
  { fileName: mainName, directory }: ConfigSource,
  patterns: readonly string[],
  files: FileSystem,
): Promise<Matches> {
  const matches: Match[] = [];
  const unreadable: Unreadable[] = [];
  const warnings: Found[] = [];
  for (const [index, pattern] of patterns.entries()) {
    // The schema has its own words for these.
    if (pattern === '' || pattern.includes('**')) continue;
    try {
      const names = await matchesOf(pattern, directory, files);
      if (names.length === 0) {
        const help =
          pathHelp(pattern) ??
          'only * and ? stand for something else, within the name of a file or directory';
        warnings.push([['include', index], `no file matches "${pattern}"`, help]);
      }
      for (const name of names) {
        const fileName = isAbsolute(name) ? name : join(dirname(mainName), name);
        matches.push({ fileName, path: resolve(directory, name), pattern, index });
      }
    } catch (error) {
      unreadable.push(unreadableOf({ index, pattern }, error));
    }
  }
  const sorted = matches.toSorted((a, b) => inOrder(a.fileName, b.fileName));
  return { matches: sorted, unreadable, warnings };
}

/** So a thousand files, looked at twice a minute, take a hundredth of a core; one by one, two of them. */
const mostAtOnce = 16;

/** Reads what the patterns stand for. */
async function readIncluded(
  main: SourceText & ConfigSource,
  patterns: readonly string[],
  files: FileSystem,
): Promise<Included & { readonly digests: readonly string[] }> {
  const { matches, unreadable: unmatched, warnings } = await matchesOfAll(main, patterns, files);
  const limit = pLimit(mostAtOnce);
  let characters = 0;
  const found = await Promise.all(
    matches.slice(0, mostIncluded).map(async (match) =>
      limit(async () => {
        if (characters > largestIncludedCharacters) return [];
        const real = await realPathOf(match.path, files);
        const one = await readText(match.path, files.readFile);
        if ('text' in one) characters += one.text.length;
        return [{ ...match, real, one }];
      }),
    ),
  );
  const read: IncludedFile[] = [];
  const digests: string[] = [];
  const unreadable = [...unmatched];
  const errors: Found[] = [];
  const nameOfReal = new Map([[await realPathOf(main.fileName, files), main.fileName]]);
  for (const { real, one, ...match } of found.flat()) {
    const { fileName, pattern, index } = match;
    const twice = nameOfReal.get(real);
    nameOfReal.set(real, fileName);
    if (twice !== undefined) {
      unreadable.push({ ...twiceError(index, fileName, twice, main.fileName), pattern, fileName });
    } else if ('text' in one) {
      read.push({ fileName, text: one.text, pattern });
      digests.push(fileName, one.digest);
    } else if (one.cause === undefined) {
      const message = `${includedName(fileName)} ${one.problem}`;
      unreadable.push({ found: [['include', index], message, one.help], pattern, fileName });
    } else {
      unreadable.push(unreadableOf(match, one.cause));
    }
  }
  if (matches.length > mostIncluded || characters > largestIncludedCharacters) {
    const limits = `${mostIncluded} files or ${largestIncludedCharacters} characters`;
    const message = `"include" stands for more than ${limits}`;
    errors.push([['include'], message, 'are they the right files?']);
  }
  return { files: read, digests, unreadable, errors, warnings };
}

function twiceError(
  index: number,
  fileName: string,
  other: string,
  mainName: string,
): Pick<Unreadable, 'found'> {
  const path = ['include', index];
  if (other === mainName) {
    const help = 'put the files to include into a directory of their own';
    return { found: [path, `the configuration file includes itself, as ${fileName}`, help] };
  }
  const also = other === fileName ? '' : `; it is also ${other}`;
  return { found: [path, `the file ${fileName} is included twice${also}`, 'name it once'] };
}

/** The path without symbolic links; the path itself if that cannot be told: reading it says why. */
async function realPathOf(path: string, { realPath }: FileSystem): Promise<string> {
  try {
    return await realPath(resolve(path));
  } catch {
    return resolve(path);
  }
}
