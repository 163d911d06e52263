import { countText, durationText, countOf as numbered } from '../../model/shown-text.ts';
import { secondMs } from '../../model/time.ts';
import { type Unit, type ValueName, vendorValues } from '../../model/vendor-value.ts';
import { type Child, type Html, html } from './html.ts';

const digits = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });

const { compare } = new Intl.Collator('en', { numeric: true });

/** The order of names for people, such as `gateway 2` before `gateway 10`. Equal are only equal texts. */
export function byText(left: string, right: string): number {
  return compare(left, right) || Number(left > right) - Number(left < right);
}

/** Stands where a number or a time is not known. */
export function unknownValue(why: string): Html {
  return html`<span class="none" title="${why}">\u2013</span>`;
}

/** A value of New Relic as text, or a dash. */
export function measured(value: number | undefined, text: (value: number) => string): Child {
  return value === undefined ? unknownValue('New Relic gave no value') : text(value);
}

export function withCapital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** `1,204 hosts`, `1 host`. */
export function shownCount(count: number, one: string, many?: string): string {
  return numbered(count, one, many, countText);
}

/** Three digits, or all of them before the decimal point. */
function numberText(value: number): string {
  return Math.abs(value) < 1000 ? digits.format(value) : countText(value);
}

/** `120 ms`, `1.5 s`. */
export function secondsText(seconds: number): string {
  return Math.abs(seconds) < 1 ? `${numberText(seconds * 1000)} ms` : `${numberText(seconds)} s`;
}

const kibi = 1024;

function bytesText(bytes: number): string {
  const mebibytes = bytes / kibi ** 2;
  if (Math.abs(mebibytes) >= kibi) return `${numberText(mebibytes / kibi)} GiB`;
  return Math.abs(mebibytes) < 1
    ? `${numberText(bytes / kibi)} KiB`
    : `${numberText(mebibytes)} MiB`;
}

const texts: Readonly<Record<Unit, (value: number) => string>> = {
  seconds: secondsText,
  seconds_per_minute: (value) => `${secondsText(value)}/min`,
  bytes: bytesText,
  ratio: (value) => `${numberText(value * 100)} %`,
  per_minute: (value) => `${numberText(value)}/min`,
  per_second: (value) => `${numberText(value)}/s`,
  count: numberText,
  as_metric: numberText,
  as_metric_per_second: (value) => `${numberText(value)}/s`,
};

/** A value of New Relic as people read it, such as `120 ms`. One with a scale of its own has no known unit. */
export function shownValue(name: ValueName, value: number, scale = 1): string {
  // An Apdex score is never written in percent.
  if (scale !== 1 || name === 'score') return numberText(value);
  return texts[vendorValues[name]](value);
}

/** A wall time as ISO 8601; `undefined` for one that is too far away for a calendar. */
export function isoText(ms: number): string | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** `2026-11-22 08:17:35 UTC`. */
export function absoluteText(ms: number): string {
  const iso = isoText(ms);
  return iso === undefined ? 'at no time' : `${iso.slice(0, -5).replace('T', ' ')} UTC`;
}

/** `08:17:35 UTC`, with the date if it is not the one of `nowMs`. */
function shortText(ms: number, nowMs: number): string {
  const text = absoluteText(ms);
  const day = isoText(nowMs)?.slice(0, 10);
  return day !== undefined && text.startsWith(`${day} `) ? text.slice(day.length + 1) : text;
}

/** A text for a moment, whose absolute time is in the title unless the text has it. */
export function timeElement(ms: number, text: Child, hasTitle: boolean): Html {
  const title = hasTitle ? html` title="${absoluteText(ms)}"` : undefined;
  return html`<time datetime="${isoText(ms) ?? ''}"${title}>${text}</time>`;
}

/** `12 s ago`. A time that is yet to come, as after a change of the clock, is now. */
function agoText(ms: number, nowMs: number): string {
  return nowMs - ms < secondMs ? 'now' : `${durationText(nowMs - ms)} ago`;
}

/** `in 12 s`; `now` if it is over. */
function untilText(ms: number, nowMs: number): string {
  return ms - nowMs < secondMs ? 'now' : `in ${durationText(ms - nowMs)}`;
}

/** `12 s ago`, with the absolute time at hand. */
export function ago(ms: number, nowMs: number): Html {
  return timeElement(ms, agoText(ms, nowMs), true);
}

/** A poll may end some seconds after it was due without being late. */
const shownPatienceMs = 10 * secondMs;

/** `in 12 s`, `now`, or `12 s late`. */
export function due(ms: number, nowMs: number): Html {
  const text =
    nowMs - ms > shownPatienceMs ? `${durationText(nowMs - ms)} late` : untilText(ms, nowMs);
  return timeElement(ms, text, true);
}

/** `08:17:35 UTC (12 s ago)`. */
export function since(ms: number, nowMs: number): Html {
  return html`${timeElement(ms, shortText(ms, nowMs), false)} (${agoText(ms, nowMs)})`;
}

/** `08:17:35 UTC (in 12 s)`. */
export function until(ms: number, nowMs: number): Html {
  return html`${timeElement(ms, shortText(ms, nowMs), false)} (${untilText(ms, nowMs)})`;
}
