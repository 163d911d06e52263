import { ApiError } from '../model/api-error.ts';
import {
  isLike,
  type ListedMetric,
  type ListMetrics,
  type MetricListQuestion,
} from '../model/metric-list.ts';
import type { ApiObserver } from '../model/telemetry.ts';
import type { TimeWindow } from '../model/window.ts';
import { type CallPurpose, failureOf } from '../nerdgraph/failures.ts';
import { answerOf, nrqlDocument, nrqlTimeoutSeconds } from '../nerdgraph/graphql-client.ts';
import { nrqlText } from '../nerdgraph/nrql.ts';
import { countingFailures } from '../newrelic/answer.ts';
import { isJsonObject, parseJson } from '../newrelic/json.ts';
import type { Transport } from '../transport/transport.ts';
import { surelyHas } from './known-values.ts';

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

/** So many names are in one answer at most, and there is no second page. */
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
      const metrics = names.filter((name) => isLike(name, question.like)).map(metricOf);
      onPage({ metrics, page: 1, hasNext: false, pages: 1 });
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
