import { keysInFile } from '../model/key-text.ts';
import type { Span } from './yaml-node.ts';

/** Keys, and credentials in URLs: they must never be shown. */
const secretPatterns: readonly RegExp[] = [
  ...keysInFile.map((key) => new RegExp(`(?<secret>${key})`, 'giu')),
  // Bounded: a line of many "://" would otherwise take quadratic time.
  /:\/\/(?<secret>\S{1,1000})@/giu,
  /(?<secret>[^\s:/@"']{1,100}:[^\s/@]{1,100})@/giu,
];

/** In a file also the text after the name of a secret, up to the end of the line. */
const assignment =
  /(?:\b|_)(?:api[_-]?key|license[_-]?key|user[_-]?key|key|token|password|secret|proxy[_-]?url)["']?[ \t]*:[ \t]*(?<secret>[^\r\n]+)/giu;

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

/** Replaces everything that may be a secret in a message with asterisks. */
export function maskSecrets(message: string): string {
  return mask(message, secretPatterns);
}

/**
 * Replaces everything that may be a secret in the text of a file with asterisks, and the given spans
 * too. The result has the same length and the same lines, so that every offset stays valid.
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
