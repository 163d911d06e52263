import { countText, countOf as numbered } from '../../model/shown-text.ts';
import { type Unit, type ValueName, vendorValues } from '../../model/vendor-value.ts';
import { type Html, html } from './html.ts';

const digits = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });
const tenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

/** Stands where a number or a time is not known. */
export function unknown(why: string): Html {
  return html`<span class="none" title="${why}">\u2013</span>`;
}

export const gaveNoValue: Html = unknown('New Relic gave no value');

export function withCapital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** `1,204 hosts`, `1 host`. */
export function countOf(count: number, one: string, many?: string): string {
  return numbered(count, one, many, countText);
}

/** A rate a minute: with one decimal as long as it matters. */
export function rateText(perMinute: number): string {
  if (perMinute > 0 && perMinute < 0.05) return '<0.1';
  return Math.abs(perMinute) < 100 ? tenths.format(perMinute) : countText(perMinute);
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
export function valueText(name: ValueName, value: number, scale = 1): string {
  // An Apdex score is never written in percent.
  if (scale !== 1 || name === 'score') return numberText(value);
  return texts[vendorValues[name]](value);
}
