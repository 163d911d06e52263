/** A URL in its normal form without a trailing slash, or what is wrong with it. */
export type ParsedUrl =
  | { readonly url: string; readonly problem: undefined }
  | { readonly url: undefined; readonly problem: string; readonly help?: string };

const httpUrl = /^https?:\/\/[^\s/?#]/iu;

const keyHelp = 'the API key is never part of the URL: use "api_key_file" or "api_key_env"';

function bad(problem: string, help?: string): ParsedUrl {
  return { url: undefined, problem, ...(help === undefined ? {} : { help }) };
}

function httpUrlOf(text: string): URL | undefined {
  // The parser forgives "https:host", spaces and line breaks; a configuration should not.
  if (!httpUrl.test(text) || /[\s\\]/u.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text);
}

function withoutTrailingSlash(text: string): string {
  return text.replace(/\/+$/u, '');
}

/** Parses the address of an API: http or https, host, optional port and path, nothing else. */
export function parseBaseUrl(text: string): ParsedUrl {
  const url = httpUrlOf(text);
  if (url === undefined) {
    const help = /^(?:us|eu)$/iu.test(text) ? `write region: ${text.toLowerCase()}` : undefined;
    return bad('must be a URL such as https://api.newrelic.com', help);
  }
  if (url.username !== '' || url.password !== '' || url.host.includes('@')) {
    return bad('must not hold a user name or password', keyHelp);
  }
  if (/[?#]/u.test(text)) {
    return bad('must end with the host or a path: no "?" and no "#"', keyHelp);
  }
  return { url: withoutTrailingSlash(url.origin + url.pathname), problem: undefined };
}

/** Parses the address of a proxy: http or https, host, optional port and credentials. */
export function parseProxyUrl(text: string): ParsedUrl {
  const url = httpUrlOf(text);
  if (url === undefined) return bad('must be a URL such as http://proxy:3128');
  if (url.pathname !== '/' || /[?#]/u.test(text)) return bad('must end with the host and the port');
  if (!isDecodable(url.username) || !isDecodable(url.password)) {
    return bad('must have its credentials percent-encoded: write %25 for a percent sign');
  }
  return { url: withoutTrailingSlash(url.href), problem: undefined };
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether requests to a URL cross the network unencrypted. */
export function isPlainHttpOffLoopback(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  const isLoopback =
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/u.test(hostname);
  return protocol === 'http:' && !isLoopback;
}
