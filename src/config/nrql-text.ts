import type { TextPart } from './yaml-document.ts';

/** A thing that a query selects, groups by or is from, or that stands between the brackets of a function. */
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

type NrqlFault = TextPart & Readonly<Record<'message' | 'help', string>>;

/** What a query says, as far as gauges depend on it. */
export interface NrqlText {
  /** As written, but on one line, with blanks for comments, and without blanks at its end. */
  readonly text: string;
  /** The items of its clauses, by their first words in capital letters; none if that cannot be told. */
  readonly clauses: ReadonlyMap<string, readonly NrqlItem[]>;
  /** What nobody can read, or no gauge can be read from: each message is a predicate. */
  readonly faults: readonly NrqlFault[];
}

/** Whether groups add up to their total: with EXTRAPOLATE that is an estimate of its own, with OFFSET more may be in it. */
export function hasExactTotal({ clauses }: NrqlText): boolean {
  return !clauses.has('EXTRAPOLATE') && !clauses.has('OFFSET');
}

/** Quoted texts, names in backticks, comments and blanks. Groups are where one ends that is not closed. */
const lexemes =
  /(['"])(?:\\.|(?!\1)[^\\])*(?:\1|(\\?$))|`[^`]*(?:`|($))|(?:--|\/\/)[^\n]*|\/\*.*?(?:\*\/|($))|\s/gsu;
const notClosed = '\u{e000}';
const identifier = '(?:[\\p{L}_][\\p{L}\\p{N}_]*|`+)';
const bareName = /^(?:[\p{L}_@$][\p{L}\p{N}_.:@$]*|`[^`]*`)$/u;
const bracketed = new RegExp(
  `(?:(?<![\\p{L}\\p{N}_])(${identifier}) *(?=\\())?[([{](#*)[)\\]}]`,
  'gu',
);
const wholeCall = new RegExp(`^(?:${identifier} *\\(#*\\) *(?:\\[#*\\])?|\\(#*\\))$`, 'u');
const notFunctions = /^(?:and|or|not|in|is|r?like|as|where|select|from|on|cases)$/iu;

/** Matches words that stand alone. An attribute with such a name is in backticks. */
function wholeText(words: string): string {
  return String.raw`(?<![\p{L}\p{N}_.$@:])(?:${words})(?![\p{L}\p{N}_.$@:])`;
}

const clauseWords = new RegExp(
  wholeText(
    String.raw`SELECT|FROM|WHERE|FACET|LIMIT|SINCE|UNTIL|TIMESERIES|COMPARE +WITH|WITH|ORDER +BY|OFFSET|EXTRAPOLATE|SLIDE +BY|SHOW(?= +EVENT)|(?:INNER +|LEFT +)?JOIN(?= *\()|PREDICT`,
  ),
  'giu',
);
const atEnd = ` *(?:$|${clauseWords.source})`;

/** How mistakes look, and what helps, by what is said of them; "$1" is what was found. */
type Mistakes = Readonly<
  Record<string, readonly [form: string, help: string | ((found: string) => string)]>
>;

/** Whoever makes one of these cannot be understood in the rest. */
const ofQuotes: Mistakes = {
  'has a quote within a text': [
    String.raw`"(?=[\p{L}\p{N}])(?!${wholeText('AND|OR|AS|IN|IS|NOT|LIKE|RLIKE')}|${clauseWords.source})`,
    "write \\' for one that belongs to the text, as in 'it\\'s'",
  ],
  'has a quote or a comment that is not closed': [
    `(?<!${notClosed})${notClosed}`,
    'close it; in YAML without quotes, " #" begins a comment',
  ],
};
const ofBrackets: Mistakes = {
  'has "(" without ")"': [String.raw`\((?=#*$)`, 'write the missing ")"'],
  'has "[" without "]"': [String.raw`\[(?=#*$)`, 'write the missing "]"'],
  'has "{" without "}"': [String.raw`\{(?=#*$)`, 'write the missing "}"'],
  'has "$1" too many': [String.raw`[)\]}](?<![([{]#*.)`, 'remove it, or write what it closes'],
};
/** Within quotes too, if they are all of a text. What begins with "?" there is a group of a regular expression. */
const ofVariables: Mistakes = {
  'has the variable $1': [
    String.raw`\{\{-? *[\p{L}\p{N}_.$][^{}]*\}\}|\$\{[^{}]+\}|\$\([\p{L}_][\p{L}\p{N}_.-]*\)`,
    'write the value itself',
  ],
  'has the placeholder $1': [
    String.raw`(?<!\?P?)<(?:your\p{L}*|(?:your|my|insert|enter)[ _-][^<>]*|[a-z]+(?:[_-][a-z]+)+)>`,
    'write the value itself',
  ],
};
const distinct = '(?<=(?:SELECT|[(,]) *)DISTINCT(?: +[\\p{L}_`][^ ,()]*| *\\([^()]*\\))';
const time = String.raw`\d+(?:second|minute|hour|day|week|month|year)s?`;
/** In brackets, too. */
const ofSigns: Mistakes = {
  'has GROUP BY, which NRQL does not have': [wholeText('GROUP +BY'), 'write FACET'],
  'has DISTINCT, which NRQL does not have': [
    wholeText(String.raw`count *\( *${distinct} *\)|${distinct}`),
    (found) => `write uniqueCount(${found.replaceAll(/^.*DISTINCT[ (]*|[ )]*$/giu, '')})`,
  ],
  'has "==", which NRQL does not have': ['==', 'write ='],
  'has "&&", which NRQL does not have': ['&&', 'write AND'],
  'has "||", which NRQL does not have': [String.raw`\|\|`, 'write OR'],
  'has ESCAPE, which NRQL does not have': [
    `${wholeText('ESCAPE')} *"+`,
    'leave it out, or write RLIKE and a regular expression',
  ],
  'has the name $1, which begins with a digit': [
    wholeText(String.raw`(?!(?:${time}|\d+e[+-]?\d+)(?![\p{L}\p{N}_.]))\d+[\p{L}_][\p{L}\p{N}_.]*`),
    'write `$1`',
  ],
  'has the number $1 with commas': [
    String.raw`\d{1,3}(?:,\d{3})+(?!\d)(?<=(?:LIMIT|(?:SELECT|WHERE|FACET) (?:[^()]|\([^()]*\))*[-+*/<>=]) *[\d,]+)`,
    (found) => `write ${found.replaceAll(',', '')}`,
  ],
  'has the percentile $1': [
    String.raw`(?<=percentile *\((?:[^()]|\([^()]*\))*, *)(?!100(?:\.0*)?(?![\d.]))[1-9]\d{2,}(?:\.\d+)?`,
    'write a number from 0 to 100',
  ],
  'has $1: New Relic gives 5,000 rows at most': [
    String.raw`${wholeText('LIMIT')} +(?:[6-9]\d{3}|5(?!000)\d{3}|\d{5,})(?![\d,])`,
    'write LIMIT MAX',
  ],
  'has curly quotes': ['[‘’“”„].*[‘’“”]|[‘’“”„]', "write straight ones: '"],
  'has a semicolon': [';', 'remove it: one query is asked'],
  'has a comma too many': [String.raw`,(?= *[,)\]])`, 'remove it'],
};
/** Outside of brackets. */
const ofClauses: Mistakes = {
  'must not have $1: a gauge has one value, and the exporter adds the time range': [
    wholeText('SINCE|UNTIL|TIMESERIES|COMPARE +WITH'),
    'leave it out: "window" and "delay" set the time range, and PromQL compares with "offset"',
  ],
  'has no FROM': [`^(?!.*${wholeText('FROM')})`, 'name the data, such as FROM Transaction'],
  'must select functions and nothing else: only a number can become a gauge': [
    `^(?!.*${wholeText('SELECT')}(?!${atEnd}))`,
    'write SELECT with functions, such as count(*) or average(duration)',
  ],
  'has HAVING, which NRQL does not have': [
    `${wholeText('HAVING')}.*?(?=${atEnd})`,
    'leave it out: PromQL compares gauges, as in my_gauge > 50',
  ],
  'has a comma too many': [`,(?=${atEnd})`, 'remove it'],
};

/** More take long to be read, and nobody writes them. */
const deepestBrackets = 50;

/** Reads a query as far as that takes no knowledge of its functions. */
export function readNrql(written: string): NrqlText {
  const { text, unquoted, outline, deepAt } = scan(written);
  const message = `has brackets that are nested more than ${deepestBrackets} deep`;
  const [broken] = [
    ...(deepAt === undefined ? [] : [{ at: deepAt, length: 1, message, help: 'take some out' }]),
    ...faultsIn(unquoted, ofQuotes, text),
    ...faultsIn(outline, ofBrackets, text),
  ];
  if (broken !== undefined) return { text: text.trimEnd(), clauses: new Map(), faults: [broken] };
  const faults = [
    ...faultsIn(text, ofVariables, text).filter(
      ({ at, length }) =>
        unquoted[at] !== '"' || /^['"].*['"]$/su.test(text.slice(at - 1, at + length + 1)),
    ),
    ...faultsIn(unquoted, ofSigns, text),
    ...faultsIn(outline, ofClauses, text),
  ];
  const words = [...outline.matchAll(clauseWords)];
  const clauses = words.map(({ 0: word, index }, order) => {
    const items = itemsIn(text, outline, index + word.length, words[order + 1]?.index);
    return [word.toUpperCase().replaceAll(/ +/gu, ' '), items] as const;
  });
  return { text: text.trimEnd(), clauses: new Map(clauses), faults };
}

/**
 * The same text, always as long: without comments, also with one sign in place of all that is quoted, and also with "#"
 * in place of what is in brackets.
 */
function scan(written: string): Readonly<Record<'text' | 'unquoted' | 'outline', string>> & {
  readonly deepAt: number | undefined;
} {
  const unquoted = written.replaceAll(lexemes, (found, _, ...open: readonly unknown[]) => {
    const [sign = ' '] = /^['"`]/u.exec(found) ?? [];
    const isOpen = open.slice(0, 3).some((one) => one !== undefined);
    return (isOpen ? notClosed : sign.replace("'", '"')).repeat(found.length);
  });
  const text = written.replaceAll(/./gsu, (char, at: number) =>
    unquoted[at] === ' ' ? ' '.repeat(char.length) : char,
  );
  let depth = 0;
  let deepAt: number | undefined;
  const outline = unquoted.replaceAll(/./gsu, (char, at: number) => {
    if (')]}'.includes(char)) depth = Math.max(0, depth - 1);
    const shown = depth === 0 ? char : '#'.repeat(char.length);
    if ('([{'.includes(char)) depth += 1;
    if (depth > deepestBrackets) deepAt ??= at;
    return shown;
  });
  return { text, unquoted, outline, deepAt };
}

function faultsIn(where: string, mistakes: Mistakes, text: string): readonly NrqlFault[] {
  return Object.entries(mistakes).flatMap(([message, [form, help]]) =>
    Array.from(where.matchAll(new RegExp(form, 'giu')), ({ 0: { length }, index: at }) => {
      const found = text.slice(at, at + length);
      const named = /^[a-z ]+$/iu.test(found) ? found.toUpperCase() : found;
      const remedy = typeof help === 'string' ? help.replace('$1', () => found) : help(found);
      return { at, length, message: message.replace('$1', () => named), help: remedy };
    }),
  );
}

/** The parts of a list, by its commas. */
function itemsIn(text: string, outline: string, start: number, end?: number): readonly NrqlItem[] {
  const pieces = outline.slice(start, end).matchAll(/(?<=^|,)[^,]*/gu);
  return Array.from(pieces, ({ 0: piece, index }) => {
    const [, own = piece, as = ''] = /^(.*\S) +AS +(\S+) *$/iu.exec(piece) ?? [];
    const begin = start + index;
    const at = begin + own.length - own.trimStart().length;
    const expression = text.slice(at, begin + own.trimEnd().length);
    const behind = begin + piece.trimEnd().length;
    const alias = as === '' ? undefined : withoutQuotes(text.slice(behind - as.length, behind));
    const isName = bareName.test(expression);
    return { at, length: expression.length, alias, expression, isName, end: behind };
  }).filter(({ length }) => length > 0);
}

/** A name as New Relic has it. */
export function withoutQuotes(text: string): string {
  return /^(['"`])(?:(?!\1).)*\1$/su.test(text) ? text.slice(1, -1) : text.replaceAll(/ +/gu, ' ');
}

/** The outermost brackets of an expression, with the function that they belong to; '' without one. */
export function bracketsIn(expression: string): readonly (readonly [name: string, of: string])[] {
  const brackets = scan(expression).outline.matchAll(bracketed);
  return Array.from(brackets, ({ 0: found, 1: called = '', 2: of = '', index }) => {
    const end = index + found.length - 1;
    const name = withoutQuotes(expression.slice(index, index + called.length));
    return [notFunctions.test(name) ? '' : name, expression.slice(end - of.length, end)];
  });
}

/** A function such as `max(duration)`, what is between its brackets, which element of it is meant, and if it is all. */
type NrqlCall = Readonly<{
  name: string;
  parts: readonly string[];
  element: string;
  isAll: boolean;
}>;

/** What one function gives, perhaps in brackets, filtered, or an element of it. Other expressions have no name. */
export function callOf(expression: string): NrqlCall {
  const isCall = wholeCall.test(scan(expression).outline);
  if (!isCall) return { name: '', parts: [], element: '', isAll: true };
  const [[name, list] = ['', ''], [, element] = ['', '']] = bracketsIn(expression);
  const inside = scan(list);
  const parts = itemsIn(inside.text, inside.outline, 0).map((part) => part.expression);
  const [of = '', field = ''] = parts;
  if (expression.startsWith('(')) return { ...callOf(list.trim()), isAll: false };
  if (/^filter$/iu.test(name)) return { ...callOf(of), isAll: false };
  if (/^getField$/iu.test(name)) return { ...callOf(of), element: field, isAll: false };
  return { name, parts, element, isAll: true };
}
