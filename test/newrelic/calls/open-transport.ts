import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import { answerLimits } from '../../../src/newrelic/calls/answer-body.ts';
import type { ApiResponse, RawTransport } from '../../../src/newrelic/calls/transport.ts';
import {
  createUndiciTransport,
  type UndiciTransportOptions,
} from '../../../src/newrelic/calls/undici-transport.ts';

function fixture(name: string): string {
  return readFileSync(new URL(`fixtures/test-only-${name}.pem`, import.meta.url), 'utf8');
}

/** A key pair for these tests alone: self-signed, for the name "localhost", valid until 2126. */
export const tls: Readonly<Record<'key' | 'cert', string>> = {
  key: fixture('key'),
  cert: fixture('certificate'),
};

/** An undici transport that is closed when the test has finished. */
export function openTransport(
  baseUrl: string,
  options: Partial<UndiciTransportOptions> = {},
): RawTransport {
  const defaults = { connections: 2, proxyUrl: undefined, ca: undefined };
  const transport = createUndiciTransport(
    { baseUrl, userAgent: 'newrelic-exporter/test', ...defaults, ...options },
    { maxBytes: answerLimits(96 * 1024 * 1024) },
  );
  onTestFinished(() => transport.close());
  return transport;
}

/** Sends one request with the key `test-key`. */
export async function get(
  transport: RawTransport,
  target = '/v2/applications.json?page=1',
  signal: AbortSignal = new AbortController().signal,
): Promise<ApiResponse> {
  return transport.send(
    { operation: 'list_applications', target, answerSize: 'large' },
    { 'Api-Key': 'test-key' },
    signal,
  );
}

/** The `ApiError` that the call is rejected with; anything else fails the test. */
export async function apiErrorOf(call: Promise<unknown>): Promise<ApiError> {
  const outcome: unknown = await call.catch((error: unknown) => error);
  if (outcome instanceof ApiError) return outcome;
  throw new Error(`expected an ApiError, got ${String(outcome)}`, { cause: outcome });
}
