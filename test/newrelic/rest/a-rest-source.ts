import { readFileSync } from 'node:fs';
import type { Clock } from '../../../src/model/clock.ts';
import type { Source } from '../../../src/model/source.ts';
import type { InvalidSampleReason, UnexpectedAnswer } from '../../../src/model/telemetry.ts';
import type { Transport } from '../../../src/newrelic/calls/transport.ts';
import type { RestClient } from '../../../src/newrelic/rest/poll.ts';
import { createRestClient, createRestSource } from '../../../src/newrelic/rest/rest-source.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

/** The real source over a transport, with a record of what it reports to its observers. */
export interface SourceUnderTest {
  readonly source: Source;
  readonly client: RestClient;
  readonly signal: AbortSignal;
  readonly invalidSamples: readonly InvalidSampleReason[];
  /** Such as `list_applications schema`. */
  readonly failures: readonly string[];
  readonly unexpected: readonly UnexpectedAnswer[];
  readonly logged: readonly Readonly<Record<string, unknown>>[];
}

export interface RestSourceBench {
  readonly clock?: Clock;
}

export function aRestSource(
  send: Transport,
  { clock = createFakeClock() }: RestSourceBench = {},
): SourceUnderTest {
  const invalidSamples: InvalidSampleReason[] = [];
  const failures: string[] = [];
  const unexpected: UnexpectedAnswer[] = [];
  const logged: Readonly<Record<string, unknown>>[] = [];
  const log = (fields: Readonly<Record<string, unknown>>): void => {
    logged.push(fields);
  };
  const observer = {
    invalidSample: (reason: InvalidSampleReason): void => {
      invalidSamples.push(reason);
    },
    failed: (operation: string, reason: string): void => {
      failures.push(`${operation} ${reason}`);
    },
    unexpected: (kind: UnexpectedAnswer, count: number): void => {
      unexpected.push(...Array.from({ length: count }, () => kind));
    },
  };
  const logger = { debug: log, info: log, warn: log, error: log };
  const client = createRestClient({ send, clock, observer, logger });
  return {
    source: createRestSource('main', { client, clock, observer, logger }),
    client,
    signal: new AbortController().signal,
    invalidSamples,
    failures,
    unexpected,
    logged,
  };
}

/** A recorded document of the vendor. */
export function sampleText(name: string): string {
  return readFileSync(new URL(`../../samples/${name}`, import.meta.url), 'utf8');
}
