const digits = /^\d{1,32}$/;

/**
 * Whether the text is an id of the vendor: decimal digits and nothing else. Only such a text may
 * become part of a path. The vendor's longest known id has 10 digits; 32 leave room and keep a
 * URL short.
 */
export function isEntityId(text: string): boolean {
  return digits.test(text);
}

/**
 * The id in a member of an answer, as the decimal string that the model uses; `undefined` when the
 * value is none. A number beyond 2^53 is none: its last digits are already lost.
 */
export function entityIdOf(value: unknown): string | undefined {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined;
  }
  return typeof value === 'string' && isEntityId(value) ? value : undefined;
}
