import { createHash } from 'node:crypto';

const maxCodePoints = 256;
const hashDigits = 12;
const replacement = '\u{FFFD}';

const printableAscii = /^[\x20-\x7E]*$/;
/** Control characters, lone surrogates, and the marks that reorder the text around them. */
const unsafe = /[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]/gu;

/**
 * Makes a label value of a foreign text. One unsafe character could spoil the whole scrape, or the
 * terminal that shows it: each is replaced by U+FFFD. A text of more than 256 code points is cut and
 * ends in a hash of the whole, so that two long texts that differ stay different.
 */
export function labelValueOf(text: string): string {
  if (text.length <= maxCodePoints && printableAscii.test(text)) return text;
  return capped(text).replace(unsafe, replacement);
}

/** Whether rendered labels may hold a value that `labelValueOf` altered: there is no false negative. */
export function mayBeAltered(labels: string): boolean {
  return labels.length >= maxCodePoints || labels.includes(replacement);
}

function capped(text: string): string {
  if (offsetAfter(text, maxCodePoints) === text.length) return text;
  // UTF-16 keeps lone surrogates apart; in UTF-8 they would all hash alike.
  const digest = createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('hex');
  const kept = text.slice(0, offsetAfter(text, maxCodePoints - hashDigits - 1));
  return `${kept}~${digest.slice(0, hashDigits)}`;
}

/** The offset after the first `count` code points, in UTF-16 code units. */
function offsetAfter(text: string, count: number): number {
  let offset = 0;
  for (let index = 0; index < count && offset < text.length; index += 1) {
    offset += (text.codePointAt(offset) ?? 0) > 0xff_ff ? 2 : 1;
  }
  return offset;
}

/** Labels in the order in which they are printed. */
export type Labels = readonly (readonly [name: string, value: string])[];

/** One series of a family: its labels as `renderLabels` gives them, and its value. */
export interface Sample {
  /** Those of its host, which are printed first; empty for none. */
  readonly host?: string;
  readonly labels: string;
  readonly value: number;
}

/** Rendered labels that all series of a family share, printed before and after their own. */
export interface SharedLabels {
  readonly before: string;
  readonly after: string;
}

const needsEscape = /["\\]/g;

/** Labels of any texts as they are printed between the braces, such as `a="1",b="2"`; empty for none. */
export function renderLabels(labels: Labels): string {
  let text = '';
  for (const [name, value] of labels) {
    const escaped = labelValueOf(value).replaceAll(needsEscape, '\\$&');
    text += `${text === '' ? '' : ','}${name}="${escaped}"`;
  }
  return text;
}

export function renderHeader(name: string, help: string): string {
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${escaped}\n# TYPE ${name} gauge\n`;
}

/** The lines of the samples in text format 0.0.4, byte for byte as prom-client prints them. */
export function renderSamples(
  name: string,
  shared: SharedLabels,
  samples: readonly Sample[],
): string {
  let text = '';
  for (const { host = '', labels, value } of samples) {
    const all = joined(joined(joined(shared.before, host), labels), shared.after);
    text += all === '' ? `${name} ${value}\n` : `${name}{${all}} ${value}\n`;
  }
  return text;
}

function joined(left: string, right: string): string {
  return left === '' || right === '' ? left + right : `${left},${right}`;
}
