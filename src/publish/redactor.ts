import { keyBeginning, redacted, withoutKeys } from '../model/key-text.ts';
import type { AccountDetails, FailingStatus } from '../model/status.ts';

/** Removes secrets from text. What it costs depends on the text, not on how many secrets it knows. */
export interface Redactor {
  /**
   * Registers a secret: from now on it is replaced in every text, whether plain, percent-encoded or
   * JSON-escaped. So is the part of a vendor's key behind its prefix. What is sent in another form, such
   * as base64, is a secret of its own. Surrounding white space is ignored. A text of fewer than four
   * characters is not registered: it would blank out ordinary words.
   */
  add(secret: string): void;
  /** Takes one `add` back: what others have added too stays. */
  forget(secret: string): void;
  /** Replaces registered secrets, everything that looks like a key, and the logins in URLs. */
  redact(text: string): string;
}

const minimumLength = 4;

/** A shorter part of a key also occurs by chance. */
const minimumPartLength = 8;

/** The login in a URL, up to the last `@` of the authority. The bound keeps matching linear. */
const urlLogin = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"'<>]+@/gi;

/**
 * Escapes, percent-encoded once or more often or as in JSON, and what is between them. The bound keeps
 * matching linear.
 */
const pieces = /%(?:25)*([\da-fA-F]{2})|\\{1,8}u([\da-fA-F]{4})|\\(["\\/bfnrt])|[^%\\]+|[%\\]/g;

type Span = readonly [start: number, end: number];

/** What is searched for, by its last four characters, since the first ones are alike in all keys. */
type Forms = ReadonlyMap<string, readonly string[]>;

export function createRedactor(): Redactor {
  const added = new Map<string, { readonly times: number; readonly forms: readonly string[] }>();
  /** `undefined` after each change, until a text is searched. */
  let known: Forms | undefined;

  return {
    add: (secret) => {
      const bare = secret.trim();
      const { times, forms } = added.get(bare) ?? { times: 0, forms: formsOf(bare) };
      added.set(bare, { times: times + 1, forms });
      known = undefined;
    },
    forget: (secret) => {
      const bare = secret.trim();
      const { times, forms } = added.get(bare) ?? { times: 0, forms: [] };
      if (times > 1) added.set(bare, { times: times - 1, forms });
      else added.delete(bare);
      known = undefined;
    },
    redact: (text) => {
      known ??= byLastCharacters([...added.values()].flatMap(({ forms }) => forms));
      const spans = [...spansIn(text, known), ...spansUnderEscapes(text, known)];
      return withoutKeys(without(spans, text)).replace(urlLogin, `$1${redacted}@`);
    },
  };
}

function byLastCharacters(forms: readonly string[]): Forms {
  const byEnd = new Map<string, string[]>();
  for (const form of forms) {
    const end = form.slice(-minimumLength);
    const alike = byEnd.get(end) ?? [];
    byEnd.set(end, alike);
    alike.push(form);
  }
  return byEnd;
}

/** What a secret may look like in a text, in one case. */
function formsOf(secret: string): readonly string[] {
  if (secret.length < minimumLength) return [];
  const part = secret.replace(keyBeginning, '');
  const forms = (part.length < minimumPartLength ? [secret] : [secret, part])
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
  return [...new Set(forms.map(inOneCase))];
}

function spansIn(text: string, forms: Forms): readonly Span[] {
  const searched = inOneCase(text);
  const spans: Span[] = [];
  for (let end = minimumLength; end <= searched.length && forms.size > 0; end += 1) {
    for (const form of forms.get(searched.slice(end - minimumLength, end)) ?? []) {
      if (searched.endsWith(form, end)) spans.push([end - form.length, end]);
    }
  }
  return spans;
}

function spansUnderEscapes(text: string, forms: Forms): readonly Span[] {
  if (!/[%\\]/.test(text)) return [];
  const { text: copy, starts } = unescaped(text);
  return spansIn(copy, forms).map(([start, end]) => [starts[start] ?? 0, starts[end] ?? 0]);
}

/** In lower case, each character in its place: an İ would become two, and a Σ depends on what follows. */
function inOneCase(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase().replaceAll('\u03C2', '\u03C3');
}

/** A text with its escapes undone, and where in the original each of its characters begins, and its end. */
function unescaped(text: string): { readonly text: string; readonly starts: readonly number[] } {
  const starts: number[] = [];
  let copy = '';
  for (const { 0: piece, 1: byte, 2: unit = byte, 3: letter, index } of text.matchAll(pieces)) {
    let plain = piece;
    if (unit !== undefined) plain = String.fromCharCode(Number.parseInt(unit, 16));
    if (letter !== undefined) plain = String(JSON.parse(`"${piece}"`));
    for (let offset = 0; offset < plain.length; offset += 1) starts.push(index + offset);
    copy += plain;
  }
  starts.push(text.length);
  return { text: copy, starts };
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

/** The vendor's words in an error may hold a secret. */
export function redactedError(text: string | undefined, redactor: Redactor): string | undefined {
  return text === undefined ? undefined : redactor.redact(text);
}

export function redactedAccount(account: AccountDetails, redactor: Redactor): AccountDetails {
  const { error, key, queries, failing } = account;
  return {
    ...account,
    error: redactedError(error, redactor),
    failing: failing.map((one) => redactedPoll(one, redactor)),
    ...(queries && { queries: queries.map((query) => redactedPoll(query, redactor)) }),
    key: { ...key, problem: redactedError(key.problem, redactor) },
  };
}

/** Its message is redacted only once it is read: a page shows 200 of ten thousand. */
export function redactedPoll<One extends FailingStatus>(one: One, redactor: Redactor): One {
  if (one.failure === undefined) return one;
  const { message, ...rest } = one.failure;
  const failure = {
    ...rest,
    get message() {
      return redactor.redact(message);
    },
  };
  return { ...one, failure };
}
