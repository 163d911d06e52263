import { ApiError } from '../model/api-error.ts';
import {
  isLike,
  type ListedMetric,
  type ListMetrics,
  type MetricListQuestion,
} from '../model/metric-list.ts';
import { presetNames, presets } from '../model/presets.ts';
import type { ApiObserver } from '../model/telemetry.ts';
import type { ValueName } from '../model/vendor-value.ts';
import type { TimeWindow } from '../model/window.ts';
import { type CallPurpose, failureOf } from '../nerdgraph/failures.ts';
import { answerOf, nrqlDocument, nrqlTimeoutSeconds } from '../nerdgraph/graphql-client.ts';
import { nrqlText } from '../nerdgraph/nrql.ts';
import { countingFailures } from '../newrelic/answer.ts';
import { isJsonObject, parseJson } from '../newrelic/json.ts';
import type { Transport } from '../transport/transport.ts';

export interface MetricNamesOptions {
  readonly accountId: number;
  /** How long a whole call may take. */
  readonly timeoutMs: () => number;
}

export interface MetricNamesDependencies {
  /** The account's transport: paced, limited, retried and measured. */
  readonly send: Transport;
  readonly observer: Pick<ApiObserver, 'failed'>;
  /** New Relic's wall time. */
  readonly vendorWallMs: () => number;
}

/** The most names in one answer; there is no second page. */
const mostNames = 5000;
/** What an application has not sent for an hour, a poll would not find either. */
const listedMs = 3_600_000;

/** Lists metrics by one query. NerdGraph names them, but does not tell which values they have. */
export function createMetricNames(
  { accountId, timeoutMs }: MetricNamesOptions,
  { send, observer, vendorWallMs }: MetricNamesDependencies,
): ListMetrics {
  return async (question, { signal, onPage }) => {
    const purpose = { operation: 'list_metrics', accountId } as const;
    const toMs = Math.floor(vendorWallMs());
    const nrql = metricNamesNrql(question, { fromMs: toMs - listedMs, toMs });
    const timeout = nrqlTimeoutSeconds(timeoutMs());
    const variables = { account: accountId, nrql, timeout };
    const body = JSON.stringify({ query: nrqlDocument, variables });
    const { operation } = purpose;
    const request = { operation, target: '/graphql', body, answerSize: 'large' } as const;
    try {
      const response = await send(request, signal);
      const names = countingFailures(response, purpose, observer, () =>
        namesOf(answerOf(response, purpose, parseJson).part, purpose),
      );
      onPage(names.filter((name) => isLike(name, question.like)).map(metricOf));
      const cut = names.length < mostNames ? undefined : `${mostNames} names`;
      return { error: undefined, cut };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ApiError)) throw error;
      return { error, cut: undefined };
    }
  };
}

/**
 * The names of what was recorded in the window. LIKE takes upper and lower case for the same. What stands
 * for any characters in it cannot be written otherwise, so more may come back than was asked for.
 */
function metricNamesNrql(
  { applicationId, hostId, like }: MetricListQuestion,
  { fromMs, toMs }: TimeWindow,
): string {
  const conditions = [
    `appId = ${applicationId}`,
    ...(hostId === undefined ? [] : [`host = ${nrqlText(hostId)}`]),
    ...(like === undefined ? [] : [`metricTimesliceName LIKE ${nrqlText(`%${like}%`)}`]),
  ];
  return `SELECT uniques(metricTimesliceName, ${mostNames}) FROM Metric WHERE ${conditions.join(' AND ')} SINCE ${fromMs} UNTIL ${toMs}`;
}

/** The one list in the one result, whatever its member is called. */
function namesOf(part: unknown, purpose: CallPurpose): readonly string[] {
  const results = isJsonObject(part) ? part['results'] : undefined;
  const [first]: readonly unknown[] = Array.isArray(results) ? results : [];
  const list = isJsonObject(first) ? Object.values(first).find(Array.isArray) : undefined;
  if (list === undefined) throw failureOf(purpose, 'schema', 'the answer has no list of names');
  return list.filter((name: unknown) => typeof name === 'string' && name !== '');
}

function metricOf(name: string): ListedMetric {
  return { name, values: surelyHas(name) };
}

/** What New Relic documents of every metric that counts calls and takes their time. */
const ofCalls: readonly ValueName[] = [
  'average_response_time',
  'call_count',
  'max_response_time',
  'min_response_time',
  'requests_per_minute',
  'standard_deviation',
];

/** Metrics under these names are calls and their times, in every language. */
const calls = /^(?:HttpDispatcher$|(?:OtherTransaction|WebTransaction|Datastore|External)\/)/;

const ofApdex: readonly ValueName[] = ['count', 'f', 's', 'score', 't', 'threshold'];

/**
 * Values that a metric has for certain, judging by its name: NerdGraph does not tell. `undefined` where
 * the name does not say it.
 */
function surelyHas(name: string): readonly ValueName[] | undefined {
  if (calls.test(name)) return ofCalls;
  if (name === 'Apdex') return ofApdex;
  const read = presetNames
    .flatMap((preset) => presets[preset])
    .flatMap(({ sources }) => Object.values(sources))
    .filter(({ metric }) => metric === name)
    .map(({ value }) => value);
  return read.length === 0 ? undefined : read;
}
