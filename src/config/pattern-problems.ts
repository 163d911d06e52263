import { errorAt, type Problem } from './diagnostic.ts';
import { type Located, type LocatedMap, mapsUnder, type Span, textEntry } from './located.ts';
import { type CompilePattern, loadPatternCompiler } from './name-pattern.ts';
import { patternCost, patternTokens } from './pattern-tokens.ts';

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

/** Constructs of JavaScript that RE2 does not have, recognized by how they begin. */
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
    construct: /^\[\^\]$/u,
    message: 'RE2 syntax has no [^]',
    help: () => 'for any character write (?s:.)',
  },
  {
    construct: /^\[\]$/u,
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

/** Finds the part that the engine names by its beginning, or together with all text after it. */
function partNamed(source: string, found: string): { text: string; offset: number } {
  const whole = { text: source, offset: 0 };
  // If the engine names a group, it does not say which of several places it means.
  if (found === '' || /^\w+$/u.test(found)) return whole;
  const tokens = patternTokens(source);
  const part =
    tokens.find(({ text }) => text.startsWith(found)) ??
    tokens.find(({ text, offset }) => text.length > 1 && source.slice(offset) === found) ??
    tokens.find(({ text }) => text.includes(found));
  if (part === undefined) {
    const offset = source.indexOf(found);
    return offset === -1 ? whole : { text: found, offset };
  }
  return part;
}

function findingOf(source: string, error: unknown): Finding {
  const { reason, found } = reasonOf(error);
  const { text, offset } = partNamed(source, found);
  const remedy = remedies.find(({ construct }) => construct.test(text));
  const message = `is not a valid regular expression: ${remedy?.message ?? reason}`;
  return { message, help: remedy?.help(text) ?? syntaxHelp, offset, length: text.length };
}

function check(source: string, compile: CompilePattern): Finding | undefined {
  const whole = { offset: 0, length: source.length };
  const cost = patternCost(source);
  if (cost > mostSteps) {
    const message = `is too large a regular expression: it comes to ${cost} steps, and at most ${mostSteps} are allowed`;
    return { message, help: 'use smaller counts, or several entries', ...whole };
  }
  try {
    compile(source);
    return undefined;
  } catch (error) {
    return findingOf(source, error);
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

interface PatternEntry {
  readonly text: string;
  readonly span: Span;
}

/** Reports the first expression that does not fit into the memory for all of them. */
function tooManyProblem(patterns: readonly PatternEntry[]): Problem | undefined {
  const counted = new Set<string>();
  let steps = 0;
  for (const { text, span } of patterns) {
    const cost = patternCost(text);
    // One that is too large alone is never compiled.
    if (counted.has(text) || cost > mostSteps) continue;
    counted.add(text);
    steps += leastSteps + cost;
    if (steps <= mostStepsTogether) continue;
    const message = `"match" is one regular expression too many: the first ${counted.size} different ones come to ${steps} steps, counting ${leastSteps} more for each, and at most ${mostStepsTogether} are allowed`;
    return errorAt(span, message, 'select by id or name, or by fewer patterns such as "^(?:a|b)-"');
  }
  return undefined;
}

/** Reports regular expressions that cannot be used. Empty ones are left to the schema. */
export async function patternProblems(root: Located): Promise<readonly Problem[]> {
  const patterns = mapsUnder(root, 'apps')
    .flatMap((app) => [textEntry(app, 'match'), hostPattern(app)])
    .filter((entry) => entry !== undefined)
    .filter(({ text }) => text !== '');
  if (patterns.length === 0) return [];
  const compile = await loadPatternCompiler();
  const wrong = patterns.flatMap(({ text, span }) => {
    const finding = check(text, compile);
    if (finding === undefined) return [];
    return [errorAt(spanOf(span, text, finding), `"match" ${finding.message}`, finding.help)];
  });
  const tooMany = tooManyProblem(patterns);
  return tooMany === undefined ? wrong : [...wrong, tooMany];
}
