import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import type { MetricChoice } from '../../../src/model/polled-series.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import type { ValueName } from '../../../src/model/vendor-value.ts';
import { aSelected } from '../../support/builders.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { aRestSource, type SourceUnderTest } from './a-rest-source.ts';
import { createMetricVendor, type Facts, type MetricVendor } from './metric-vendor.ts';

export const calls = { requests_per_minute: 60, average_response_time: 20, call_count: 300 };

/** What each metric of an application has; other metrics are not found. */
export const known: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  HttpDispatcher: calls,
  'OtherTransaction/all': calls,
  'Errors/allWeb': { errors_per_minute: 2, error_count: 10 },
  'Errors/allOther': { errors_per_minute: 1, error_count: 5 },
  Apdex: { score: 0.9, count: 300 },
  'Memory/Physical': { used_bytes_by_host: 4096 },
};

export const factsOfAll: Facts = (_call, metric) => known[metric];

/** The value that is published of it. */
export const truth: Readonly<Partial<Record<ValueName, number>>> = {
  requests_per_minute: 60,
  average_response_time: 0.02,
  call_count: 300,
  errors_per_minute: 2,
  score: 0.9,
  used_bytes_by_host: 4096,
};

export interface Bench extends SourceUnderTest {
  readonly vendor: MetricVendor;
}

export function aBench(
  treat?: Parameters<typeof createMetricVendor>[1],
  facts: Facts = factsOfAll,
  clock: FakeClock = createFakeClock(),
): Bench {
  const vendor = createMetricVendor(facts, treat);
  return { vendor, ...aRestSource(vendor.send, { clock }) };
}

export function anApp(
  id: string,
  hostIds: readonly string[] = [],
  metrics: readonly MetricChoice[] = ['throughput', 'errors', 'apdex'],
): SelectedApplication {
  return aSelected({ id, hostIds }, { poll: { metrics } });
}

/** Values by what they are of, such as `Apdex score`. */
export function valuesIn(
  { reading }: PollOutcome,
  hostId?: string,
): Readonly<Record<string, unknown>> {
  const values = hostId === undefined ? reading?.application : reading?.hosts.get(hostId);
  const named = reading?.series.flatMap(({ metric, value }, index) =>
    values?.[index] === undefined ? [] : [[`${metric} ${value}`, values[index]]],
  );
  return Object.fromEntries(named ?? []);
}

export const all = {
  'HttpDispatcher requests_per_minute': 60,
  'OtherTransaction/all requests_per_minute': 60,
  'Errors/allWeb errors_per_minute': 2,
  'Errors/allOther errors_per_minute': 1,
  'Apdex score': 0.9,
};

export async function only(outcomes: Promise<readonly PollOutcome[]>): Promise<PollOutcome> {
  const [outcome, ...others] = await outcomes;
  if (outcome === undefined || others.length > 0) throw new Error('one outcome was expected');
  return outcome;
}
