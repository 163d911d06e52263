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
  const text = nrql.replaceAll(comments, (_, quotation?: string) => quotation ?? ' ').trim();
  let outline = text.replaceAll(quotations, (found) => '"'.repeat(found.length));
  for (let before = ''; before !== outline; ) {
    before = outline;
    outline = before.replaceAll(innerBrackets, (found) => '#'.repeat(found.length));
  }
  const words = [...outline.matchAll(clauseWords)];
  const clauses = words.map(({ 0: word, index }, at) => {
    const start = index + word.length;
    const items = [...outline.slice(start, words[at + 1]?.index).matchAll(/[^,]*[^, ][^,]*/gu)];
    const read = items.map((item) => itemAt(start + item.index, item[0], text));
    return [word.toUpperCase(), read] as const;
  });
  return { text, clauses: new Map(clauses) };
}

/** @param outline the item, with quotation marks for what is quoted and "#" for what is in brackets */
function itemAt(start: number, outline: string, text: string): NrqlItem {
  const [, own = outline, as = ''] = /^(.*[^ ]) AS (\S+) *$/iu.exec(outline) ?? [];
  const end = start + own.trimEnd().length;
  const alias = text.slice(end, start + outline.trimEnd().length).slice(-as.length);
  return {
    alias: as === '' ? undefined : withoutQuotes(alias),
    expression: withoutQuotes(text.slice(start, end).trim()),
    callsFunction: /(?:^|[\p{L}\p{N}_]) ?#/u.test(own),
    end,
  };
}

function withoutQuotes(text: string): string {
  return /^(['"`])(?:(?!\1).)*\1$/su.test(text) ? text.slice(1, -1) : text;
}
