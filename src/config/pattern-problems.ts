import type { Node } from 'yaml';
import { errorAt, type Problem } from './diagnostic.ts';
import { type CompilePattern, loadPatternCompiler } from './name-pattern.ts';
import { isFileMap, mapsUnder, textEntry, valueOf } from './yaml-node.ts';

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

/** Constructs of JavaScript that RE2 does not have, recognized by what the engine names. */
const remedies: readonly (readonly [construct: RegExp, message: string, help: string])[] = [
  [
    /^\(\?<?[=!]/u,
    'RE2 syntax has no look-around',
    'to leave out what matches, put an entry with "exclude: true" before this one',
  ],
  [/^\\[1-9k]/u, 'RE2 syntax has no back-references', 'write the group again'],
  [/^[*+?]$/u, 'nothing stands before the sign of repetition', 'for any text write ".*"'],
  [/^\\u/u, 'RE2 syntax has no \\u', 'write the character itself, or its code point as \\x{1F600}'],
];

/** What is wrong with an expression. */
interface Finding {
  readonly message: string;
  readonly help: string;
}

/** The engine's message names the part that it does not understand. */
function syntaxFinding(error: unknown): Finding {
  const text = error instanceof Error ? error.message : String(error);
  const match = /^(?:error parsing regexp: )?(?<reason>.*?)(?:: `(?<found>.*)`)?$/su.exec(text);
  const { reason = text, found = '' } = match?.groups ?? {};
  const [, message = reason, help = 'the syntax is that of RE2, as in Prometheus'] =
    remedies.find(([construct]) => construct.test(found)) ?? [];
  return { message: `is not a valid regular expression: ${message}`, help };
}

function tooLarge(what: string, most: number): Finding {
  const message = `is too large a regular expression: ${what}, and at most ${most} are allowed`;
  return { message, help: 'use smaller counts, or several entries' };
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

/** What is wrong with an expression, or how many steps it comes to. */
function check(source: string, compile: CompilePattern): Finding | number {
  const { length } = source;
  if (length > mostCharacters) return tooLarge(`it has ${length} characters`, mostCharacters);
  const writtenOut = length * mostRepeated(source);
  if (writtenOut > mostWrittenOut) {
    return tooLarge(`its counts make it up to ${writtenOut} characters long`, mostWrittenOut);
  }
  try {
    const { steps } = compile(source);
    return steps > mostSteps ? tooLarge(`it comes to ${steps} steps`, mostSteps) : steps;
  } catch (error) {
    return syntaxFinding(error);
  }
}

/** Reports what comes too much, as the different expressions up to here are added. */
function tooManyTogether(steps: number): Finding {
  const message =
    `is one regular expression too many: the different ones up to here come to ${steps} steps, ` +
    `counting ${leastSteps} more for each, and at most ${mostStepsTogether} are allowed`;
  return { message, help: 'select by id or name, or by fewer patterns such as "^(?:a|b)-"' };
}

/**
 * Reports regular expressions that cannot be used, and the first that does not fit into the memory for
 * all of them. Empty ones are left to the schema.
 */
export async function patternProblems(
  root: Node,
  takeBreak: () => Promise<void>,
): Promise<readonly Problem[]> {
  const patterns = mapsUnder(root, 'apps')
    .flatMap((app) => [app, valueOf(app, 'hosts')])
    .filter(isFileMap)
    .flatMap((map) =>
      ['match', 'exclude'].flatMap((key) => {
        const entry = textEntry(map, key);
        return entry === undefined || entry.text === '' ? [] : { key, ...entry };
      }),
    );
  if (patterns.length === 0) return [];
  const compile = await loadPatternCompiler();
  const problems: Problem[] = [];
  const checked = new Map<string, Finding | number>();
  let steps = 0;
  for (const { key, text, span } of patterns) {
    const known = checked.get(text);
    const found = known ?? check(text, compile);
    checked.set(text, found);
    if (typeof found === 'number' && known === undefined) steps += leastSteps + found;
    const isTooMuch = steps > mostStepsTogether;
    const finding = isTooMuch ? tooManyTogether(steps) : found;
    if (typeof finding !== 'number') {
      problems.push(errorAt(span, `"${key}" ${finding.message}`, finding.help));
    }
    if (isTooMuch) return problems;
    await takeBreak();
  }
  return problems;
}
