import { redacted, withoutKeys } from '../model/key-text.ts';
import type { AccountDetails, FailingStatus } from '../model/status.ts';

/** Removes secrets from text. */
export interface Redactor {
  /**
   * Registers a secret: from now on it is replaced in every text, as it is, as in JSON and
   * percent-encoded. What is sent in another form, such as base64, is a secret of its own. Surrounding
   * white space is ignored. A text of fewer than four characters is not registered: it would blank out
   * ordinary words.
   */
  add(secret: string): void;
  /** Takes one `add` back: what others have added too stays. */
  forget(secret: string): void;
  /** Replaces registered secrets, everything that looks like a key, and the logins in URLs. */
  redact(text: string): string;
}

const minimumLength = 4;

/** The login in a URL, up to the last `@` of the authority. The bound keeps matching linear. */
const urlLogin = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"'<>]+@/gi;

export function createRedactor(): Redactor {
  const times = new Map<string, number>();
  /** `undefined` after each change, until a text is searched. */
  let known: RegExp | undefined;

  const change = (secret: string, difference: 1 | -1): void => {
    const bare = secret.trim();
    if (bare.length < minimumLength) return;
    const count = (times.get(bare) ?? 0) + difference;
    if (count > 0) times.set(bare, count);
    else times.delete(bare);
    known = undefined;
  };

  return {
    add: (secret) => change(secret, 1),
    forget: (secret) => change(secret, -1),
    redact: (text) => {
      known ??= anyOf([...times.keys()].flatMap(formsOf));
      return withoutKeys(text.replace(known, redacted)).replace(urlLogin, `$1${redacted}@`);
    },
  };
}

function formsOf(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  return [secret, json, encodeURIComponent(Buffer.from(secret).toString())];
}

/** Matches any of the texts, the longest first; nothing if there is none. Hexadecimal digits have two cases. */
function anyOf(texts: readonly string[]): RegExp {
  const inOrder = [...new Set(texts)].toSorted((left, right) => right.length - left.length);
  const quoted = inOrder.map((text) => text.replaceAll(/[$()*+./?[\\\]^{|}-]/g, '\\$&'));
  return new RegExp(quoted.join('|') || '(?!)', 'gi');
}

/** The vendor's words in an error may hold a secret. */
export function redactedAccount(account: AccountDetails, redactor: Redactor): AccountDetails {
  const { error, key, queries, failing } = account;
  const shown = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : redactor.redact(text);
  return {
    ...account,
    error: shown(error),
    failing: failing.map((one) => redactedPoll(one, redactor)),
    ...(queries && { queries: queries.map((query) => redactedPoll(query, redactor)) }),
    key: { ...key, problem: shown(key.problem) },
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
