/**
 * A strict reader of the Prometheus text format 0.0.4 and of OpenMetrics 1.0, independent of the code
 * that writes them.
 */

export interface ParsedSample {
  readonly name: string;
  /** In the order of the line. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly value: number;
}

export interface ParsedFamily {
  readonly name: string;
  readonly help: string | undefined;
  readonly type: string;
  readonly samples: readonly ParsedSample[];
}

interface OpenFamily extends ParsedFamily {
  readonly samples: ParsedSample[];
}

const rawControl = /(?!\n)\p{Cc}/u;
const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*/;
const labelValue = /^[^"\\]*(?:\\.[^"\\]*)*/u;
const decimal = /^[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)$|^Na[nN]$/;
const suffixes: Readonly<Record<string, readonly string[]>> = {
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

interface Dialect {
  /** The types, with the endings of their samples' names. */
  readonly suffixes: Readonly<Record<string, readonly string[]>>;
  /** What a backslash may come before in a help text. */
  readonly helpEscapes: string;
  /** What a help text may hold only after a backslash. */
  readonly escapedInHelp: string;
  /** Whether blank lines are allowed. */
  readonly hasBlankLines: boolean;
  readonly bound: RegExp;
}

const textFormat: Dialect = {
  suffixes: { ...suffixes, counter: [''], untyped: [''] },
  helpEscapes: '\\n',
  escapedInHelp: '',
  hasBlankLines: true,
  bound: /^/,
};
const openMetrics: Dialect = {
  suffixes: { ...suffixes, counter: ['_total'], unknown: [''] },
  helpEscapes: '\\n"',
  escapedInHelp: '"',
  hasBlankLines: false,
  bound: /^(?:\d+\.\d+|\+Inf)$/,
};
const escapes: Readonly<Record<string, string>> = { '\\': '\\', '"': '"', n: '\n' };

/** Walks along one line. */
class Cursor {
  readonly #line: string;
  #rest: string;

  constructor(line: string) {
    this.#line = line;
    this.#rest = line;
  }

  fail(expected: string): Error {
    const column = this.#line.length - this.#rest.length + 1;
    return new Error(`Expected ${expected} in column ${column} of: ${this.#line}`);
  }

  match(pattern: RegExp, expected: string): string {
    const found = pattern.exec(this.#rest)?.[0];
    if (found === undefined) throw this.fail(expected);
    this.#rest = this.#rest.slice(found.length);
    return found;
  }

  accept(text: string): boolean {
    if (!this.#rest.startsWith(text)) return false;
    this.#rest = this.#rest.slice(text.length);
    return true;
  }

  expect(text: string): void {
    if (!this.accept(text)) throw this.fail(JSON.stringify(text));
  }

  remaining(): string {
    const rest = this.#rest;
    this.#rest = '';
    return rest;
  }
}

function unescape(text: string, allowed: string): string {
  if (!text.includes('\\')) return text;
  return text.replaceAll(/\\(.?)/gu, (_, character: string) => {
    const meaning = escapes[character];
    if (meaning === undefined || !allowed.includes(character)) {
      throw new Error(`Unknown escape \\${character} in: ${text}`);
    }
    return meaning;
  });
}

function parseValue(text: string): number {
  if (!decimal.test(text)) throw new Error(`Not a value, or something after it: ${text}`);
  return Number(text.replace('Inf', 'Infinity').replace('Nan', 'NaN'));
}

function parseLabels(cursor: Cursor): readonly (readonly [string, string])[] {
  const labels: (readonly [string, string])[] = [];
  if (!cursor.accept('{')) return labels;
  do {
    const name = cursor.match(labelName, 'a label name');
    if (labels.some(([other]) => other === name)) throw cursor.fail(`${name} only once`);
    cursor.expect('="');
    labels.push([name, unescape(cursor.match(labelValue, 'a label value'), '\\"n')]);
    cursor.expect('"');
  } while (cursor.accept(','));
  cursor.expect('}');
  return labels;
}

/** The same for a series whose labels stand in another order. */
function keyOf(name: string, labels: ParsedSample['labels']): string {
  const pairs = labels.map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return `${name} ${pairs.toSorted().join()}`;
}

class Reader {
  readonly families: OpenFamily[] = [];
  readonly #dialect: Dialect;
  readonly #seen = new Set<string>();
  /** What the samples of the last family may be called. */
  #names: readonly string[] = [];
  #help: { readonly name: string; readonly text: string } | undefined;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  read(line: string): void {
    if (line === '' && this.#dialect.hasBlankLines) return;
    const cursor = new Cursor(line);
    if (cursor.accept('# HELP ')) this.#readHelp(cursor);
    else if (cursor.accept('# TYPE ')) this.#readType(cursor);
    else this.#readSample(cursor);
  }

  end(): void {
    if (this.#help !== undefined) throw new Error(`HELP without TYPE: ${this.#help.name}`);
  }

  #readHelp(cursor: Cursor): void {
    this.end();
    const name = cursor.match(metricName, 'a metric name');
    cursor.expect(' ');
    const { helpEscapes, escapedInHelp } = this.#dialect;
    const text = cursor.remaining();
    if (escapedInHelp !== '' && /(?<!\\)"/u.test(text)) throw new Error(`Raw quotes in: ${text}`);
    this.#help = { name, text: unescape(text, helpEscapes) };
  }

  #readType(cursor: Cursor): void {
    const name = cursor.match(metricName, 'a metric name');
    cursor.expect(' ');
    const type = cursor.remaining();
    const endings = this.#dialect.suffixes[type];
    if (endings === undefined) throw new Error(`Unknown type ${type} of ${name}`);
    if (this.families.some((family) => family.name === name)) {
      throw new Error(`The family ${name} appears twice`);
    }
    if (this.#help !== undefined && this.#help.name !== name) throw new Error(`No TYPE of ${name}`);
    this.families.push({ name, help: this.#help?.text, type, samples: [] });
    this.#names = endings.map((ending) => name + ending);
    this.#help = undefined;
  }

  #readSample(cursor: Cursor): void {
    this.end();
    const name = cursor.match(metricName, 'a metric name');
    const family = this.families.at(-1);
    if (family === undefined || !this.#names.includes(name)) {
      throw cursor.fail(`a sample of ${family?.name ?? 'a family'}, not of ${name}`);
    }
    const labels = parseLabels(cursor);
    const bound = labels.find(([label]) => label === 'le')?.[1];
    if (bound !== undefined && !this.#dialect.bound.test(bound))
      throw cursor.fail(`no le ${bound}`);
    cursor.expect(' ');
    const key = keyOf(name, labels);
    if (this.#seen.has(key)) throw new Error(`The series appears twice: ${key}`);
    this.#seen.add(key);
    family.samples.push({ name, labels, value: parseValue(cursor.remaining()) });
  }
}

function textOf(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  if (rawControl.test(text)) throw new Error('The page holds a raw control character');
  if (text !== '' && !text.endsWith('\n')) throw new Error('The last line has no end');
  return text;
}

/**
 * Parses a whole page.
 *
 * @throws {Error} for anything malformed, invalid UTF-8, raw control characters, a family in two
 * places, a series that appears twice, and sample timestamps, which this exporter never writes.
 */
export function parseExposition(bytes: Uint8Array): readonly ParsedFamily[] {
  const reader = new Reader(textFormat);
  for (const line of textOf(bytes).split('\n')) reader.read(line);
  reader.end();
  return reader.families;
}

const endOfPage = '# EOF\n';

/** Parses a whole page in OpenMetrics. Throws as `parseExposition` does, and without `# EOF` at the end. */
export function parseOpenMetrics(bytes: Uint8Array): readonly ParsedFamily[] {
  const text = textOf(bytes);
  if (!text.endsWith(endOfPage)) throw new Error('The page does not end with # EOF');
  const reader = new Reader(openMetrics);
  const lines = text.slice(0, -endOfPage.length).split('\n').slice(0, -1);
  for (const line of lines) reader.read(line);
  reader.end();
  return reader.families;
}
