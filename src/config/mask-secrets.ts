/** A range of offsets (UTF-16 code units) in the file's text; `end` is not part of it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** How the vendor's keys begin: user, admin and the retired REST keys. */
const keyPrefix = /^NR(?:AK|AA|RA)-/iu;

/** Keys, and credentials of a URL: they must not be shown anywhere. */
const secretPatterns: readonly RegExp[] = [
  /(?<secret>NR(?:AK|AA|RA)-\S*)/giu,
  /(?<secret>\b[0-9a-f]{36}(?:NRAL|[0-9a-f]{4,})\b)/giu,
  // Bounded: a line of many "://" would otherwise take quadratic time.
  /:\/\/(?<secret>\S{1,1000})@/giu,
];

/** In a file, also what stands behind a name for a secret, up to the end of the line. */
const assignment =
  /\b(?:api[_-]?key|license[_-]?key|user[_-]?key|key|token|password|secret)["']?[ \t]*:[ \t]*(?<secret>[^\r\n]+)/giu;

/** Whether a value is one of the vendor's keys, by the way it begins. */
export function looksLikeApiKey(text: string): boolean {
  return keyPrefix.test(text.trimStart());
}

function blank(text: string): string {
  return text.replaceAll(/[^\r\n]/gu, (character) => '*'.repeat(character.length));
}

function mask(text: string, patterns: readonly RegExp[]): string {
  return patterns.reduce(
    (masked, pattern) =>
      masked.replaceAll(pattern, (whole: string, secret: string) => {
        const at = whole.lastIndexOf(secret);
        return whole.slice(0, at) + blank(secret) + whole.slice(at + secret.length);
      }),
    text,
  );
}

/** Replaces everything in a message that may be a secret by asterisks. */
export function maskSecrets(message: string): string {
  return mask(message, secretPatterns);
}

/**
 * Replaces everything in a file's text that may be a secret by asterisks, and the given spans too.
 * Every offset keeps its meaning: the result has the same length and the same lines.
 */
export function maskSource(text: string, spans: readonly Span[] = []): string {
  const masked = mask(text, [...secretPatterns, assignment]);
  const pieces: string[] = [];
  let done = 0;
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start)) {
    if (end <= done) continue;
    const from = Math.max(start, done);
    pieces.push(masked.slice(done, from), blank(masked.slice(from, end)));
    done = end;
  }
  return pieces.join('') + masked.slice(done);
}
