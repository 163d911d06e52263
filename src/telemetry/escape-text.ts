import { unprintable } from '../model/line-text.ts';

/**
 * What must not reach a terminal as it is: control characters, line separators, half characters, and
 * invisible ones, such as those that turn the direction of writing. The joiners U+200C and U+200D stay,
 * because words and emoji need them.
 */
const unsafe = new RegExp(`(?![\\u200C\\u200D])[${unprintable}]`, 'gu');

/** Replaces what is unsafe on a terminal by the escape that JSON has for it. */
export function escapeUnsafe(text: string): string {
  return text.replace(unsafe, escapeOf);
}

function escapeOf(character: string): string {
  const written = JSON.stringify(character).slice(1, -1);
  if (written !== character) return written;
  return Array.from(
    { length: character.length },
    (_, index) => String.raw`\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}

/** The text in double quotes, as a JSON string without anything unsafe. */
export function quoted(text: string): string {
  return escapeUnsafe(JSON.stringify(text));
}
