import { dayMs, hourMs, minuteMs, secondMs } from '../../model/time.ts';
import { type Child, type Html, html } from './html.ts';

/** Two units at most, such as `2 h 5 min`: more would say nothing. */
export function durationText(durationMs: number): string {
  const ms = Math.max(0, durationMs);
  if (ms < minuteMs) return `${Math.floor(ms / secondMs)} s`;
  if (ms < 10 * minuteMs) return inUnits(ms, [minuteMs, 'min'], [secondMs, 's']);
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min`;
  if (ms < dayMs) return inUnits(ms, [hourMs, 'h'], [minuteMs, 'min']);
  return inUnits(ms, [dayMs, 'd'], [hourMs, 'h']);
}

type Unit = readonly [ms: number, name: string];

function inUnits(ms: number, [largeMs, large]: Unit, [smallMs, small]: Unit): string {
  const rest = Math.floor((ms % largeMs) / smallMs);
  const first = `${Math.floor(ms / largeMs)} ${large}`;
  return rest === 0 ? first : `${first} ${rest} ${small}`;
}

/** The beginning of time for `Date` is far away, but not infinitely so. */
function isoText(ms: number): string | undefined {
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
const patienceMs = 10 * secondMs;

/** `in 12 s`, `now`, or `12 s late`. */
export function due(ms: number, nowMs: number): Html {
  const text = nowMs - ms > patienceMs ? `${durationText(nowMs - ms)} late` : untilText(ms, nowMs);
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
