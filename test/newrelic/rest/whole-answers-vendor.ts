import { ApiError } from '../../../src/model/api-error.ts';
import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import type { MetricChoice } from '../../../src/model/polled-series.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import { aSelected } from '../../support/builders.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { aRestSource, type SourceUnderTest } from './a-rest-source.ts';

/** A call for values, as the vendor saw it. */
export interface MetricCall {
  readonly hostId: string | undefined;
  readonly names: readonly string[];
  readonly values: readonly string[];
}

/**
 * What the vendor does with a call: answers, with the values of the first metric alone, without a word of the
 * metrics that are not there, or not at all.
 */
export type Treatment =
  | 'answer'
  | 'others_without_values'
  | 'others_missing'
  | 'without_not_found'
  | ApiError;

/** Values by metric; a metric that is not there is not found. */
export type Facts = Readonly<Record<string, Readonly<Record<string, number>>>>;

const calls = { requests_per_minute: 60, average_response_time: 20, call_count: 300 };
/** What an application and each host of it have. */
export const allFacts: Facts = {
  HttpDispatcher: calls,
  'OtherTransaction/all': calls,
  'Errors/allWeb': { errors_per_minute: 2, error_count: 10 },
  'Errors/allOther': { errors_per_minute: 1, error_count: 5 },
  Apdex: { score: 0.9, count: 300 },
  'Memory/Physical': { used_bytes_by_host: 4096 },
};

/** What is published of it, with three presets. */
export const all = {
  'HttpDispatcher requests_per_minute': 60,
  'OtherTransaction/all requests_per_minute': 60,
  'Errors/allWeb errors_per_minute': 2,
  'Errors/allOther errors_per_minute': 1,
  'Apdex score': 0.9,
};

export interface Bench extends SourceUnderTest {
  readonly calls: MetricCall[];
  readonly clock: FakeClock;
}

/**
 * A source over the REST API for values: the cross product of names and values, as far as it exists. With a trap,
 * an answer in which a metric lacks one of the values has those of its first metric. The vendor's own window ends
 * a minute later with each call.
 */
export function aBench(
  treat: (call: MetricCall, number: number) => Treatment | Promise<Treatment> = () => 'answer',
  facts: Facts = allFacts,
): Bench {
  const made: MetricCall[] = [];
  const clock = createFakeClock();
  const source = aRestSource(
    async ({ target }, signal) => {
      const { pathname, searchParams } = new URL(target, 'http://localhost');
      const call = {
        hostId: /hosts\/(\d+)/u.exec(pathname)?.[1],
        names: searchParams.getAll('names[]'),
        values: searchParams.getAll('values[]'),
      };
      made.push(call);
      const treatment = await treat(call, made.length);
      signal.throwIfAborted();
      if (treatment instanceof ApiError) throw treatment;
      const minute = `${made.length}`.padStart(2, '0');
      const to = searchParams.has('to') ? undefined : `2026-09-01T10:${minute}:00Z`;
      return answerOf({ metric_data: metricDataOf(call, facts, treatment, to) });
    },
    { clock },
  );
  return { ...source, calls: made, clock };
}

function metricDataOf(
  { names, values }: MetricCall,
  facts: Facts,
  treatment: Treatment,
  to: string | undefined,
): object {
  const found = names.flatMap((name) => {
    const asked = Object.entries(facts[name] ?? {}).filter(([value]) => values.includes(value));
    return name in facts ? [{ name, own: Object.fromEntries(asked) }] : [];
  });
  const isTrapped =
    typeof treatment === 'string' &&
    treatment.startsWith('others') &&
    found.some(({ own }) => Object.keys(own).length < values.length);
  const shown = found
    .map(({ name, own }, at) => ({ name, own: isTrapped && at > 0 ? {} : own }))
    .slice(0, isTrapped && treatment === 'others_missing' ? 1 : found.length);
  return {
    metrics: shown.map(({ name, own }) => ({ name, timeslices: [{ to, values: own }] })),
    metrics_not_found:
      treatment === 'without_not_found' ? [] : names.filter((name) => !(name in facts)),
  };
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
