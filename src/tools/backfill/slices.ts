import type { PollTiming } from '../../model/config.ts';
import { own } from '../../model/own.ts';
import { dayMs, hourMs, minuteMs } from '../../model/time.ts';
import type { TimeWindow } from '../../model/window.ts';
import { isJsonObject, type JsonObject, objectOf, parseJson } from '../../newrelic/answer.ts';
import { type CallPurpose, notWhole } from '../../newrelic/nerdgraph/failures.ts';
import {
  answerOf,
  nrqlDocument,
  nrqlTimeoutSeconds,
} from '../../newrelic/nerdgraph/graphql-client.ts';
import { pollWindow } from '../../newrelic/nerdgraph/nrql.ts';
import type { OpenAccount } from '../ask.ts';

/** Of which times samples are written. Wall times. */
export interface SampleRange {
  readonly fromMs: number;
  readonly toMs: number;
  /** Samples stand at its multiples since 1970. */
  readonly stepMs: number;
  /** When the run began: what is older than eight days then has a value an hour. */
  readonly nowMs: number;
}

/** A sample: when a scrape would have shown it, and the window that it describes. */
export interface Moment {
  readonly timeMs: number;
  readonly window: TimeWindow;
}

/** Moments that one query with TIMESERIES answers: windows of one length, with the same step between them. */
export interface Slice {
  readonly moments: readonly Moment[];
  readonly lengthMs: number;
  readonly stepMs: number;
}

/** New Relic gives no more windows in an answer. */
const mostWindows = 366;
/** Rows of an answer at most, all windows together: a megabyte or two. */
const mostRows = 5000;
/** New Relic keeps a value a minute of timeslices for eight days, and one an hour of what is older. */
export const fineForMs: number = 8 * dayMs;

/** Why a query with this window cannot be asked with this step; `undefined` if it can. */
export function stepProblem(poll: PollTiming, stepMs: number): string | undefined {
  const { fromMs, toMs } = pollWindow(poll, 0);
  const windows = (toMs - fromMs) / stepMs;
  if (!Number.isInteger(windows)) return 'is no divisor of the window';
  return windows > mostWindows ? `is less than a ${mostWindows}th of the window` : undefined;
}

/** A slice that is not made yet: a year has half a million moments. */
export interface PlannedSlice {
  readonly moments: number;
  readonly make: () => Slice;
}

/**
 * The samples of a poll in slices.
 *
 * @param rows rows of one window, probably
 * @param hasRollups whether New Relic rolls the data up to hours when it is old
 */
export function slicesOf(
  { fromMs, toMs, stepMs, nowMs }: SampleRange,
  poll: PollTiming,
  rows: number,
  hasRollups: boolean,
): readonly PlannedSlice[] {
  const { fromMs: start, toMs: end } = pollWindow(poll, 0);
  const lengthMs = end - start;
  const hourlyMs = Math.ceil(stepMs / hourMs) * hourMs;
  const longMs = Math.ceil(lengthMs / hourlyMs) * hourlyMs;
  const coarse: Moment[] = [];
  let timeMs = Math.ceil(fromMs / stepMs) * stepMs;
  for (; timeMs <= toMs; timeMs += stepMs) {
    const window = pollWindow(poll, timeMs);
    if (!hasRollups || window.fromMs >= nowMs - fineForMs) break;
    const endMs = Math.floor(window.toMs / hourlyMs) * hourlyMs;
    // The first sample that could have shown it.
    const isNew = window.toMs - endMs < stepMs;
    if (isNew) coarse.push({ timeMs, window: { fromMs: endMs - longMs, toMs: endMs } });
  }
  // New Relic may count the steps of the whole range, or the windows that fit into it.
  const sizeOf = (ofMs: number, eachMs: number): number =>
    Math.max(1, Math.min(mostWindows + 1 - ofMs / eachMs, Math.floor(mostRows / (rows || 1))));
  const slices = inGroups(coarse, sizeOf(longMs, hourlyMs)).map(
    (moments): PlannedSlice => ({
      moments: moments.length,
      make: () => ({ moments, lengthMs: longMs, stepMs: hourlyMs }),
    }),
  );
  const size = sizeOf(lengthMs, stepMs);
  for (; timeMs <= toMs; timeMs += size * stepMs) {
    const firstMs = timeMs;
    const length = Math.min(size, Math.floor((toMs - firstMs) / stepMs) + 1);
    const momentAt = (_: unknown, index: number): Moment => {
      const atMs = firstMs + index * stepMs;
      return { timeMs: atMs, window: pollWindow(poll, atMs) };
    };
    const make = (): Slice => ({ moments: Array.from({ length }, momentAt), lengthMs, stepMs });
    slices.push({ moments: length, make });
  }
  return slices;
}

/** As many of them together as fit. */
export function inGroups<Item>(items: readonly Item[], size: number): readonly Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** What all moments of a slice together are about. */
export function rangeOf({ moments }: Slice): TimeWindow {
  const [first, last] = [moments[0]?.window, moments.at(-1)?.window];
  return { fromMs: first?.fromMs ?? 0, toMs: last?.toMs ?? 0 };
}

/**
 * Asks a query about the range of a slice, and divides its answer into those of single windows, as a poll of each
 * would have got them: in the order of the moments. A group without data in a window is not in its answer.
 * Rejects with an `ApiError`, also if a window is missing, or with the reason of a stop.
 *
 * @param count the member of a row that counts what it has; `undefined` if there is only one row
 */
export async function askSeries(
  { account, asking, platform }: OpenAccount,
  purpose: CallPurpose,
  nrql: string,
  { moments, lengthMs, stepMs }: Slice,
  count: string | undefined,
): Promise<readonly JsonObject[]> {
  const variables = {
    account: purpose.accountId,
    nrql: `${nrql} TIMESERIES ${lengthMs} SLIDE BY ${stepMs}`,
    timeout: nrqlTimeoutSeconds(account.timeoutMs),
  };
  const body = JSON.stringify({ query: nrqlDocument, variables });
  const { operation } = purpose;
  const request = { operation, answerSize: 'large', target: '/graphql', body } as const;
  const response = await asking.send(request, platform.stopSignal);
  const part = objectOf(answerOf(response, purpose, parseJson).part);
  const [rows, others, totals] = [part['results'], part['otherResult'], part['totalResult']].map(
    (all) => byWindow(all, purpose),
  );
  const { facets, messages } = objectOf(part['metadata']);
  return moments.map(({ window: { fromMs, toMs } }) => {
    const key = keyOf(fromMs, toMs);
    const found = rows?.get(key) ?? [];
    if (found.length === 0 && rows !== undefined && rows.size > 0) {
      const window = new Date(fromMs).toISOString();
      throw notWhole(purpose, `the answer lacks the ${lengthMs / minuteMs} minutes from ${window}`);
    }
    return {
      results: found.filter((row) => count === undefined || own(row, count) !== 0),
      otherResult: others?.get(key)?.[0] ?? null,
      totalResult: totals?.get(key)?.[0] ?? null,
      metadata: { facets, messages, timeWindow: { begin: fromMs, end: toMs } },
    };
  });
}

function keyOf(fromMs: number, toMs: number): string {
  return `${fromMs} ${toMs}`;
}

/** Rows by the window that they state. */
function byWindow(rows: unknown, purpose: CallPurpose): ReadonlyMap<string, readonly JsonObject[]> {
  const found = new Map<string, JsonObject[]>();
  for (const row of Array.isArray(rows) ? (rows as readonly unknown[]) : []) {
    if (!isJsonObject(row)) throw notWhole(purpose, 'the answer has a row that cannot be read');
    const { beginTimeSeconds: begin, endTimeSeconds: end } = row;
    const key = keyOf(Number(begin) * 1000, Number(end) * 1000);
    const known = found.get(key);
    if (known === undefined) found.set(key, [row]);
    else known.push(row);
  }
  return found;
}
