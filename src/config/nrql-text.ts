/** A part of the text of a query. */
export interface TextPart {
  readonly at: number;
  readonly length: number;
}

/** A thing that a query selects, groups by or is from. */
export interface NrqlItem extends TextPart {
  /** What follows AS, without quotes; `undefined` without it. */
  readonly alias: string | undefined;
  /** What stands before AS. */
  readonly expression: string;
  /** Whether that is the name of something, as it is or in backticks. */
  readonly isName: boolean;
}

interface NrqlClause extends TextPart {
  /** Its first words, in capital letters. */
  readonly words: string;
  readonly items: readonly NrqlItem[];
}

/** What nobody can read in a query, and what helps. */
interface NrqlFault extends TextPart {
  /** A predicate. */
  readonly message: string;
  readonly help: string;
}

/** What a query says, as far as gauges depend on it. */
export interface NrqlText {
  /** As written, but on one line, with blanks for comments, and without blanks at its end. */
  readonly text: string;
  /** By their words; the last of several. */
  readonly clauses: ReadonlyMap<string, NrqlClause>;
  readonly faults: readonly NrqlFault[];
  /** Whether it cannot be told where its clauses begin. */
  readonly isBroken: boolean;
}

/** An expression that is a function of something and nothing else, such as `max(duration)`. */
export interface NrqlCall {
  readonly name: string;
  readonly arguments: readonly string[];
  /** What stands behind it in square brackets; '' if nothing does. */
  readonly element: string;
}

/** Quoted texts and names, comments and blanks. A group is there for the end of one that is not closed. */
const lexemes =
  /(['"])(?:\\.|(?!\1)[^\\])*(?:\1|(\\?$))|`[^`]*(?:`|($))|(?:--|\/\/)[^\n]*|\/\*.*?(?:\*\/|($))|\s/gsu;
const quote = /^['"`]/u;

const clauseStart = String.raw`(?:SELECT|FROM|WHERE|FACET|LIMIT|SINCE|UNTIL|TIMESERIES|COMPARE +WITH|WITH|ORDER +BY|OFFSET|EXTRAPOLATE|SLIDE +BY|SHOW(?= +EVENT)|(?:INNER +|LEFT +)?JOIN(?= *\()|PREDICT)(?![\p{L}\p{N}_.$@:])`;
/** Words that begin a clause, where no bracket is open. An attribute with such a name is in backticks. */
const clauseWords = new RegExp(String.raw`(?<![\p{L}\p{N}_.$@:])${clauseStart}`, 'giu');
/** A word that goes on behind a quoted text. Operators and clauses may follow without a blank. */
const wordGoesOn = new RegExp(
  String.raw`^(?!(?:AND|OR|AS|IN|IS|NOT|R?LIKE)\b|${clauseStart})[\p{L}\p{N}]`,
  'iu',
);
const bareName = /^(?:[\p{L}_@$][\p{L}\p{N}_.:@$]*|`[^`]*`)$/u;
const bracketed = /(?:(?<![\p{L}\p{N}_])([\p{L}_][\p{L}\p{N}_]*) *(?=\())?[([{](#*)[)\]}]/gu;
const wholeCall = /^([\p{L}_][\p{L}\p{N}_]*) *\((#*)\) *(?:\[(#*)\])?$/u;
/** Each part of a list. */
const between = /(?<=^|,)[^,]*/gu;
const notFunctions = /^(?:and|or|not|in|is|like|rlike|as|where|select|from|on|cases)$/iu;

/** What is wrong wherever it stands outside of quoted texts, or in the second list, anywhere. */
const mistakes: readonly (readonly [form: RegExp, message: string, help: string])[] = [
  [/[‘’“”„]/u, 'has curly quotes', "write straight quotes: '"],
  [/;/u, 'has a semicolon', 'remove it: the text is one query'],
];
const variable = /\{\{[\p{L}\p{N}_.: -]+\}\}|\$\{[\p{L}\p{N}_.:-]+\}/u;
const examples: ReadonlyMap<string, string> = new Map(
  ['SELECT count(*)', 'FROM Transaction', 'WHERE error IS TRUE', 'FACET host', 'LIMIT 100'].map(
    (example) => [example.replace(/ .*/u, ''), example] as const,
  ),
);
const mayBeEmpty: ReadonlySet<string> = new Set(['EXTRAPOLATE', 'TIMESERIES', 'PREDICT']);

/** Reads a query as far as that takes no knowledge of its functions. */
export function readNrql(written: string): NrqlText {
  const text = written
    .replaceAll(lexemes, (found) => (quote.test(found) ? found : ' '.repeat(found.length)))
    .trimEnd();
  const masked = mask(written);
  const { outline, unmatched } = outlineOf(masked);
  const broken = [...brokenAt(written), ...unmatched.map((at) => bracketFault(masked, at))];
  const words = [...outline.matchAll(clauseWords)];
  const clauses = words.map(({ 0: word, index: at }, order): NrqlClause => {
    const start = at + word.length;
    const pieces = outline.slice(start, words[order + 1]?.index).matchAll(between);
    const items = Array.from(pieces, (piece) => itemAt(start + piece.index, piece[0], text));
    return { at, length: word.length, words: word.toUpperCase().replaceAll(/ +/gu, ' '), items };
  });
  const faults = [...broken.slice(0, 1), ...mistakesIn(text, masked)];
  return {
    text,
    clauses: new Map(clauses.map((clause) => [clause.words, clause])),
    faults: broken.length > 0 ? faults : [...faults, ...clauseFaults(clauses)],
    isBroken: broken.length > 0,
  };
}

/** Quotation marks in the place of all that is quoted, and blanks in that of comments. */
function mask(text: string): string {
  return text.replaceAll(lexemes, (found) => (quote.test(found) ? '"' : ' ').repeat(found.length));
}

/** "#" in the place of all that is in brackets, and the brackets that have no other end. */
function outlineOf(masked: string): {
  readonly outline: string;
  readonly unmatched: readonly number[];
} {
  const open: number[] = [];
  const wrong: number[] = [];
  const outline = masked.replaceAll(/./gsu, (char, at: number) => {
    if (')]}'.includes(char)) {
      const begin = masked[open.pop() ?? masked.length] ?? '';
      if (begin === '' || '([{'.indexOf(begin) !== ')]}'.indexOf(char)) wrong.push(at);
    }
    const shown = open.length === 0 ? char : '#'.repeat(char.length);
    if ('([{'.includes(char)) open.push(at);
    return shown;
  });
  return { outline, unmatched: [...wrong, ...open] };
}

function* brokenAt(written: string): Iterable<NrqlFault> {
  for (const { 0: found, 1: isText, 2: text, 3: name, 4: comment, index: at } of written.matchAll(
    lexemes,
  )) {
    const what = quote.exec(found)?.[0];
    const end = at + found.length;
    if (isText !== undefined && wordGoesOn.test(written.slice(end))) {
      const help = "write \\' for one that belongs to the text, as in 'it\\'s'";
      yield { at: end - 1, length: 1, message: 'has a quote within a text', help };
    }
    if ((text ?? name ?? comment) === undefined) continue;
    const message = `has a ${what === undefined ? 'comment' : 'quote'} that is not closed`;
    const help = `write ${what ?? '*/'} where it ends`;
    yield { at, length: what === undefined ? 2 : 1, message, help };
  }
}

function bracketFault(masked: string, at: number): NrqlFault {
  const bracket = masked[at] ?? '';
  const other = ')]}([{'['([{)]}'.indexOf(bracket)] ?? '';
  const message = `has "${bracket}" without "${other}"`;
  const help = `write the missing "${other}", or remove "${bracket}"`;
  return { at, length: 1, message, help };
}

function* mistakesIn(text: string, masked: string): Iterable<NrqlFault> {
  for (const [form, message, help] of mistakes) {
    const { 0: found = '', index: at = 0 } = form.exec(masked) ?? {};
    if (found !== '') yield { at, length: found.length, message, help };
  }
  const { 0: found = '', index: at = 0 } = variable.exec(text) ?? {};
  const message = `has the variable ${found}, which nothing replaces here`;
  const help = 'write the value itself';
  if (found !== '') yield { at, length: found.length, message, help };
}

function* clauseFaults(clauses: readonly NrqlClause[]): Iterable<NrqlFault> {
  for (const [order, { at, length, words, items }] of clauses.entries()) {
    const example = examples.get(words);
    const [first] = items;
    if (mayBeEmpty.has(words)) continue;
    const isEmpty = items.every(({ expression }) => expression === '');
    const isNumber = /^(?:\d+|MAX)\b/iu.test(first?.expression ?? '');
    const isAgain = clauses.findIndex((one) => one.words === words) < order;
    const help = `write what belongs there, such as ${example ?? `${words} ...`}`;
    if (isEmpty) yield { at, length, message: `has nothing behind ${words}`, help };
    else if (items.some(({ expression }) => expression === ''))
      yield { at, length, message: `has a comma too many in ${words}`, help: 'remove it' };
    else if (words === 'LIMIT' && !isNumber)
      yield { at, length, message: 'has no number behind LIMIT', help };
    if (isAgain && example !== undefined && words !== 'WHERE')
      yield { at, length, message: `has ${words} twice`, help: 'keep one of them' };
  }
}

/** @param outline the item, with quotation marks for what is quoted and "#" for what is in brackets */
function itemAt(start: number, outline: string, text: string): NrqlItem {
  const [, own = outline, as = ''] = /^(.*\S) +AS +(\S+) *$/iu.exec(outline) ?? [];
  const at = start + own.length - own.trimStart().length;
  const end = start + own.trimEnd().length;
  const alias = text.slice(end, start + outline.trimEnd().length).slice(-as.length);
  const expression = text.slice(at, end);
  return {
    at,
    length: Math.max(0, end - at),
    alias: as === '' ? undefined : withoutQuotes(alias),
    expression,
    isName: bareName.test(expression),
  };
}

/** A name as New Relic has it. */
export function withoutQuotes(text: string): string {
  return /^(['"`])(?:(?!\1).)*\1$/su.test(text) ? text.slice(1, -1) : text.replaceAll(/ +/gu, ' ');
}

/** The outermost brackets of an expression, with the function that they belong to; '' without one. */
export function bracketsIn(expression: string): readonly (readonly [name: string, of: string])[] {
  const { outline } = outlineOf(mask(expression));
  return Array.from(
    outline.matchAll(bracketed),
    ({ 0: whole, 1: name = '', 2: of = '', index }) => {
      const end = index + whole.length - 1;
      return [notFunctions.test(name) ? '' : name, expression.slice(end - of.length, end)];
    },
  );
}

/** Reads an expression that is one function of something, perhaps in brackets. */
export function callOf(expression: string): NrqlCall | undefined {
  const { outline } = outlineOf(mask(expression));
  if (/^\(#*\)$/u.test(outline)) return callOf(expression.slice(1, -1).trim());
  const [, name, of = '', element = ''] = wholeCall.exec(outline) ?? [];
  if (name === undefined || notFunctions.test(name)) return undefined;
  const start = outline.indexOf('(') + 1;
  const list = expression.slice(start, start + of.length);
  const parts = outlineOf(mask(list)).outline.matchAll(between);
  return {
    name,
    arguments: Array.from(parts, ({ 0: { length }, index }) =>
      list.slice(index, index + length).trim(),
    ),
    element: element === '' ? '' : expression.slice(-1 - element.length, -1),
  };
}
