import { ApiError } from '../../../src/model/api-error.ts';
import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import type { ApplicationQuestion, Source } from '../../../src/model/source.ts';
import type { Transport } from '../../../src/newrelic/calls/transport.ts';
import { callsAtOnce } from '../../support/calls-at-once.ts';
import { answerOf } from '../../support/fake-transport.ts';

/** A call for values, as the vendor saw it. */
export interface MetricCall {
  readonly applicationId: string;
  readonly hostId: string | undefined;
  readonly names: readonly string[];
  readonly values: readonly string[];
  readonly range: string;
}

/** What the vendor does with a call: answers, with the values of the first metric alone, or not at all. */
export type Treatment = 'answer' | 'others_without_values' | 'others_missing' | ApiError;

export interface MetricVendor {
  readonly send: Transport;
  readonly calls: MetricCall[];
}

/** Values by metric; `undefined` if the metric is not found. */
export type Facts = (
  call: Omit<MetricCall, 'names'>,
  metric: string,
) => Readonly<Record<string, number>> | undefined;

/**
 * The REST API for values: the cross product of names and values, as far as it exists. With a trap, an
 * answer in which a metric lacks one of the values has those of its first metric.
 */
export function createMetricVendor(
  facts: Facts,
  treat: (call: MetricCall, number: number) => Treatment | Promise<Treatment> = () => 'answer',
): MetricVendor {
  const calls: MetricCall[] = [];
  const send: Transport = async ({ target }, signal) => {
    const call = callOf(target);
    calls.push(call);
    const treatment = await treat(call, calls.length);
    signal.throwIfAborted();
    if (treatment instanceof ApiError) throw treatment;
    return answerOf({ metric_data: metricDataOf(call, facts, treatment) });
  };
  return { send, calls };
}

function callOf(target: string): MetricCall {
  const { pathname, searchParams } = new URL(target, 'http://localhost');
  const [, applicationId = '', hostId] =
    /applications\/(\d+)(?:\/hosts\/(\d+))?/u.exec(pathname) ?? [];
  return {
    applicationId,
    hostId,
    names: searchParams.getAll('names[]'),
    values: searchParams.getAll('values[]'),
    range: `${searchParams.get('from')} ${searchParams.get('to')}`,
  };
}

function metricDataOf(call: MetricCall, facts: Facts, treatment: Treatment): object {
  const found = call.names.flatMap((name) => {
    const known = facts(call, name);
    if (known === undefined) return [];
    const asked = Object.entries(known).filter(([value]) => call.values.includes(value));
    return { name, timeslices: [{ values: Object.fromEntries(asked) }] };
  });
  const lacks = found.some(
    ({ timeslices: [slice] }) => Object.keys(slice?.values ?? {}).length < call.values.length,
  );
  const notFound = call.names.filter((name) => !found.some((metric) => metric.name === name));
  if (treatment === 'answer' || !lacks) return { metrics: found, metrics_not_found: notFound };
  const [first, ...others] = found;
  const rest = others.map(({ name }) => ({ name, timeslices: [{ values: {} }] }));
  return {
    metrics: [first, ...(treatment === 'others_missing' ? [] : rest)].filter(Boolean),
    metrics_not_found: notFound,
  };
}

/** What is asked about an application of which all is known. */
export function aQuestion(
  selected: SelectedApplication,
  overrides: Partial<ApplicationQuestion> = {},
): ApplicationQuestion {
  const hostNames = new Map<string, string>();
  return {
    kind: 'application',
    selected,
    askHostNames: false,
    hostNames,
    isListed: () => true,
    ...overrides,
  };
}

/** Polls the applications together, all calls of a stage at once. */
export async function polled(
  source: Source,
  applications: readonly SelectedApplication[],
): Promise<readonly PollOutcome[]> {
  const groups = source.groups(
    applications.map((one) => aQuestion(one)),
    [],
  );
  return (await Promise.all(groups.map(async (group) => polledGroup(source, group)))).flat();
}

async function polledGroup(
  source: Source,
  group: readonly ApplicationQuestion[],
): Promise<readonly PollOutcome[]> {
  const { signal } = new AbortController();
  const calls = callsAtOnce({ signal, wallMs: Date.UTC(2026, 8, 1, 10) });
  const outcomes: PollOutcome[] = [];
  for await (const one of source.poll(() => group, calls, signal)) {
    if (one.kind === 'application') outcomes.push(one.outcome);
  }
  return outcomes;
}
