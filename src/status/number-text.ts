import { type Html, html } from './html.ts';

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

/** Stands where a number or a time is not known. */
export function unknown(why: string): Html {
  return html`<span class="none" title="${why}">\u2013</span>`;
}

/** `1,204`. */
export function countText(count: number): string {
  return whole.format(count);
}

/** `1,204 hosts`, `1 host`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** A rate a minute: with one decimal as long as it matters. */
export function rateText(perMinute: number): string {
  if (perMinute > 0 && perMinute < 0.05) return '<0.1';
  return Math.abs(perMinute) < 100 ? tenths.format(perMinute) : whole.format(perMinute);
}
