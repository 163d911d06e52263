import { parseListenAddress } from '../server/listen-address.ts';

/** Which values a flag may have. */
export interface ValueRule<Value> {
  /** What a value must look like, to follow "expected". */
  readonly expected: string;
  /** `undefined` for a value that is not allowed. */
  parse(text: string): Value | undefined;
}

export const onOrOff: ValueRule<boolean> & { readonly isSwitch: true } = {
  expected: 'no value, or true or false',
  isSwitch: true,
  parse: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
};

export function oneOf<Word extends string>(words: readonly Word[]): ValueRule<Word> {
  return {
    expected: `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`,
    parse: (text) => words.find((word) => word === text),
  };
}

export function wholeNumber(least: number, most: number): ValueRule<number> {
  return {
    expected: `a whole number from ${least} to ${most}`,
    parse: (text) => {
      if (!/^\d{1,9}$/.test(text)) return undefined;
      const number = Number(text);
      return number >= least && number <= most ? number : undefined;
    },
  };
}

export const shardNumber: ValueRule<number | 'auto'> = {
  expected: 'a whole number from 0 to 999, or auto',
  parse: (text) => (text === 'auto' ? text : wholeNumber(0, 999).parse(text)),
};

export const hostName: ValueRule<string> = {
  expected: 'the name of a host, such as checkout-7d4b9c-x2x8q',
  parse: (text) => (/^[^\s\p{Cc}]{0,255}$/u.test(text) ? text : undefined),
};

export const httpUrl: ValueRule<string> = {
  expected: 'an address such as http://127.0.0.1:9126/-/healthy',
  parse: (text) =>
    /^http:\/\/[^\s/@]+(?:\/\S*)?$/.test(text) && URL.canParse(text) ? text : undefined,
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
const reservedSegments: ReadonlySet<string> = new Set(['-', 'api', 'config']);

export function telemetryPath(text: string): string | undefined {
  if (!/^(?:\/[\w.~-]+)+$/.test(text)) return undefined;
  const segments = text.slice(1).split('/');
  // HTTP clients resolve these before they ask, so the page would not be found.
  if (segments.some((segment) => segment === '.' || segment === '..')) return undefined;
  return reservedSegments.has(segments[0] ?? '') ? undefined : text;
}
