import type { Discovery } from '../../../src/model/source.ts';
import type { InvalidSampleReason } from '../../../src/model/telemetry.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { aRestSource } from './a-rest-source.ts';

/** A discovery and what it reported to its observers. */
export interface Outcome extends Discovery {
  readonly invalid: readonly InvalidSampleReason[];
  readonly logged: readonly Readonly<Record<string, unknown>>[];
}

/** The discovery from a list with this body. */
export async function discoveryOf(body: unknown): Promise<Outcome> {
  const { source, signal, invalidSamples, logged } = aRestSource(async () => answerOf(body));
  const discovery = await source.discover(
    { selectors: [{ kind: 'match', pattern: /./ }] },
    [],
    signal,
  );
  return { ...discovery, invalid: invalidSamples, logged };
}

export async function listOf(...applications: readonly unknown[]): Promise<Outcome> {
  return discoveryOf({ applications });
}
