import { z } from 'zod';
import type { AccountSource, ApiKeyHeader } from '../model/config.ts';
import { anyRegion, type Region, regions } from '../model/region.ts';
import { accountId, aMap, duration, text, url, wholeNumber } from './schema-fields.ts';
import { parseBaseUrl, parseProxyUrl } from './url.ts';

/** One entry of `accounts` as the file has it, defaults applied, durations in milliseconds. */
export interface FileAccount {
  readonly name: string;
  readonly source: AccountSource['kind'];
  /** There is one if the source is NerdGraph. */
  readonly account_id?: number;
  readonly region?: Region;
  readonly base_url?: string;
  readonly api_key_file?: string;
  readonly api_key_env?: string;
  readonly api_key_header: ApiKeyHeader;
  readonly requests_per_minute: number;
  /** Its default depends on the source. */
  readonly concurrency?: number;
  readonly timeout: number;
  readonly proxy_url?: string;
  readonly proxy_url_file?: string;
  readonly proxy_url_env?: string;
  readonly ca_file?: string;
}

/** NerdGraph refuses more requests in flight, all keys of a user together. */
export const nerdgraphConcurrency = 25;

/** The name of an environment variable that contains something. */
function variable(what: string, example: string): z.ZodExactOptional<z.ZodType<string>> {
  return z
    .string({ error: 'must be a string' })
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/u, {
      error: `must be the name of an environment variable, such as ${example}`,
    })
    .meta({ description: `Name of the environment variable that contains the ${what}.` })
    .exactOptional();
}

/** The shape of an account. Another check finds what its source needs. */
export const accountSchema: z.ZodType<FileAccount> = z
  .strictObject(
    {
      name: text('Name of the account; the value of the label "account". Unique.'),
      source: z
        .enum(['rest', 'nerdgraph'], { error: 'must be rest or nerdgraph' })
        .meta({
          description:
            'The API that is asked: rest is the REST API v2, which New Relic ends on 2027-07-31; nerdgraph needs "account_id".',
        })
        .prefault('rest'),
      account_id: accountId(
        'Id of the New Relic account; required with "source: nerdgraph". Without it, `check-config --online` proposes it.',
      ).exactOptional(),
      region: z
        .enum(regions, { error: `must be ${anyRegion}` })
        .meta({ description: "The account's data centre.", default: 'us' })
        .exactOptional(),
      base_url: url(
        parseBaseUrl,
        'Address of the API, used instead of a region, for a gateway or a test server.',
      ).exactOptional(),
      api_key_file: text(
        'File that contains the API key; a relative path is relative to this file. It is read again when it changes.',
      ).exactOptional(),
      api_key_env: variable('API key', 'NEW_RELIC_API_KEY'),
      api_key_header: z
        .enum(['Api-Key', 'X-Api-Key'], { error: 'must be Api-Key or X-Api-Key' })
        .meta({ description: 'Header that carries the API key.' })
        .prefault('Api-Key'),
      requests_per_minute: wholeNumber(
        { min: 1, max: Number.MAX_SAFE_INTEGER },
        "The budget: the most calls that are sent in any 60 seconds. New Relic's quota is 1000 a minute for a key, and with NerdGraph 3000 a minute for an account.",
      ).prefault(800),
      concurrency: wholeNumber(
        { min: 1, max: 100 },
        'The most calls in flight at a time. Without it, 8; with "source: nerdgraph" 5, and at most 25.',
      ).exactOptional(),
      timeout: duration(
        { minMs: 100, maxMs: 600_000 },
        'Longest duration of one call, from its start to the last byte.',
      ).prefault('30s'),
      proxy_url: url(parseProxyUrl, 'HTTP proxy for the calls, without a login.').exactOptional(),
      proxy_url_file: text('File that contains the URL of the proxy and its login.')
        .refine((path) => !/^\w{2,}:|:.*@/u.test(path), { error: 'must be the path of a file' })
        .exactOptional(),
      proxy_url_env: variable('URL of the proxy', 'PROXY_URL'),
      ca_file: text(
        'CA bundle (PEM) to trust in addition to the usual CAs; a relative path is relative to this file.',
      ).exactOptional(),
    },
    aMap,
  )
  .meta({
    oneOf: [{ required: ['api_key_file'] }, { required: ['api_key_env'] }],
    not: {
      anyOf: [
        ['region', 'base_url'],
        ['proxy_url', 'proxy_url_file'],
        ['proxy_url', 'proxy_url_env'],
        ['proxy_url_file', 'proxy_url_env'],
      ].map((required) => ({ required })),
    },
    if: { not: { required: ['source'], properties: { source: { const: 'nerdgraph' } } } },
    else: {
      required: ['account_id'],
      properties: { concurrency: { maximum: nerdgraphConcurrency } },
    },
  });
