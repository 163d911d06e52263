import { ApiError } from '../model/api-error.ts';
import { presetNames, presets } from '../model/presets.ts';
import type { ApiObserver, Operation } from '../model/telemetry.ts';
import type { ValueName } from '../model/vendor-value.ts';
import type { TimeWindow } from '../model/window.ts';
import { countingFailures } from '../newrelic/answer.ts';
import type { Transport } from '../newrelic/calls/transport.ts';
import type { VendorClock } from '../newrelic/calls/vendor-clock.ts';
import { isJsonObject, parseJson } from '../newrelic/json.ts';
import { type CallPurpose, failureOf } from '../newrelic/nerdgraph/failures.ts';
import {
  answerOf,
  nrqlDocument,
  nrqlTimeoutSeconds,
} from '../newrelic/nerdgraph/graphql-client.ts';
import { nrqlText } from '../newrelic/nerdgraph/nrql.ts';
import {
  isLike,
  type ListedMetric,
  type ListMetrics,
  type MetricListQuestion,
} from './metric-list.ts';

/** Whom to ask. */
export interface NrqlAccount {
  readonly accountId: number;
  /** How long a whole call may take. */
  readonly timeoutMs: number;
}

export interface NrqlDependencies {
  /** The account's transport: paced, limited, retried and measured. */
  readonly send: Transport;
  readonly observer: Pick<ApiObserver, 'failed'>;
}

interface NrqlQuestion {
  readonly operation: Operation;
  readonly nrql: string;
  readonly signal: AbortSignal;
}

/** What `read` makes of the results of one query, or why it cannot. Rejects with the signal's reason. */
async function askNrql<Value>(
  { operation, nrql, signal }: NrqlQuestion,
  { accountId, timeoutMs }: NrqlAccount,
  { send, observer }: NrqlDependencies,
  read: (results: readonly unknown[], purpose: CallPurpose) => Value,
): Promise<Value | ApiError> {
  const purpose = { operation, accountId };
  const variables = { account: accountId, nrql, timeout: nrqlTimeoutSeconds(timeoutMs) };
  const body = JSON.stringify({ query: nrqlDocument, variables });
  const request = { operation, target: '/graphql', body, answerSize: 'large' } as const;
  try {
    const response = await send(request, signal);
    return countingFailures(response, purpose, observer, () => {
      const { part } = answerOf(response, purpose, parseJson);
      const results = isJsonObject(part) ? part['results'] : undefined;
      return read(Array.isArray(results) ? results : [], purpose);
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    return error;
  }
}

/** The most names in one answer; there is no second page. */
const mostNames = 5000;
/** What an application has not sent for an hour, a poll would not find either. */
const listedMs = 3_600_000;

/** Lists metrics by one query. NerdGraph names them, but does not tell which values they have. */
export function createMetricNames(
  account: NrqlAccount,
  dependencies: NrqlDependencies & {
    /** New Relic's wall time. */
    readonly vendorClock: Pick<VendorClock, 'wallMs'>;
  },
): ListMetrics {
  return async (question, { signal, onPage }) => {
    const toMs = Math.floor(dependencies.vendorClock.wallMs());
    const nrql = metricNamesNrql(question, { fromMs: toMs - listedMs, toMs });
    const asked = { operation: 'list_metrics', nrql, signal } as const;
    const names = await askNrql(asked, account, dependencies, namesOf);
    if (names instanceof ApiError) return { error: names, cut: undefined };
    onPage(names.filter((name) => isLike(name, question.like)).map(metricOf));
    const cut = names.length < mostNames ? undefined : `${mostNames} names`;
    return { error: undefined, cut };
  };
}

/** Event types with data in the last day; `undefined` if New Relic does not say. Rejects with the signal's reason. */
export async function eventTypesOf(
  account: NrqlAccount,
  dependencies: NrqlDependencies,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const nrql = 'SHOW EVENT TYPES SINCE 1 day ago';
  const asked = { operation: 'query', nrql, signal } as const;
  const rows = await askNrql(asked, account, dependencies, (results) => results);
  if (rows instanceof ApiError || rows.length === 0) return undefined;
  const types = rows.map((row) => (isJsonObject(row) ? row['eventType'] : undefined));
  return types.every((type) => typeof type === 'string') ? types : undefined;
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
function namesOf([first]: readonly unknown[], purpose: CallPurpose): readonly string[] {
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
