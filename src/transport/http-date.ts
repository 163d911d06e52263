import type { ApiResponse } from './transport.ts';

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** The first value of a header, without the blanks around it; empty if there is none. */
export function headerText(headers: ApiResponse['headers'], name: string): string {
  const value = headers[name];
  return (typeof value === 'string' ? value : (value?.[0] ?? '')).trim();
}

/** Milliseconds since the epoch of a date such as `Tue, 01 Sep 2026 10:00:00 GMT`. */
export function parseHttpDate(text: string): number | undefined {
  if (!httpDate.test(text)) return undefined;
  const timeMs = Date.parse(text);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** When an answer was given by the clock of who gave it, to the second. */
export function dateOf(headers: ApiResponse['headers']): number | undefined {
  return parseHttpDate(headerText(headers, 'date'));
}
