import { ApiError } from '../../../src/model/api-error.ts';
import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import type { Batch, Question, Source } from '../../../src/model/source.ts';
import type { Transport } from '../../../src/newrelic/calls/transport.ts';
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

/** One of the hosts of a question is listed as long as nobody says otherwise. */
function aQuestion(selected: SelectedApplication): Question {
  return { selected, askHostNames: false, hostNames: new Map(), isListed: () => true };
}

export interface PolledAt {
  readonly signal?: AbortSignal;
  readonly wallMs?: number;
}

/** Polls the applications together, all calls of a stage at once. */
export async function polled(
  source: Source,
  applications: readonly SelectedApplication[],
  at: PolledAt = {},
): Promise<readonly PollOutcome[]> {
  const batches = source.batches(applications.map(aQuestion), []);
  await Promise.all(batches.map(async (batch) => ended(batch, at)));
  return batches.flatMap((batch) => batch.questions.map((question) => batch.outcomeOf(question)));
}

async function ended(
  batch: Batch,
  { signal = new AbortController().signal, wallMs = Date.UTC(2026, 8, 1, 10) }: PolledAt,
): Promise<void> {
  for (let stage = batch.nextStage(); stage !== undefined; stage = batch.nextStage()) {
    const calls: Promise<unknown>[] = [];
    for (let next = stage.calls.next(); next.done !== true; next = stage.calls.next()) {
      calls.push(next.value({ signal, wallMs }));
    }
    if (calls.length > stage.size) throw new Error('a stage had more calls than it said');
    await Promise.all(calls);
  }
}
