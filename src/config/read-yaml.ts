import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  Parser,
  Scalar,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { errorAt, type Problem } from './diagnostic.ts';
import { describe, type FileMap, isFileMap, type Span, spanOf } from './yaml-node.ts';

/** Deeper files exhaust the stack of the YAML package, which may end the process. */
const deepestNesting = 50;
/** The limit of values behind aliases: far more than people write, far less than in a bomb. */
const mostAliasedValues = 100_000;
/** A map is searched from its beginning, which is quick only while it is small. */
const mostKeys = 1000;
/** One mistake often makes the parser report every later line too. */
const mostSyntaxErrors = 20;

/** `root` is only defined if there are no problems. */
export interface ReadYaml {
  readonly root: FileMap | undefined;
  readonly problems: readonly Problem[];
}

function failed(...problems: readonly Problem[]): ReadYaml {
  return { root: undefined, problems };
}

/** The document and a scalar value take a place in the parser's stack, too. */
const deepestStack = deepestNesting + 2;

/**
 * The tokens of a text, or the problem as soon as it is nested too deeply: to compose a million
 * brackets ends the process, whatever is caught.
 */
function tokensOf(text: string): readonly CST.Token[] | Problem {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    const start = parser.offset;
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > deepestStack) {
      const message = `values are nested more than ${deepestNesting} deep`;
      return errorAt({ start, end: start + Math.max(1, lexeme.length) }, message);
    }
  }
  tokens.push(...parser.end());
  return tokens;
}

const columnHelp = 'begin the keys of a map, and the entries of a list, in the same column';

const syntaxHelp: Partial<Record<YAMLError['code'], string>> = {
  BAD_DQ_ESCAPE: 'use single quotes, in which a backslash is an ordinary character, or write \\\\',
  BAD_INDENT: `${columnHelp}, and close every bracket`,
  BAD_SCALAR_START: 'put the value in quotes',
  BLOCK_AS_IMPLICIT_KEY: `put a value that holds ": " in quotes, and ${columnHelp}`,
  MISSING_CHAR: `close every quote and bracket, and ${columnHelp}`,
  MULTILINE_IMPLICIT_KEY: 'write "key: value", with a blank after the colon',
  TAB_AS_INDENT: 'indent with spaces',
  TAG_RESOLVE_FAILED: 'only plain values are allowed: remove the tag',
};

function syntaxProblems(errors: readonly YAMLError[]): readonly Problem[] {
  return errors
    .filter(({ pos }, index) => pos[0] !== errors[index - 1]?.pos[0])
    .slice(0, mostSyntaxErrors)
    .map(({ code, message, pos: [start, end] }) =>
      errorAt({ start, end }, `YAML: ${message}`, syntaxHelp[code]),
    );
}

/** A node that is ready, and how many values it stands for: itself, and those in it. */
interface Ready {
  readonly node: Node;
  readonly size: number;
}

/**
 * Makes the nodes of a document ready for everything that follows: puts what they stand for in the
 * place of aliases, gives a place to values that are not written, and reports keys that nothing can
 * be read under.
 */
class Preparation {
  readonly problems: Problem[] = [];
  readonly #anchors = new Map<string, Ready>();
  #aliasedValues = 0;

  /** `around` is the place of a value that is not written. */
  node(node: unknown, around: Span): Ready {
    if (isAlias(node)) return this.#target(node.source, spanOf(node));
    const ready = isMap(node) || isSeq(node) || isScalar(node) ? node : new Scalar(null);
    const { start, end } = spanOf(ready);
    if (start === end) ready.range = [around.start, around.end, around.end];
    const found = { node: ready, size: this.#within(ready) };
    if (ready.anchor !== undefined) this.#anchors.set(ready.anchor, found);
    return found;
  }

  #report(span: Span, message: string, help?: string): void {
    this.problems.push(errorAt(span, message, help));
  }

  #within(node: Scalar | YAMLMap | YAMLSeq): number {
    if (isMap(node)) return this.#map(node);
    if (isScalar(node)) {
      // The others stay bigints: ids of applications must be exact.
      const number = typeof node.value === 'bigint' ? Number(node.value) : Number.NaN;
      if (Number.isSafeInteger(number)) node.value = number;
      return 1;
    }
    const items = node.items.map((item) => this.node(item, spanOf(node)));
    node.items = items.map((item) => item.node);
    return items.reduce((sum, item) => sum + item.size, 1);
  }

  #map(map: YAMLMap): number {
    const keys = new Set<string>();
    let size = 1;
    for (const pair of map.items) {
      const { key } = pair;
      const name = isScalar(key) ? nameOf(key) : undefined;
      const place = isScalar(key) || isMap(key) || isSeq(key) ? spanOf(key) : spanOf(map);
      if (!isScalar(key) || name === undefined || name === '__proto__') {
        this.#report(place, 'a key must be a plain name');
        continue;
      }
      if (keys.has(name)) this.#report(place, `duplicate key "${name}"`);
      keys.add(name);
      key.value = name;
      if (key.anchor !== undefined) this.#anchors.set(key.anchor, { node: key, size: 1 });
      const value = this.node(pair.value, place);
      pair.value = value.node;
      size += value.size;
    }
    if (keys.size > mostKeys) this.#report(spanOf(map), `a map has more than ${mostKeys} keys`);
    return size;
  }

  #target(name: string, span: Span): Ready {
    const nothing = { node: new Scalar(null), size: 1 };
    const target = this.#anchors.get(name);
    if (target === undefined) {
      const help = `put a text that begins with * in quotes; for an alias, "&${name}" must come before it`;
      this.#report(span, `the alias "*${name}" stands for nothing`, help);
      return nothing;
    }
    const before = this.#aliasedValues;
    this.#aliasedValues += target.size;
    if (this.#aliasedValues <= mostAliasedValues) return target;
    // Reported once: every later alias would only repeat the problem.
    if (before <= mostAliasedValues) {
      this.#report(span, `the aliases stand for more than ${mostAliasedValues} values`);
    }
    return nothing;
  }
}

/** A key such as `1` or `true` counts as the text that is written. */
function nameOf(key: Scalar): string {
  return typeof key.value === 'string' ? key.value : (key.source ?? 'null');
}

function severalDocuments(second: Document.Parsed): Problem {
  const start = second.range[0];
  const help = 'keep one document: remove the line "---" and what follows it';
  return errorAt({ start, end: start + 3 }, 'the file holds several documents', help);
}

function readDocument(document: Document.Parsed, needs: string | undefined): ReadYaml {
  const contents: unknown = document.contents;
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    if (needs === undefined) return { root: document.createNode({}), problems: [] };
    return failed(errorAt(undefined, 'the file is empty', `it needs at least "${needs}"`));
  }
  const preparation = new Preparation();
  const { node: root } = preparation.node(contents, { start: 0, end: 1 });
  if (preparation.problems.length > 0) return failed(...preparation.problems);
  if (isFileMap(root)) return { root, problems: [] };
  const key = needs === undefined ? '' : ` with the key "${needs}"`;
  return failed(errorAt(spanOf(root), `the file must be a map${key}, not ${describe(root)}`));
}

/**
 * Parses YAML into the nodes of the YAML package, with their places.
 *
 * @param needs the key that the file must have; `undefined` if it may be empty
 */
export function readYaml(text: string, needs: string | undefined): ReadYaml {
  const tokens = tokensOf(text);
  if ('message' in tokens) return failed(tokens);
  const composer = new Composer({
    prettyErrors: false,
    intAsBigInt: true,
    // The package would compare every key with every other.
    uniqueKeys: false,
    resolveKnownTags: false,
  });
  const [document, second] = composer.compose(tokens, true, text.length);
  const issues = [...(document?.errors ?? []), ...(document?.warnings ?? [])];
  if (document === undefined || issues.length > 0) return failed(...syntaxProblems(issues));
  return second === undefined ? readDocument(document, needs) : failed(severalDocuments(second));
}
