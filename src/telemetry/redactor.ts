import { keyBeginning, redacted, withoutKeys } from '../model/key-text.ts';

/** Removes secrets from text. What it costs depends on the text, not on how many secrets it knows. */
export interface Redactor {
  /**
   * Registers a secret: from now on it is replaced in every text, whether plain, percent-encoded,
   * JSON-escaped or in base64, even inside a longer base64 text. So is the part of a vendor's key
   * behind its prefix. Surrounding white space is ignored. A text of fewer than four characters is
   * not registered: it would blank out ordinary words.
   */
  add(secret: string): void;
  /** Takes one `add` back: what others have added too stays. */
  forget(secret: string): void;
  /** Replaces registered secrets, everything that looks like a key, and the logins in URLs. */
  redact(text: string): string;
}

const minimumLength = 4;

/** A shorter part of a key, or piece of base64, also occurs by chance. */
const minimumPartLength = 8;

/** The login in a URL, up to the last `@` of the authority. The bound keeps matching linear. */
const urlLogin = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"'<>]+@/gi;

/** Percent-encoded once or more often, or escaped as in JSON. The bound keeps matching linear. */
const escapes = /%(?:25)*([\da-fA-F]{2})|\\{1,8}u([\da-fA-F]{4})|\\(["\\/bfnrt])/g;

type Span = readonly [start: number, end: number];

/** One form of a secret, as `inOneCase` gives it. */
interface Needle {
  readonly secret: string;
  readonly form: string;
  readonly isBase64: boolean;
}

export function createRedactor(): Redactor {
  const timesAdded = new Map<string, number>();
  /** By their last characters, since the first ones are alike in all keys. */
  const needles = new Map<number, readonly Needle[]>();

  const spansIn = (text: string): readonly Span[] => {
    const searched = inOneCase(text);
    const spans: Span[] = [];
    let tail = 0;
    for (let end = 1; end <= searched.length; end += 1) {
      tail = nextTail(tail, searched.charCodeAt(end - 1));
      for (const { form, isBase64 } of needles.get(tail) ?? []) {
        if (!searched.endsWith(form, end)) continue;
        const span: Span = [end - form.length, end];
        spans.push(isBase64 ? withSharedEnds(span, searched) : span);
      }
    }
    return spans;
  };

  const spansUnderEscapes = (text: string): readonly Span[] => {
    if (!/[%\\]/.test(text)) return [];
    const { text: copy, offsets } = unescaped(text);
    return spansIn(copy).map(
      ([start, end]): Span => [offsets[start] ?? 0, offsets[end] ?? text.length],
    );
  };

  return {
    add: (secret) => {
      const bare = secret.trim();
      const times = timesAdded.get(bare) ?? 0;
      timesAdded.set(bare, times + 1);
      if (times > 0 || bare.length < minimumLength) return;
      for (const needle of needlesOf(bare)) {
        const tail = tailOf(needle.form);
        needles.set(tail, [...(needles.get(tail) ?? []), needle]);
      }
    },
    forget: (secret) => {
      const bare = secret.trim();
      const times = timesAdded.get(bare) ?? 0;
      if (times > 1) timesAdded.set(bare, times - 1);
      if (times !== 1) return;
      timesAdded.delete(bare);
      for (const tail of needlesOf(bare).map(({ form }) => tailOf(form))) {
        const others = (needles.get(tail) ?? []).filter((needle) => needle.secret !== bare);
        if (others.length > 0) needles.set(tail, others);
        else needles.delete(tail);
      }
    },
    redact: (text) => {
      const spans = needles.size === 0 ? [] : [...spansIn(text), ...spansUnderEscapes(text)];
      return withoutKeys(without(spans, text)).replace(urlLogin, `$1${redacted}@`);
    },
  };
}

/** All forms of a secret that are searched for. */
function needlesOf(secret: string): readonly Needle[] {
  const part = secret.replace(keyBeginning, '');
  const parts = part.length < minimumPartLength ? [secret] : [secret, part];
  const plain = parts
    // In a copy without escapes, what looks like one in the secret is undone too, and bytes are single.
    .flatMap((text) => [text, unescaped(text).text])
    .flatMap((text) => [text, Buffer.from(text).toString('latin1')])
    .flatMap((text) => [text, text.replaceAll(' ', '+')])
    // What stands before it may look like the beginning of an escape, which undoes the wrong characters.
    .flatMap((text) => [
      text,
      encodeURIComponent(Buffer.from(text).toString()),
      JSON.stringify(text).slice(1, -1),
    ])
    .filter((text) => text.length >= minimumLength);
  const base64 = parts
    .flatMap((text) => base64Cores(Buffer.from(text)))
    .flatMap((core) => [core, core.replaceAll('+', '-').replaceAll('/', '_')]);
  return [
    ...Array.from(new Set(plain.map(inOneCase)), (form) => ({ secret, form, isBase64: false })),
    ...Array.from(new Set(base64.map(inOneCase)), (form) => ({ secret, form, isBase64: true })),
  ];
}

/**
 * The base64 of a text that contains the secret depends on where in a group of three bytes the
 * secret begins; each core is what does not depend on its neighbours.
 */
function base64Cores(secret: Buffer): readonly string[] {
  return [0, 1, 2]
    .map((offset) => {
      const text = Buffer.concat([Buffer.alloc(offset), secret]).toString('base64');
      const bits = (offset + secret.length) * 8;
      return text.slice(Math.ceil((offset * 8) / 6), Math.floor(bits / 6));
    })
    .filter((core) => core.length >= minimumPartLength);
}

/** With the characters at both ends that carry bits of the secret and of its neighbours. */
function withSharedEnds([start, end]: Span, text: string): Span {
  const before = /[\w+/-]?$/.exec(text.slice(Math.max(0, start - 1), start))?.[0] ?? '';
  const after = /^[\w+/-]?={0,2}/.exec(text.slice(end, end + 3))?.[0] ?? '';
  return [start - before.length, end + after.length];
}

/** In lower case, each character in its place: an İ would become two, and a Σ depends on what follows. */
function inOneCase(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase().replaceAll('\u03C2', '\u03C3');
}

/** A number for the last four characters of a text, after one more character. */
function nextTail(tail: number, code: number): number {
  return ((tail << 7) | (code & 0x7f)) & 0xfff_ffff;
}

function tailOf(text: string): number {
  let tail = 0;
  for (let index = text.length - minimumLength; index < text.length; index += 1) {
    tail = nextTail(tail, text.charCodeAt(index));
  }
  return tail;
}

/** A text with its escapes undone, and where in the original each of its characters begins. */
function unescaped(text: string): { readonly text: string; readonly offsets: Uint32Array } {
  const offsets = new Uint32Array(text.length + 1);
  let copy = '';
  const take = (plain: string, from: number): void => {
    for (let index = 0; index < plain.length; index += 1)
      offsets[copy.length + index] = from + index;
    copy += plain;
  };
  let done = 0;
  for (const { 0: escape, 1: byte, 2: unit, 3: letter, index } of text.matchAll(escapes)) {
    take(text.slice(done, index), done);
    const code = Number.parseInt(byte ?? unit ?? '', 16);
    take(
      letter === undefined ? String.fromCharCode(code) : String(JSON.parse(`"\\${letter}"`)),
      index,
    );
    done = index + escape.length;
  }
  take(text.slice(done), done);
  offsets[copy.length] = text.length;
  return { text: copy, offsets };
}

/** Replaces the spans; those that touch each other become one. */
function without(spans: readonly Span[], text: string): string {
  const shown: string[] = [];
  let done = 0;
  for (const [start, end] of spans.toSorted(([left], [right]) => left - right)) {
    if (start > done || shown.length === 0) shown.push(text.slice(done, start));
    done = Math.max(done, end);
  }
  return [...shown, text.slice(done)].join(redacted);
}
