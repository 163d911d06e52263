import { errorAt, type Problem } from './diagnostic.ts';
import { type Located, type LocatedMap, mapsUnder, type Span, textEntry } from './located.ts';
import { type CompilePattern, loadPatternCompiler } from './name-pattern.ts';

const mostCharacters = 2000;

/**
 * With every count written out. The engine itself refuses only what takes more than a million steps,
 * for which it needs seconds and 150 MB.
 */
const mostWrittenOut = 50_000;

/** A search takes at most this many steps for each character of a name. */
const mostSteps = 2000;

/**
 * Of all expressions together, each text once: what they are compiled to takes 20 MB at most. A reload
 * may need that twice.
 */
const mostStepsTogether = 200_000;
/** What the smallest expression takes, in steps. */
const leastSteps = 100;

const syntaxHelp = 'the syntax is that of RE2, as in Prometheus';

interface Remedy {
  readonly construct: RegExp;
  readonly message?: string;
  readonly help: (found: string) => string;
}

const severalEntries = (): string =>
  'use several entries: an application belongs to the first that selects it';

/** Constructs of JavaScript that RE2 does not have, recognized by what the engine names. */
const remedies: readonly Remedy[] = [
  { construct: /^\(\?[=!]/u, message: 'RE2 syntax has no look-ahead', help: severalEntries },
  { construct: /^\(\?<[=!]/u, message: 'RE2 syntax has no look-behind', help: severalEntries },
  {
    construct: /^\\[1-9k]/u,
    message: 'RE2 syntax has no back-references',
    help: () => 'write the group again',
  },
  {
    construct: /^\\u/u,
    message: 'RE2 syntax has no \\u',
    help: () => 'write the character itself, or its code point as \\x{1F600}',
  },
  {
    construct: /^\\c/u,
    message: 'RE2 syntax has no \\c',
    help: () => 'write the code point of the character as \\x{1}',
  },
  {
    construct: /^\[\^\]/u,
    message: 'RE2 syntax has no [^]',
    help: () => 'for any character write (?s:.)',
  },
  {
    construct: /^\[\]/u,
    message: 'RE2 syntax has no []',
    help: () => 'write what may be there',
  },
  {
    construct: /^\\[pP]\{\^?\w+=/u,
    help: (found) => `write \\${found.charAt(1)}{${found.replace(/^.*=|\}$/gu, '')}}`,
  },
  {
    construct: /^\\[pP]\{/u,
    help: () => 'the names are short ones such as \\p{Lu}, and scripts such as \\p{Greek}',
  },
  {
    construct: /^\{\d/u,
    help: () => 'counts go from small to large and end at 1000, those in one another multiplied',
  },
  {
    construct: /^(?:\(\?>|[*+?}]\+$)/u,
    message: 'RE2 syntax has no atomic groups',
    help: () => 'leave that out: RE2 never goes back',
  },
];

/** What is wrong with a regular expression, and where. */
interface Finding {
  readonly message: string;
  readonly help: string;
  readonly offset: number;
  readonly length: number;
}

/** The engine's message without the expression that it repeats, and the part that it names. */
function reasonOf(error: unknown): { readonly reason: string; readonly found: string } {
  const text = error instanceof Error ? error.message : String(error);
  const match = /^(?:error parsing regexp: )?(?<reason>.*?)(?:: `(?<found>.*)`)?$/su.exec(text);
  return { reason: match?.groups?.['reason'] ?? text, found: match?.groups?.['found'] ?? '' };
}

/** The place of what the engine names: the whole text, unless that stands in it exactly once. */
function placeIn(source: string, found: string): Pick<Finding, 'offset' | 'length'> {
  const offset = source.indexOf(found);
  // If the engine names a group, it does not say which of several places it means.
  const isClear = /\W/u.test(found) && offset !== -1 && offset === source.lastIndexOf(found);
  return isClear ? { offset, length: found.length } : { offset: 0, length: source.length };
}

function syntaxFinding(source: string, error: unknown): Finding {
  const { reason, found } = reasonOf(error);
  const remedy = remedies.find(({ construct }) => construct.test(found));
  const message = `is not a valid regular expression: ${remedy?.message ?? reason}`;
  return { message, help: remedy?.help(found) ?? syntaxHelp, ...placeIn(source, found) };
}

function tooLarge(source: string, what: string, most: number): Finding {
  const message = `is too large a regular expression: ${what}, and at most ${most} are allowed`;
  const help = 'use smaller counts, or several entries';
  return { message, help, offset: 0, length: source.length };
}

/** How often the engine repeats a part of the expression at most, by its counts. Groups may be nested. */
function mostRepeated(source: string): number {
  let largest = 1;
  let ofGroups = 1;
  for (const [, group, least, most] of source.matchAll(/(\))?\{(\d+)(?:,(\d+))?/gu)) {
    const count = Number(most ?? least);
    if (group === undefined) largest = Math.max(largest, count);
    else ofGroups *= Math.max(count, 1);
  }
  // More than that is refused by the engine.
  return Math.min(largest * ofGroups, 1000);
}

/** What is wrong with an expression that should not even be compiled. */
function sizeFinding(source: string): Finding | undefined {
  const { length } = source;
  if (length > mostCharacters) {
    return tooLarge(source, `it has ${length} characters`, mostCharacters);
  }
  const writtenOut = length * mostRepeated(source);
  return writtenOut > mostWrittenOut
    ? tooLarge(source, `its counts make it up to ${writtenOut} characters long`, mostWrittenOut)
    : undefined;
}

/** What is wrong with an expression, or how many steps it comes to. */
function check(source: string, compile: CompilePattern): Finding | number {
  const finding = sizeFinding(source);
  if (finding !== undefined) return finding;
  try {
    const { steps } = compile(source);
    return steps > mostSteps ? tooLarge(source, `it comes to ${steps} steps`, mostSteps) : steps;
  } catch (error) {
    return syntaxFinding(source, error);
  }
}

/** The place of a part; the place of the whole text if it is written with escapes. */
function spanOf(span: Span, text: string, { offset, length }: Finding): Span {
  const quotes = (span.end - span.start - text.length) / 2;
  if (length === text.length || (quotes !== 0 && quotes !== 1)) return span;
  const start = span.start + quotes + offset;
  return { start, end: start + length };
}

function hostPattern(app: LocatedMap): ReturnType<typeof textEntry> {
  const hosts = app.entries.get('hosts')?.value;
  return hosts?.kind === 'map' ? textEntry(hosts, 'match') : undefined;
}

function problemAt(span: Span, text: string, finding: Finding): Problem {
  return errorAt(spanOf(span, text, finding), `"match" ${finding.message}`, finding.help);
}

/**
 * Reports regular expressions that cannot be used, and the first that does not fit into the memory for
 * all of them. Empty ones are left to the schema.
 */
export async function patternProblems(
  root: Located,
  takeBreak: () => Promise<void>,
): Promise<readonly Problem[]> {
  const patterns = mapsUnder(root, 'apps')
    .flatMap((app) => [textEntry(app, 'match'), hostPattern(app)])
    .filter((entry) => entry !== undefined)
    .filter(({ text }) => text !== '');
  if (patterns.length === 0) return [];
  const compile = await loadPatternCompiler();
  const problems: Problem[] = [];
  const checked = new Map<string, Finding | number>();
  let steps = 0;
  for (const { text, span } of patterns) {
    const known = checked.get(text);
    const found = known ?? check(text, compile);
    checked.set(text, found);
    if (typeof found !== 'number') problems.push(problemAt(span, text, found));
    else if (known === undefined) steps += leastSteps + found;
    if (steps > mostStepsTogether) return [...problems, tooManyProblem(span, steps)];
    await takeBreak();
  }
  return problems;
}

function tooManyProblem(span: Span, steps: number): Problem {
  const message = `"match" is one regular expression too many: the different ones up to here come to ${steps} steps, counting ${leastSteps} more for each, and at most ${mostStepsTogether} are allowed`;
  return errorAt(span, message, 'select by id or name, or by fewer patterns such as "^(?:a|b)-"');
}
