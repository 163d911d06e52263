import { regionOf, regions } from '../model/region.ts';

/** Takes what is wrong with a value, as a predicate, and what helps. */
export type Refuse = (problem: string, help?: string) => undefined;

const urlForm = /^https?:\/\/[^\s/?#]/iu;

const pathOfApi = /\/(?:v2|graphql)(?:\/.*)?$/u;

const keyHelp = 'the API key is never part of the URL: use "api_key_file" or "api_key_env"';

function httpUrlOf(text: string): URL | undefined {
  // The parser forgives "https:host", spaces and line breaks; a configuration should not.
  if (!urlForm.test(text) || /[\s\\]/u.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text);
}

/** For an address that begins otherwise: without, or with half of it. */
function schemeHelp(text: string, scheme: string): string | undefined {
  return text === '' || urlForm.test(text) ? undefined : `begin with ${scheme}://`;
}

function withoutTrailingSlash(text: string): string {
  return text.replace(/\/+$/u, '');
}

/**
 * Parses the address of an API: http or https, host, optional port and path, nothing else. Gives its normal
 * form without a trailing slash.
 */
export function parseBaseUrl(text: string, refuse: Refuse): string | undefined {
  const url = httpUrlOf(text);
  if (url === undefined) {
    const region = regions.find((one) => one === text.toLowerCase());
    return refuse(
      'must be a URL such as https://gateway.example.com',
      region === undefined ? schemeHelp(text, 'https') : `write region: ${region}`,
    );
  }
  if (url.username !== '' || url.password !== '' || url.host.includes('@')) {
    return refuse('must not hold a user name or password', keyHelp);
  }
  if (/[?#]/u.test(text)) {
    return refuse('must end with the host or a path: no "?" and no "#"', keyHelp);
  }
  const address = url.origin + url.pathname;
  const rest = address.replace(pathOfApi, '');
  if (rest === address) return withoutTrailingSlash(address);
  const official = regionOf(rest);
  const instead = official === undefined ? rest : `region: ${official} instead`;
  return refuse(
    'has a path of the API, to which the exporter adds its own',
    `leave out the path: write ${instead}`,
  );
}

/** Proxies read no longer headers, and a redactor no longer passwords. */
const longestProxyUrl = 4000;

/** The same for the address of a proxy: http or https, host, optional port and credentials. */
export function parseProxyUrl(text: string, refuse: Refuse): string | undefined {
  const url = httpUrlOf(text);
  if (url === undefined)
    return refuse('must be a URL such as http://proxy:3128', schemeHelp(text, 'http'));
  if (url.pathname !== '/' || /[?#]/u.test(text)) {
    return refuse('must end with the host and the port');
  }
  if (!isDecodable(url.username) || !isDecodable(url.password)) {
    return refuse('must have its credentials percent-encoded: write %25 for a percent sign');
  }
  if (url.href.length > longestProxyUrl) {
    return refuse(`must have at most ${longestProxyUrl} characters`);
  }
  return withoutTrailingSlash(url.href);
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
