import type { YAMLError } from 'yaml';
import { errorAt, type Problem } from './diagnostic.ts';
import type { Span } from './located.ts';

/** One mistake often makes the parser report every later line too. */
const mostSyntaxErrors = 20;

/** A bracket or a quote that opens a value, and where it is. */
export interface Opening {
  readonly character: string;
  readonly offset: number;
}

const columnHelp = 'begin the keys of a map, and the entries of a list, in the same column';
const separatorHelp = 'write "key: value", with a blank after the colon';

const syntaxHelp: Partial<Record<YAMLError['code'], string>> = {
  BLOCK_AS_IMPLICIT_KEY: 'put a value that holds ": " in quotes',
  TAB_AS_INDENT: 'indent with spaces',
  TAG_RESOLVE_FAILED: 'only plain values are allowed: remove the tag',
  BAD_SCALAR_START: 'put the value in quotes',
  BAD_DQ_ESCAPE: 'use single quotes, in which a backslash is an ordinary character, or write \\\\',
};

const closings: Readonly<Record<string, string>> = { '[': ']', '{': '}', '"': '"', "'": "'" };

/** The first word of the line, or of the rest of the line, at an offset. */
function wordAt(text: string, offset: number): Span {
  const start = offset + (/^[ \t]*/u.exec(text.slice(offset))?.[0].length ?? 0);
  const length = /^[^\s:]*/u.exec(text.slice(start))?.[0].length ?? 0;
  return { start, end: start + Math.max(1, length) };
}

/** The last opening of a kind before an offset that nothing has closed there. */
function openBefore(
  openings: readonly Opening[],
  character: string,
  offset: number,
): Opening | undefined {
  const open: Opening[] = [];
  for (const opening of openings) {
    if (opening.offset >= offset) break;
    if (opening.character === closings[character]) open.pop();
    else if (opening.character === character) open.push(opening);
  }
  return open.at(-1);
}

/** Something that is opened and never closed is reported where it is opened. */
function unclosed({ message, pos }: YAMLError, openings: readonly Opening[]): Problem | undefined {
  const quote = /^Missing closing (?<quote>["'])quote$/u.exec(message)?.groups?.['quote'];
  const closing = /sufficiently indented and end with a (?<closing>[\]}])$/u.exec(message)?.groups;
  if (quote !== undefined) {
    const opening = openings.findLast((one) => one.character === quote && one.offset < pos[0]);
    return opening === undefined ? undefined : withoutEnd(opening);
  }
  if (closing === undefined) return undefined;
  const opening = openBefore(openings, closing['closing'] === ']' ? '[' : '{', pos[0]);
  return opening === undefined ? undefined : withoutEnd(opening);
}

function withoutEnd({ character, offset }: Opening): Problem {
  const end = closings[character] ?? '';
  const message = `YAML: this ${character} is never closed`;
  return errorAt(
    { start: offset, end: offset + 1 },
    message,
    `write ${end} at the end of the value`,
  );
}

/** A value that goes on in the next line, where a key has too many blanks in front of it. */
function tooDeep({ pos: [start, end] }: YAMLError, text: string): Problem {
  const line = text.lastIndexOf('\n', end - 1) + 1;
  const message = 'YAML: this line is indented more than the key above it';
  return errorAt(wordAt(text, line > start ? line : start), message, columnHelp);
}

function problemOf(error: YAMLError, text: string, openings: readonly Opening[]): Problem {
  const { code, message, pos } = error;
  const [start, end] = pos;
  if (code === 'MULTILINE_IMPLICIT_KEY') {
    return errorAt(wordAt(text, start), 'YAML: there is no ": " after this key', separatorHelp);
  }
  if (/same column$|without - indicator$/u.test(message)) {
    const indented = 'YAML: this line is indented differently from those that it belongs to';
    return errorAt(wordAt(text, start), indented, columnHelp);
  }
  const raw = errorAt({ start, end }, `YAML: ${message}`, syntaxHelp[code]);
  return unclosed(error, openings) ?? raw;
}

/**
 * Says what is wrong with the syntax of a text. The parser tells of some mistakes where it notices them;
 * these are reported where they are made. `openings` are all brackets and opening quotes of the text, in
 * their order, those that close brackets too.
 */
export function syntaxProblems(
  errors: readonly YAMLError[],
  text: string,
  openings: readonly Opening[],
): readonly Problem[] {
  return errors.slice(0, mostSyntaxErrors).flatMap((error, index) => {
    // One key that is indented too deeply makes two errors at the same place.
    const next = errors[index + 1];
    const previous = errors[index - 1];
    const isSame = (other: YAMLError | undefined): boolean => other?.pos[0] === error.pos[0];
    if (error.code === 'BLOCK_AS_IMPLICIT_KEY' && next?.code === 'MULTILINE_IMPLICIT_KEY') {
      if (isSame(next)) return [tooDeep(next, text)];
    }
    if (error.code === 'MULTILINE_IMPLICIT_KEY' && isSame(previous)) return [];
    return [problemOf(error, text, openings)];
  });
}
