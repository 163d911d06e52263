/** A part of a regular expression that cannot be divided further. */
interface PatternToken {
  readonly kind: 'open' | 'close' | 'flags' | 'class' | 'count' | 'operator' | 'atom';
  readonly text: string;
  /** In UTF-16 code units. */
  readonly offset: number;
}

/**
 * Matches one part of a regular expression in RE2's syntax. It only finds boundaries: the engine tells
 * whether the parts are valid. Other syntax, such as `(?=`, is read like in JavaScript.
 */
const part =
  /(?<atom>\\Q(?:(?!\\E)[^])*(?:\\E)?|\\[pP](?:\{[^}]*\}|[^])|\\[xu]\{[^}]*\}|\\[^]|\\$)|(?<class>\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\])|(?<flags>\(\?[a-zA-Z-]+\))|(?<open>\((?:\?(?:P?<[=!]?|[=!>#|]|[a-zA-Z-]*:))?)|(?<close>\))|(?<count>\{\d+(?:,\d*)?\})|(?<operator>[*+?|])|[^]/gu;

export function patternTokens(source: string): readonly PatternToken[] {
  return [...source.matchAll(part)].map(({ 0: text, index, groups }) => {
    const kinds = ['atom', 'class', 'flags', 'open', 'close', 'count', 'operator'] as const;
    const kind = kinds.find((candidate) => groups?.[candidate] !== undefined) ?? 'atom';
    return { kind, text, offset: index };
  });
}

/** The instructions of a counted repetition. Each repetition that may be left out takes two more. */
function repeated(instructions: number, count: string): number {
  const [least = 0, most = least] = count.slice(1, -1).split(',').map(Number);
  return count.endsWith(',}')
    ? instructions * Math.max(least, 1) + 2
    : instructions * most + 2 * Math.max(most - least, 0);
}

/**
 * The largest number of instructions that the engine compiles a regular expression to, computed
 * without compiling it: the engine expands counted repetitions, which may be nested.
 */
function instructionsOf(tokens: readonly PatternToken[]): number {
  const outer: number[] = [];
  // Always there: one to fail, one to match, and one for an empty pattern.
  let total = 3;
  let last = 0;
  for (const { kind, text } of tokens) {
    if (kind === 'open') {
      outer.push(total);
      // One for an empty group, and two for the beginning and the end of a capturing group.
      total = text === '(' || /^\(\?P?</u.test(text) ? 3 : 1;
    } else if (kind === 'close') {
      last = total;
      total += outer.pop() ?? 0;
    } else if (kind === 'count') {
      total -= last;
      last = repeated(last, text);
      total += last;
    } else if (kind === 'operator') {
      // A loop over something that may be empty takes two.
      last += 2;
      total += 2;
    } else if (kind !== 'flags') {
      last = 1;
      total += text.startsWith('\\Q') ? text.length : 1;
    }
  }
  return outer.reduce((sum, instructions) => sum + instructions, total);
}

/** The length of all character classes; with `(?i)` the engine also folds the case of each character. */
function classWorkOf(tokens: readonly PatternToken[]): number {
  const foldsCase = tokens.some(({ kind, text }) =>
    kind === 'flags' || kind === 'open' ? /^\(\?[a-zA-Z]*i/u.test(text) : false,
  );
  const classes = tokens.filter(({ kind, text }) => kind === 'class' || /^\\p/iu.test(text));
  return classes.reduce((sum, { text }) => sum + text.length, 0) * (foldsCase ? 4 : 1);
}

/** The most steps that it takes to compile a regular expression, or to search one character with it. */
export function patternCost(source: string): number {
  const tokens = patternTokens(source);
  return Math.max(instructionsOf(tokens), classWorkOf(tokens));
}
