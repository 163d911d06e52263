import Negotiator from 'negotiator';
import type { Format } from '../publish/open-metrics.ts';

/**
 * Whether the `Accept-Encoding` of a request calls for gzip: it is allowed, and the client does not
 * prefer the plain answer (RFC 9110, section 12.5.3).
 */
export function prefersGzip(acceptEncoding: string | undefined): boolean {
  const headers = { 'accept-encoding': acceptEncoding };
  const preferred = new Negotiator({ headers }).encoding(['gzip', 'identity']);
  return preferred === 'gzip';
}

export const contentTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** How Prometheus 3 wants unusual names to be written. There are none, so it decides nothing. */
const escaping = /;\s*escaping=[^;,]*/giu;

/**
 * The format of the page that the `Accept` of a request calls for. What calls for neither gets the text
 * format, which people and old scrapers can read.
 */
export function formatFor(accept: string | undefined): Format {
  const headers = { accept: accept?.replaceAll(escaping, '') };
  const { text, openmetrics } = contentTypes;
  const preferred = new Negotiator({ headers }).mediaType([text, openmetrics]);
  return preferred === openmetrics ? 'openmetrics' : 'text';
}
