/**
 * From a text to a configuration:
 *
 * ```text
 * texts ─ readYaml ─► plain data, each value with its place ─ fileSchema ─► values with defaults ─ buildConfig ─► Config
 *            │                │                                    │                                       │
 *            │                ├ rules: what belongs together ◄─────┤ (those of tags and queries)            └ warningRules
 *            │                ├ compilePatterns: regular expressions, compiled and counted
 *            │                └ apiKeysIn: keys that must not be there
 *            ├ syntax, depth, aliases
 *            └ includedSchema: what an included file may have; then its entries stand behind those of the file
 * ```
 *
 * The schema sees one value alone. Whatever finds something names it by its path, as zod does, and the document
 * knows the place, in whichever file it is.
 */
import type { Config } from '../model/config.ts';
import { own } from '../model/own.ts';
import { buildConfig } from './build-config.ts';
import { type ConfigSource, type Included, readConfigFile } from './config-file.ts';
import { warningsOf } from './config-warnings.ts';
import {
  ConfigError,
  createPlacer,
  type Diagnostic,
  diagnosticsOf,
  errorAt,
  type FileProblem,
  type Place,
  type Span,
  warningAt,
} from './diagnostic.ts';
import { type FormerKey, formerKeys, keysThatGo } from './former-keys.ts';
import { changedTexts } from './misread-texts.ts';
import { compilePatterns } from './patterns.ts';
import { type FileSystem, mayPass } from './read-file.ts';
import { apiKeyHelp, apiKeyMessage, apiKeysIn, foreignFile, oddNumbers, rules } from './rules.ts';
import { type FileConfig, fileSchema, includedSchema, keyPlaces, keysIncluded } from './schema.ts';
import { hasMisspelt, pathsOf, shapeProblems } from './shape-problems.ts';
import {
  type Found,
  isPlainMap,
  joined,
  type Path,
  type PlainMap,
  problemsAt,
  readYaml,
  spanAt,
  withoutExtensions,
  type YamlDocument,
} from './yaml-document.ts';

/** What reading needs of the process that uses the configuration. */
export interface ReadingContext {
  /** Resolves after other work that waits for the thread has run. */
  readonly nextTurn: () => Promise<void>;
  readonly clock: { readonly monotonicMs: () => number };
  /** The names that the host of this process may have in New Relic, for `hosts: self`. */
  readonly ownHostNames: readonly string[];
  /** Default: those of this version. */
  readonly formerKeys?: readonly FormerKey[];
}

/** For a file that is only looked at. */
const noContext: ReadingContext = {
  nextTurn: async () => {},
  clock: { monotonicMs: () => 0 },
  ownHostNames: [],
};

/** Reads the configuration file. Rejects with a `ConfigError`, and nothing else, if it has errors. */
export async function loadConfig(
  path: string,
  context: ReadingContext & FileSystem,
): Promise<ParsedConfig> {
  const file = await readConfigFile(path, context);
  return parseConfig(file.text, file, context);
}

/** A configuration without errors. */
export interface ParsedConfig {
  readonly config: Config;
  readonly warnings: readonly Diagnostic[];
}

/** Parses the text of a configuration file. Rejects with a `ConfigError`, and nothing else. */
export async function parseConfig(
  text: string,
  source: ConfigSource,
  context?: ReadingContext,
): Promise<ParsedConfig> {
  const { config, errors, warnings, diagnose } = await inspectConfig(text, source, context);
  if (config !== undefined && errors.length === 0) return { config, warnings: diagnose(warnings) };
  const passing = source.included?.unreadable.find(({ cause: one }) => mayPass(one));
  throw new ConfigError(diagnose(errors), { cause: passing?.cause });
}

/** All that the text of a configuration file tells. */
export interface InspectedConfig {
  /**
   * `undefined` if the file has not the shape of a configuration, or a regular expression that cannot be
   * used. It may have errors all the same.
   */
  readonly config: Config | undefined;
  readonly errors: readonly FileProblem[];
  /** Of what is right, and of how things are spelt. */
  readonly warnings: readonly FileProblem[];
  /** What the file says, whether it has errors or not; `undefined` if it is no map in YAML. */
  readonly written: PlainMap | undefined;
  /** The place of a value of the file; `undefined` if it is not written. */
  readonly at: (...path: Path) => Span | undefined;
  /** Problems with this file, whoever found them, ready to print. */
  readonly diagnose: (problems: readonly FileProblem[]) => readonly Diagnostic[];
  /** Where a value of the file is, ready to print. */
  readonly placeOf: (span: Span | undefined) => Place;
}

type Findings = Pick<InspectedConfig, 'config' | 'errors' | 'warnings'>;

/** The longest turn, besides the time for one step of the work: scrapes and probes wait for it. */
const longestTurnMs = 5;

/** What lets other work have its turn, if the present one has taken a while. */
function createBreaks({ nextTurn, clock }: ReadingContext): () => Promise<void> {
  let turnStartMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - turnStartMs < longestTurnMs) return;
    await nextTurn();
    turnStartMs = clock.monotonicMs();
  };
}

/** What the included files have, each with its place, and what is wrong with them. */
async function includedOf(
  { files }: Included,
  takeBreak: () => Promise<void>,
): Promise<
  Pick<WholeFile, 'problems' | 'warnings'> & { readonly documents: readonly YamlDocument[] }
> {
  const documents: YamlDocument[] = [];
  const warnings: FileProblem[] = [];
  const problems: FileProblem[] = [];
  for (const file of files) {
    await takeBreak();
    const read = readYaml(file);
    if ('value' in read) {
      const { error } = includedSchema.safeParse(withoutExtensions(read).value);
      problems.push(...read.problems, ...shapeProblems(read, error, placesOfIncluded));
      if (Object.keys(read.value).length === 0) {
        const help = 'write what is polled, or take it out of "include"';
        warnings.push(warningAt(spanAt(read, []), 'the included file is empty', help));
      }
      documents.push(read);
    } else {
      problems.push(...read);
    }
  }
  return { documents, problems, warnings };
}

const [[, keys] = ['', []], ...otherPlaces] = keyPlaces;
const placesOfIncluded: typeof keyPlaces = [
  ['the file that includes this one', keys],
  ...otherPlaces,
];

/**
 * A file in which something else stands for what is wrong: nothing follows from that, and nothing is odd about it.
 */
function readableOf(written: PlainMap, wrong: readonly Path[]): PlainMap {
  const marks = new Set(wrong.flatMap((path) => [2, 3].map((end) => path.slice(0, end).join(' '))));
  type StandIn = (index: number, entry: unknown) => PlainMap;
  const listOf = (key: string, standIn: StandIn): readonly unknown[] => {
    const list = own(written, key);
    return (Array.isArray(list) ? list : []).map((entry: unknown, index) =>
      marks.has(`${key} ${index}`) ? standIn(index, entry) : entry,
    );
  };
  const account: StandIn = (index, entry) => {
    const map = isPlainMap(entry) ? entry : {};
    const isRead = (key: string): boolean =>
      isPlainMap(entry) && !marks.has(`accounts ${index} ${key}`) && !hasMisspelt(map, [key]);
    const isRest = isRead('source') && map['source'] !== 'nerdgraph';
    const name = isRead('name') ? map['name'] : `account ${index + 1}`;
    const source = isRest ? 'rest' : 'nerdgraph';
    return { name, source, account_id: 1, api_key_env: `ACCOUNT_${index}` };
  };
  const nrql = 'SELECT count(*) FROM Unread';
  const { accounts, poll } = written;
  const areMeant = accounts !== undefined || hasMisspelt(written, ['accounts']);
  const read = listOf('accounts', account);
  const settings = Object.entries(isPlainMap(poll) ? poll : {});
  return {
    ...(areMeant && { accounts: read.length === 0 ? [account(0, undefined)] : read }),
    poll: Object.fromEntries(settings.filter(([key]) => !marks.has(`poll ${key}`))),
    apps: listOf('apps', (index) => ({ id: index + 1, account: 'unread', exclude: true })),
    queries: listOf('queries', (index) => ({ as: `unread_${index}`, nrql, account: 'unread' })),
  };
}

interface WholeFile {
  readonly document: YamlDocument;
  readonly directory: string;
  readonly included: Included;
  /** With the syntax and the keys of included files. */
  readonly problems: readonly FileProblem[];
  readonly warnings: readonly FileProblem[];
}

async function checkedConfig(
  { document, directory, included, problems, warnings: empty }: WholeFile,
  { ownHostNames, formerKeys: former = formerKeys }: ReadingContext,
  takeBreak: () => Promise<void>,
): Promise<Findings> {
  const { value: written } = document;
  await takeBreak();
  const { data, error } = fileSchema.safeParse(written);
  await takeBreak();
  const patterns = await compilePatterns(written, takeBreak);
  const unread = [...included.unreadable.map((one) => one.found), ...included.errors];
  const isWhole = problems.length === 0 && unread.length === 0;
  const wrong = pathsOf(error);
  const parsed = data ?? fileSchema.safeParse(readableOf(written, wrong)).data;
  const broken = rules.flatMap((rule) => [...rule({ written, parsed, isWhole })]);
  const found: readonly Found[] = [...unread, ...broken, ...patterns.found];
  const ofValues = [
    ...problems,
    ...shapeProblems(document, error, keyPlaces, former),
    ...problemsAt(document, found, errorAt),
  ];
  await takeBreak();
  const spelt = problemsAt(document, oddNumbers(document), errorAt);
  const errors = [...ofValues, ...spelt.filter(notAmong(ofValues))];
  await takeBreak();
  const files = included.files.map(({ fileName }) => fileName);
  const building = { directory, patterns: patterns.compiled, ownHostNames };
  const build = (file: FileConfig): Config => ({
    ...buildConfig(file, building),
    ...(files.length > 0 && { includedFiles: files }),
  });
  const config = data && patterns.found.length === 0 && isWhole ? build(data) : undefined;
  await takeBreak();
  const unusable = [...problems.map(() => []), ...wrong, ...found.map(([path]) => path)];
  const unsure = new Set([
    ...unusable.flatMap((path) => (path.length > 1 ? String(path[0]) : keys)),
    ...patterns.found.map(() => 'patterns'),
  ]);
  const right = unusable.length === 0 ? written : readableOf(written, unusable);
  const { data: ofRight } = right === written ? { data } : fileSchema.safeParse(right);
  const odd = ofRight && {
    written: right,
    parsed: ofRight,
    config: (right === written && config) || build(ofRight),
    unsure,
  };
  const warnings = [
    // A pattern without a file, or an empty one, may be why something is missing.
    ...empty,
    ...problemsAt(document, included.warnings, warningAt),
    ...problemsAt(document, keysThatGo(written, former), warningAt),
    ...problemsAt(document, [...changedTexts(document), ...warningsOf(odd)], warningAt),
  ];
  return { config, errors, warnings: warnings.filter(notAmong(errors)) };
}

/** Leaves out what stands where something else is wrong. */
function notAmong(others: readonly FileProblem[]): (one: FileProblem) => boolean {
  const taken = new Set(others.map(startOf));
  return (one) => one.span === undefined || !taken.has(startOf(one));
}

const nothingIncluded: Included = { files: [], unreadable: [], errors: [], warnings: [] };

/** Finds everything that is wrong or odd in the text of a configuration file; it reads no file. */
export async function inspectConfig(
  text: string,
  { fileName, directory, included = nothingIncluded }: ConfigSource,
  context: ReadingContext = noContext,
): Promise<InspectedConfig> {
  const printers = (secrets: readonly Span[]): Pick<InspectedConfig, 'diagnose' | 'placeOf'> => ({
    diagnose: (problems) => diagnosticsOf(fileName, problems, secrets),
    placeOf: createPlacer(fileName, secrets),
  });
  const read = readYaml({ fileName, text }, 'apps');
  const nothing = { config: undefined, warnings: [], written: undefined, at: () => undefined };
  if (!('value' in read)) return { ...nothing, errors: read, ...printers([]) };
  const takeBreak = createBreaks(context);
  const { documents, problems, warnings: empty } = await includedOf(included, takeBreak);
  const apiKeys = [read, ...documents].flatMap((document) =>
    Array.from(apiKeysIn(document.value), ([path, marked, secret]) => ({
      problem: errorAt(spanAt(document, path, marked), apiKeyMessage, apiKeyHelp),
      secret: spanAt(document, path, secret),
    })),
  );
  const keyProblems = apiKeys.map(({ problem }) => problem);
  const shown = printers(apiKeys.flatMap(({ secret }) => secret ?? []));
  const foreign = foreignFile(withoutExtensions(read).value);
  if (foreign !== undefined) return { ...nothing, errors: [foreign, ...keyProblems], ...shown };
  const document = joined([withoutExtensions(read), ...documents], keysIncluded);
  const all = [...read.problems, ...problems];
  const whole = { document, directory, included, problems: all, warnings: empty };
  const { config, errors, warnings } = await checkedConfig(whole, context, takeBreak);
  return {
    config,
    // An API key in a file is reported once, whatever else is wrong in the same place.
    errors: [...keyProblems, ...errors.filter(notAmong(keyProblems))],
    warnings: warnings.filter(notAmong(keyProblems)),
    written: document.value,
    at: (...path) => spanAt(document, path),
    ...shown,
  };
}

function startOf({ span }: FileProblem): string {
  return `${span?.start} ${span?.file.fileName}`;
}
