/** A part of a regular expression that cannot be divided further. */
interface PatternToken {
  readonly kind: 'open' | 'close' | 'flags' | 'class' | 'count' | 'operator' | 'atom';
  readonly text: string;
  /** In UTF-16 code units. */
  readonly offset: number;
}

/**
 * Reads the parts of a regular expression in RE2's syntax. Only boundaries are found here: whether
 * the parts are valid, the engine says. What is no RE2 syntax, such as `(?=`, is read as JavaScript does.
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

/** The instructions of something that is repeated so often: one that may be left out takes two more. */
function repeated(instructions: number, count: string): number {
  const [least = 0, most = least] = count.slice(1, -1).split(',').map(Number);
  return count.endsWith(',}')
    ? instructions * Math.max(least, 1) + 2
    : instructions * most + 2 * Math.max(most - least, 0);
}

/**
 * How many instructions the engine makes of a regular expression at most, without making them:
 * counted repetitions are written out, each of which may hold others.
 */
function instructionsOf(tokens: readonly PatternToken[]): number {
  const outer: number[] = [];
  // The engine's own: one to fail, one to match, and one for a pattern that is empty.
  let total = 3;
  let last = 0;
  for (const { kind, text } of tokens) {
    if (kind === 'open') {
      outer.push(total);
      // One for a group that is empty, two for where one begins and ends that is remembered.
      total = text === '(' || /^\(\?P?</u.test(text) ? 3 : 1;
    } else if (kind === 'close') {
      last = total;
      total += outer.pop() ?? 0;
    } else if (kind === 'count') {
      total -= last;
      last = repeated(last, text);
      total += last;
    } else if (kind === 'operator') {
      // A loop over what may be empty takes two.
      last += 2;
      total += 2;
    } else if (kind !== 'flags') {
      last = 1;
      total += text.startsWith('\\Q') ? text.length : 1;
    }
  }
  return outer.reduce((sum, instructions) => sum + instructions, total);
}

/** Characters that describe classes; with `(?i)` the engine looks at every case of each of theirs. */
function classWorkOf(tokens: readonly PatternToken[]): number {
  const foldsCase = tokens.some(({ kind, text }) =>
    kind === 'flags' || kind === 'open' ? /^\(\?[a-zA-Z]*i/u.test(text) : false,
  );
  const classes = tokens.filter(({ kind, text }) => kind === 'class' || /^\\p/iu.test(text));
  return classes.reduce((sum, { text }) => sum + text.length, 0) * (foldsCase ? 4 : 1);
}

/** What it costs to compile a regular expression and to search a character with it, at most. */
export function patternCost(source: string): number {
  const tokens = patternTokens(source);
  return Math.max(instructionsOf(tokens), classWorkOf(tokens));
}
