import { dayMs, hourMs, minuteMs, secondMs } from './time.ts';

/** Characters that no name or label may have: they end lines, move the cursor, or are half a character. */
export const controls: string = String.raw`\p{Cc}\p{Cs}`;
/** Characters that would also hide or reorder the text around them, for a class of a regular expression. */
export const unprintable: string = String.raw`${controls}\p{Cf}\p{Zl}\p{Zp}`;

const control = new RegExp(`[${controls}]`, 'u');
const eachUnprintable = new RegExp(`[${unprintable}]`, 'gu');
const gaps = new RegExp(String.raw`[\s${unprintable}]+`, 'gu');
/** What must not reach a terminal as it is. The joiners U+200C and U+200D stay: words and emoji need them. */
const unsafe = new RegExp(String.raw`(?![\u200C\u200D])[${unprintable}]`, 'gu');
/**
 * What nobody sees on a page, but changes how others are read: controls, directions of writing, zero width,
 * separators of lines, tags, half characters. Line feeds, tabs and joiners stay.
 */
const unseen =
  /(?![\t\n])\p{Cc}|[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

/** Whether a text cannot be a name, a label or a header. */
export function holdsControl(text: string): boolean {
  return control.test(text);
}

/** The number of a character in hexadecimal digits, at least so many of them. */
function hexOf(character: string, digits: number): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(digits, '0');
}

/** Writes control characters and the like as `\u{…}`, so that a name or a message stays on one line. */
export function printable(text: string): string {
  return text.replaceAll(eachUnprintable, (character) => `\\u{${hexOf(character, 0)}}`);
}

/** Writes what is unsafe on a terminal by the escape that JSON has for it. */
export function escapeUnsafe(text: string): string {
  return text.replace(unsafe, (character) => {
    const written = JSON.stringify(character).slice(1, -1);
    if (written !== character) return written;
    return Array.from(
      { length: character.length },
      (_, index) => String.raw`\u${hexOf(character.charAt(index), 4)}`,
    ).join('');
  });
}

/** The text in double quotes, as a JSON string without anything unsafe. */
export function quoted(text: string): string {
  return escapeUnsafe(JSON.stringify(text));
}

/**
 * The text with a visible sign in place of each character that nobody can see. Fonts often lack the
 * pictures that Unicode has for control characters; they all have these.
 */
export function visibleText(text: string): string {
  return text.replace(unseen, (character) => `\u27e8U+${hexOf(character, 4).toUpperCase()}\u27e9`);
}

/** A foreign sentence on one line: a space for all that cannot be printed, and cut if it is too long. */
export function onOneLine(text: string, maxCharacters: number): string {
  return cutText(text.replaceAll(gaps, ' ').trim(), maxCharacters);
}

/** The text, or its beginning with an ellipsis if it has more characters than that. */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  // Code points, so that no pair of surrogates is torn apart.
  const characters = Array.from(text.slice(0, 2 * maxCharacters + 1));
  return characters.length <= maxCharacters
    ? text
    : `${characters.slice(0, maxCharacters - 1).join('')}\u2026`;
}

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** A whole number with commas, such as `1,204`. */
export function countText(count: number): string {
  return whole.format(count);
}

const tenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

/** A rate a minute: with one decimal as long as it matters. */
export function rateText(perMinute: number): string {
  if (perMinute > 0 && perMinute < 0.05) return '<0.1';
  return Math.abs(perMinute) < 100 ? tenths.format(perMinute) : countText(perMinute);
}

/** Two units at most, such as `2 h 5 min`: more would say nothing. */
export function durationText(durationMs: number): string {
  const ms = Math.max(0, durationMs);
  if (ms < minuteMs) return `${Math.floor(ms / secondMs)} s`;
  if (ms < 10 * minuteMs) return inUnits(ms, [minuteMs, 'min'], [secondMs, 's']);
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min`;
  if (ms < dayMs) return inUnits(ms, [hourMs, 'h'], [minuteMs, 'min']);
  return inUnits(ms, [dayMs, 'd'], [hourMs, 'h']);
}

type TimeUnit = readonly [ms: number, name: string];

function inUnits(ms: number, [largeMs, large]: TimeUnit, [smallMs, small]: TimeUnit): string {
  const rest = Math.floor((ms % largeMs) / smallMs);
  const first = `${Math.floor(ms / largeMs)} ${large}`;
  return rest === 0 ? first : `${first} ${rest} ${small}`;
}

/** A number with its noun, such as `1 account` or `2 entries`. */
export function countOf(
  count: number,
  one: string,
  many: string = `${one}s`,
  written: (count: number) => string = String,
): string {
  return `${written(count)} ${count === 1 ? one : many}`;
}

/** `804C0C13047F0000:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/…:350:` */
const opensslNoise = /[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:]*):[^:\s]*:\d+:(?:[^\n]*)\n?/gi;

/** The text with what OpenSSL says in words: without its addresses, functions and source files. */
export function withoutOpensslNoise(text: string): string {
  return text.replace(opensslNoise, (_all, reason: string) => reason).trimEnd();
}

export const repositoryUrl = 'https://github.com/newrelic-exporter/newrelic-exporter';

/** The page of the documentation for users: what is installed has no files of it. */
export function documentUrl(page: string): string {
  return `${repositoryUrl}/blob/main/docs/${page}`;
}
