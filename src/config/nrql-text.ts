import type { TextPart } from './yaml-document.ts';

/** A thing that a query selects, groups by or is from. */
export interface NrqlItem extends TextPart {
  /** What follows AS, without quotes; `undefined` without it. */
  readonly alias: string | undefined;
  /** What stands before AS. */
  readonly expression: string;
  /** Whether that is a name, as it is or in backticks. */
  readonly isName: boolean;
  /** Where it ends in the query, with its alias. */
  readonly end: number;
}

/** What nobody can read, or no gauge can be read from. */
interface NrqlFault extends TextPart {
  /** A predicate. */
  readonly message: string;
  readonly help: string;
}

/** What a query says, as far as gauges depend on it. */
export interface NrqlText {
  /** As written, but on one line, with blanks for comments, and without blanks at its end. */
  readonly text: string;
  /** The items of its clauses, by their first words in capital letters; none if that cannot be told. */
  readonly clauses: ReadonlyMap<string, readonly NrqlItem[]>;
  readonly faults: readonly NrqlFault[];
}

/** Whether groups add up to their total: with EXTRAPOLATE that is an estimate of its own, with OFFSET more may be in it. */
export function hasExactTotal({ clauses }: NrqlText): boolean {
  return !clauses.has('EXTRAPOLATE') && !clauses.has('OFFSET');
}

/** A function of something, such as `max(duration)`. */
interface NrqlCall {
  readonly name: string;
  /** What is between its brackets, by its commas. */
  readonly parts: readonly string[];
  /** Which element of it is meant; '' if all of it is. */
  readonly element: string;
}

/** Quoted texts, names in backticks, comments and blanks. Groups are where one ends that is not closed. */
const lexemes =
  /(['"])(?:\\.|(?!\1)[^\\])*(?:\1|(\\?$))|`[^`]*(?:`|($))|(?:--|\/\/)[^\n]*|\/\*.*?(?:\*\/|($))|\s/gsu;
const quote = /^['"`]/u;
const notClosed = '\u{e000}';
const name = String.raw`[\p{L}_][\p{L}\p{N}_]*`;
const bareName = /^(?:[\p{L}_@$][\p{L}\p{N}_.:@$]*|`[^`]*`)$/u;
const bracketed = new RegExp(`(?:(?<![\\p{L}\\p{N}_])(${name}) *(?=\\())?[([{](#*)[)\\]}]`, 'gu');
const wholeCall = new RegExp(`^(${name}) *\\((#*)\\) *(?:\\[(#*)\\])?$`, 'u');
const notFunctions = /^(?:and|or|not|in|is|r?like|as|where|select|from|on|cases)$/iu;
/** Each part of a list. */
const between = /(?<=^|,)[^,]*/gu;

/** Matches words that stand alone. An attribute with such a name is in backticks. */
function whole(words: string): string {
  return String.raw`(?<![\p{L}\p{N}_.$@:])(?:${words})(?![\p{L}\p{N}_.$@:])`;
}

const clauseWords = new RegExp(
  whole(
    String.raw`SELECT|FROM|WHERE|FACET|LIMIT|SINCE|UNTIL|TIMESERIES|COMPARE +WITH|WITH|ORDER +BY|OFFSET|EXTRAPOLATE|SLIDE +BY|SHOW(?= +EVENT)|(?:INNER +|LEFT +)?JOIN(?= *\()|PREDICT`,
  ),
  'giu',
);
const operators = whole('AND|OR|AS|IN|IS|NOT|LIKE|RLIKE');
const atEnd = ` *(?:$|${clauseWords.source})`;

/** What is wrong, and what helps. "$1" is what was found. */
type Mistake = readonly [form: string, message: string, help: string];

/** Whoever makes one of these cannot be understood in the rest. */
const ofQuotes: readonly Mistake[] = [
  [
    String.raw`"(?=[\p{L}\p{N}])(?!${operators}|${clauseWords.source})`,
    'has a quote within a text',
    "write \\' for one that belongs to the text, as in 'it\\'s'",
  ],
  [
    `(?<!${notClosed})${notClosed}`,
    'has a quote or a comment that is not closed',
    'close it; in YAML without quotes, " #" begins a comment',
  ],
];
const ofBrackets: readonly Mistake[] = [
  ...['()', '[]', '{}'].map(([open = '', close = '']): Mistake => {
    const message = `has "${open}" without "${close}"`;
    return [`\\${open}(?=#*$)`, message, `write the missing "${close}"`];
  }),
  [String.raw`[)\]}](?<![([{]#*.)`, 'has "$1" too many', 'remove it, or write what it closes'],
];
const variable = String.raw`\{\{[\p{L}\p{N}_.: -]+\}\}|\$\{[\p{L}\p{N}_.:-]+\}`;
const ofVariables: readonly Mistake[] = [
  [variable, 'has the variable $1', 'write the value itself'],
];
const ofSigns: readonly Mistake[] = [
  ['[‘’“”„].*[‘’“”]|[‘’“”„]', 'has curly quotes', "write straight ones: '"],
  [';', 'has a semicolon', 'remove it: one query is asked'],
];
const ofClauses: readonly Mistake[] = [
  [
    whole('SINCE|UNTIL|TIMESERIES|COMPARE +WITH'),
    'must not have $1: a gauge has one value, and the exporter adds the time range',
    'leave it out: "window" and "delay" set the time range, and PromQL compares with "offset"',
  ],
  [`^(?!.*${whole('FROM')})`, 'has no FROM', 'name the data, such as FROM Transaction'],
  [
    `^(?!.*${whole('SELECT')})`,
    'must select functions and nothing else: only a number can become a gauge',
    'write SELECT with functions, such as count(*) or average(duration)',
  ],
  [
    `${whole('SELECT|FROM|WHERE|FACET|LIMIT|ORDER +BY|OFFSET|AS')}(?= *,|${atEnd})`,
    'has nothing behind $1',
    'write what belongs there, such as FROM Transaction, FACET host, LIMIT 100 or AS name',
  ],
  [`${whole('LIMIT')}(?! +(?:\\d|MAX)|${atEnd})`, 'has no number behind $1', 'write LIMIT 100'],
  ...['SELECT', 'FROM', 'FACET', 'LIMIT'].map((word): Mistake => {
    const again = `${whole(word)}(?<=${whole(word)}.+${whole(word)})`;
    return [again, 'has $1 twice', 'keep one of them'];
  }),
  [`,(?= *,|${atEnd})`, 'has a comma too many', 'remove it'],
];

/** Reads a query as far as that takes no knowledge of its functions. */
export function readNrql(written: string): NrqlText {
  const text = written
    .replaceAll(lexemes, (found) => (quote.test(found) ? found : ' '.repeat(found.length)))
    .trimEnd();
  const masked = mask(written);
  const outline = outlineOf(masked);
  const words = [...outline.matchAll(clauseWords)];
  const clauses = words.map(({ 0: word, index }, order) => {
    const start = index + word.length;
    const pieces = outline.slice(start, words[order + 1]?.index).matchAll(between);
    const items = Array.from(pieces, (piece) => itemAt(start + piece.index, piece[0], text));
    return [word.toUpperCase().replaceAll(/ +/gu, ' '), items] as const;
  });
  const [broken] = [...mistakesIn(masked, ofQuotes), ...mistakesIn(outline, ofBrackets)];
  if (broken !== undefined) return { text, clauses: new Map(), faults: [broken] };
  const faults = [
    ...mistakesIn(text, ofVariables),
    ...mistakesIn(masked, ofSigns),
    ...mistakesIn(outline, ofClauses),
  ];
  return { text, clauses: new Map(clauses), faults };
}

/** A text with one sign in place of all that is quoted, and blanks in place of comments. */
function mask(text: string): string {
  return text.replaceAll(lexemes, (found, _, ...open: readonly unknown[]) => {
    const [sign = ' '] = quote.exec(found) ?? [];
    const isOpen = open.slice(0, 3).some((one) => one !== undefined);
    return (isOpen ? notClosed : sign.replace("'", '"')).repeat(found.length);
  });
}

/** A masked text with "#" in place of what is in brackets. */
function outlineOf(masked: string): string {
  let depth = 0;
  return masked.replaceAll(/./gsu, (char) => {
    if (')]}'.includes(char)) depth = Math.max(0, depth - 1);
    const shown = depth === 0 ? char : '#'.repeat(char.length);
    if ('([{'.includes(char)) depth += 1;
    return shown;
  });
}

function mistakesIn(text: string, list: readonly Mistake[]): readonly NrqlFault[] {
  return list.flatMap(([form, message, help]) =>
    Array.from(text.matchAll(new RegExp(form, 'giu')), ({ 0: found, index: at }) => {
      const isWord = /^[a-z ]+$/iu.test(found);
      const named = message.replace('$1', () => (isWord ? found.toUpperCase() : found));
      return { at, length: found.length, message: named, help };
    }),
  );
}

/** @param outline the item as the outline has it */
function itemAt(start: number, outline: string, text: string): NrqlItem {
  const [, own = outline, as = ''] = /^(.*\S) +AS +(\S+) *$/iu.exec(outline) ?? [];
  const at = start + own.length - own.trimStart().length;
  const end = start + outline.trimEnd().length;
  const expression = text.slice(at, start + own.trimEnd().length);
  const alias = text.slice(at + expression.length, end).slice(-as.length);
  return {
    at,
    length: expression.length,
    alias: as === '' ? undefined : withoutQuotes(alias),
    expression,
    isName: bareName.test(expression),
    end,
  };
}

/** A name as New Relic has it. */
export function withoutQuotes(text: string): string {
  return /^(['"`])(?:(?!\1).)*\1$/su.test(text) ? text.slice(1, -1) : text.replaceAll(/ +/gu, ' ');
}

/** The outermost brackets of an expression, with the function that they belong to; '' without one. */
export function bracketsIn(expression: string): readonly (readonly [name: string, of: string])[] {
  const outline = outlineOf(mask(expression));
  return Array.from(
    outline.matchAll(bracketed),
    ({ 0: found, 1: called = '', 2: of = '', index }) => {
      const end = index + found.length - 1;
      return [notFunctions.test(called) ? '' : called, expression.slice(end - of.length, end)];
    },
  );
}

/** What one function gives, perhaps in brackets, filtered, or an element of it. Other expressions have no name. */
export function callOf(expression: string): NrqlCall {
  const outline = outlineOf(mask(expression));
  if (/^\(#*\)$/u.test(outline)) return callOf(expression.slice(1, -1).trim());
  const [, called = '', list = '', inBrackets = ''] = wholeCall.exec(outline) ?? [];
  const begin = outline.indexOf('(') + 1;
  const parts = partsOf(expression.slice(begin, begin + list.length));
  const element = inBrackets === '' ? '' : expression.slice(-1 - inBrackets.length, -1);
  const [of = '', field = ''] = parts;
  if (/^filter$/iu.test(called)) return callOf(of);
  if (/^getField$/iu.test(called)) return { ...callOf(of), element: field };
  return { name: notFunctions.test(called) ? '' : called, parts, element };
}

function partsOf(list: string): readonly string[] {
  const pieces = outlineOf(mask(list)).matchAll(between);
  return Array.from(pieces, ({ 0: { length }, index }) => list.slice(index, index + length).trim());
}
