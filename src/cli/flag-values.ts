import { parseListenAddress } from '../server/listen-address.ts';
import type { ValueRule } from './flags.ts';

/** A text on one line, of a length that fits into an address. */
export function anyText(expected: string): ValueRule<string> {
  return {
    expected,
    parse: (text) => (/^[^\p{Cc}]{0,255}$/u.test(text) ? text : undefined),
  };
}

export const hostName: ValueRule<string> = {
  expected: 'the name of a host, such as checkout-7d4b9c-x2x8q',
  parse: (text) => (/^[^\s\p{Cc}]{0,255}$/u.test(text) ? text : undefined),
};

export const httpUrl: ValueRule<string> = {
  expected: 'an address such as http://127.0.0.1:9126/-/healthy',
  parse: (text) =>
    /^https?:\/\/[^\s/@]+(?:\/\S*)?$/.test(text) && URL.canParse(text) ? text : undefined,
};

export function listenAddress(text: string): string | undefined {
  try {
    parseListenAddress(text);
    return text;
  } catch {
    return undefined;
  }
}

/** First segments of the paths that serve something else; `/` itself is the status page. */
const reservedSegments: ReadonlySet<string> = new Set([
  '-',
  'api',
  'applications',
  'config',
  'status.js',
]);

export function telemetryPath(text: string): string | undefined {
  if (!/^(?:\/[\w.~-]+)+$/.test(text)) return undefined;
  const segments = text.slice(1).split('/');
  // HTTP clients resolve these before they ask, so the page would not be found.
  if (segments.some((segment) => segment === '.' || segment === '..')) return undefined;
  return reservedSegments.has(segments[0] ?? '') ? undefined : text;
}
