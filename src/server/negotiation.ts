import type { Format } from '../exposition/open-metrics.ts';

/** A member of a list such as `Accept`: its name, how much the client wants it, and what else it says. */
interface Preference {
  readonly name: string;
  /** 0, which means not at all, to 1. */
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

const weight = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

function parameterOf(text: string): readonly [string, string] {
  const [name = '', value = ''] = text.split('=', 2).map((part) => part.trim());
  return [name, value.replaceAll('"', '')];
}

/** Parses one member; `undefined` if RFC 9110 does not allow it. */
function preferenceOf(member: string): Preference | undefined {
  const [name = '', ...rest] = member.split(';').map((part) => part.trim().toLowerCase());
  if (name === '') return undefined;
  const parameters = new Map(rest.map(parameterOf));
  const quality = parameters.get('q') ?? '1';
  parameters.delete('q');
  if (!weight.test(quality)) return undefined;
  return { name, quality: Number(quality), parameters };
}

function preferencesOf(header: string | undefined): readonly Preference[] {
  return (header ?? '')
    .split(',')
    .map(preferenceOf)
    .filter((preference) => preference !== undefined);
}

/**
 * Whether the `Accept-Encoding` of a request calls for gzip: it is allowed, and the client does not
 * prefer the plain answer (RFC 9110, section 12.5.3).
 */
export function prefersGzip(acceptEncoding: string | undefined): boolean {
  const qualities = new Map(
    preferencesOf(acceptEncoding)
      .filter(({ parameters }) => parameters.size === 0)
      .map(({ name, quality }) => [name, quality]),
  );
  const others = qualities.get('*') ?? 0;
  const gzip = qualities.get('gzip') ?? qualities.get('x-gzip') ?? others;
  const identity = qualities.get('identity') ?? others;
  return gzip > 0 && gzip >= identity;
}

interface MediaType {
  readonly name: string;
  readonly version: string;
}

const text: MediaType = { name: 'text/plain', version: '0.0.4' };
const openMetrics: MediaType = { name: 'application/openmetrics-text', version: '1.0.0' };

/** The quality of what names the type most closely; 0 for none. */
function qualityOf(type: MediaType, preferences: readonly Preference[]): number {
  const closest = rangesOf(type)
    .map((range) => preferences.filter(({ name }) => name === range))
    .map((found) => found.filter(({ parameters }) => isVersion(parameters, type)))
    .find((found) => found.length > 0);
  return Math.max(0, ...(closest ?? []).map(({ quality }) => quality));
}

function rangesOf({ name }: MediaType): readonly string[] {
  return [name, `${name.split('/', 1).join('')}/*`, '*/*'];
}

/** Other parameters, such as `charset` and `escaping`, decide nothing here. */
function isVersion(parameters: ReadonlyMap<string, string>, { version }: MediaType): boolean {
  return (parameters.get('version') ?? version) === version;
}

/**
 * The format of the page that the `Accept` of a request calls for. OpenMetrics only if the client wants
 * it more than the text format, or as much and by its name; anything else, and anything unreadable, gets
 * the text format, which people and old scrapers can read.
 */
export function formatFor(accept: string | undefined): Format {
  const preferences = preferencesOf(accept);
  const wanted = qualityOf(openMetrics, preferences);
  const plain = qualityOf(text, preferences);
  const isNamed = preferences.some(({ name }) => name === openMetrics.name);
  return wanted > 0 && (wanted > plain || (wanted === plain && isNamed)) ? 'openmetrics' : 'text';
}

export const contentTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};
