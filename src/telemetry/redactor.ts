/** Removes secrets from text. */
export interface Redactor {
  /**
   * Registers a secret: from now on it is replaced in every text, whether plain, percent-encoded,
   * JSON-escaped or in base64, even inside a longer base64 text. Surrounding white space is ignored.
   * A text of fewer than four characters is not registered: it would blank out ordinary words.
   */
  add(secret: string): void;
  /** Replaces registered secrets, everything that looks like a key, and the logins in URLs. */
  redact(text: string): string;
}

/** Replaces a secret. */
export const redacted = '[redacted]';

const minimumLength = 4;

/** A shorter piece of base64 also occurs by chance. */
const minimumBase64Length = 8;

/** A New Relic user key, registered or not. */
const userKey = /NRAK-[a-z0-9]+/gi;

/** The login in a URL, up to the last `@` of the authority. The bound keeps matching linear. */
const urlLogin = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"'<>]+@/gi;

export function createRedactor(): Redactor {
  const secrets = new Set<string>();
  let pattern: RegExp | undefined;

  return {
    add: (secret) => {
      const bare = secret.trim();
      if (bare.length < minimumLength || secrets.has(bare)) return;
      secrets.add(bare);
      // The longest first: a secret that begins with another one must be replaced as a whole.
      const longestFirst = [...secrets].toSorted((a, b) => b.length - a.length);
      pattern = new RegExp(longestFirst.flatMap(patternsOf).join('|'), 'gi');
    },
    redact: (text) => {
      const known = pattern === undefined ? text : text.replace(pattern, redacted);
      return known.replace(userKey, redacted).replace(urlLogin, `$1${redacted}@`);
    },
  };
}

function patternsOf(secret: string): readonly string[] {
  const plain = Array.from(secret, characterPattern).join('');
  return [plain, ...base64Patterns(Buffer.from(secret))];
}

/** Matches one character: plain, percent-encoded once or more often, or escaped as in JSON. */
function characterPattern(character: string): string {
  const percentEncoded = Array.from(
    Buffer.from(character),
    (byte) => `%(?:25)*${byte.toString(16).padStart(2, '0')}`,
  ).join('');
  const unicodeEscape = Array.from(
    { length: character.length },
    (_, index) => `\\\\+u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
  const jsonEscaped = JSON.stringify(character).slice(1, -1);
  const forms = [escapeRegExp(character), percentEncoded, unicodeEscape, escapeRegExp(jsonEscaped)];
  if (character === ' ') forms.push('\\+');
  // The longest first: `\\` must not match as `\` followed by something else.
  const distinct = [...new Set(forms)].toSorted((a, b) => b.length - a.length);
  return `(?:${distinct.join('|')})`;
}

/**
 * The base64 of a text that contains the secret depends on where in a group of three bytes the
 * secret begins, and the characters at both ends also carry bits of its neighbours.
 */
function base64Patterns(secret: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bits = (offset + secret.length) * 8;
    const text = Buffer.concat([Buffer.alloc(offset), secret]).toString('base64');
    const core = text.slice(Math.ceil((offset * 8) / 6), Math.floor(bits / 6));
    if (core.length < minimumBase64Length) return [];
    const anyAlphabet = core.replaceAll('+', '[+-]').replaceAll('/', '[/_]');
    const shared = '[a-z0-9+/_-]?';
    const before = offset === 0 ? '' : shared;
    const after = bits % 6 === 0 ? '' : `${shared}={0,2}`;
    return [`${before}${anyAlphabet}${after}`];
  });
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
