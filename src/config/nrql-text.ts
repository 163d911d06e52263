/** A thing that a query selects or groups by. */
interface NrqlItem {
  /** What follows AS; `undefined` without it. */
  readonly alias: string | undefined;
  /** What stands before AS, without quotes around it. */
  readonly expression: string;
  readonly callsFunction: boolean;
  /** Where it ends in the text. */
  readonly end: number;
}

/** What a query says, as far as gauges depend on it. */
export interface NrqlText {
  /** On one line, without comments. */
  readonly text: string;
  /** The items of its clauses, by their first words in capital letters. */
  readonly clauses: ReadonlyMap<string, readonly NrqlItem[]>;
}

const quoted = String.raw`'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|${'`[^`]*`'}`;
const quotations = new RegExp(quoted, 'gsu');
/** Quoted texts and names stay as they are; comments, line ends and runs of blanks become one blank. */
const comments = new RegExp(String.raw`(${quoted})|(?:(?:--|//)[^\n]*|/\*[\s\S]*?\*/|\s)+`, 'gsu');
const innerBrackets = /[([][^()[\]]*[)\]]/gu;

/** Words that begin a clause, where no bracket is open. An attribute with such a name is in backticks. */
const clauseWords =
  /(?<![\p{L}\p{N}_.$@:])(?:SELECT|FROM|WHERE|FACET|LIMIT|SINCE|UNTIL|TIMESERIES|COMPARE WITH|WITH|ORDER|OFFSET|EXTRAPOLATE|SLIDE|SHOW|JOIN|INNER|LEFT|PREDICT)(?![\p{L}\p{N}_.$@:])/giu;

/** Reads a query as far as that takes no knowledge of its functions. */
export function readNrql(nrql: string): NrqlText {
  const text = nrql
    .replaceAll(comments, (_, quotation: string | undefined) => quotation ?? ' ')
    .trim();
  const unquoted = text.replaceAll(quotations, hidden);
  let outline = unquoted;
  for (let before = ''; before !== outline; ) {
    before = outline;
    outline = before.replaceAll(innerBrackets, hidden);
  }
  const words = [...outline.matchAll(clauseWords)];
  const clauses = words.map(({ 0: word, index }, at) => {
    const start = index + word.length;
    const items = [...outline.slice(start, words[at + 1]?.index).matchAll(/[^,]*[^, ][^,]*/gu)];
    return [
      word.toUpperCase(),
      items.map((item) => itemAt(start + item.index, item[0], { text, unquoted })),
    ] as const;
  });
  return { text, clauses: new Map(clauses) };
}

/** The same length, without anything that means something in a query. */
function hidden(text: string): string {
  return '#'.repeat(text.length);
}

function itemAt(
  start: number,
  outline: string,
  { text, unquoted }: { readonly text: string; readonly unquoted: string },
): NrqlItem {
  const [, before = outline, as = ''] = /^(.*[^ ]) AS (\S+) *$/iu.exec(outline) ?? [];
  const end = start + before.trimEnd().length;
  const aliasAt = start + outline.trimEnd().length - as.length;
  return {
    alias: as === '' ? undefined : withoutQuotes(text.slice(aliasAt, aliasAt + as.length)),
    expression: withoutQuotes(text.slice(start, end).trim()),
    callsFunction: /[\p{L}_][\p{L}\p{N}_.]* ?\(/u.test(unquoted.slice(start, end)),
    end,
  };
}

function withoutQuotes(text: string): string {
  return /^(['"`])(?:(?!\1).)*\1$/su.test(text) ? text.slice(1, -1) : text;
}
