import type { PollTiming } from '../../model/config.ts';
import { dayMs, hourMs, minuteMs } from '../../model/time.ts';
import { pollWindow, type TimeWindow } from '../../model/window.ts';
import type { JsonObject } from '../../newrelic/answer.ts';
import { type SeriesReading, windowAnswersOf } from '../../newrelic/nerdgraph/series-answer.ts';
import { askNrql, type OpenAccount } from '../survey/ask.ts';

/** Of which times samples are written. Wall times. */
export interface SampleRange {
  readonly fromMs: number;
  readonly toMs: number;
  /** Samples stand at its multiples since 1970. */
  readonly stepMs: number;
  /** When the run began. */
  readonly nowMs: number;
}

/** Windows of one length that one query with TIMESERIES answers. */
export interface Slice {
  readonly windows: number;
  /** When the first of them ends. */
  readonly endMs: number;
  readonly lengthMs: number;
  /** From one of them to the next. */
  readonly stepMs: number;
  /** When a scrape would first have shown the window that ends then. */
  readonly timeOf: (endMs: number) => number;
  /** The same samples from one time to another by the hour, if New Relic rolls up what it has of them. */
  readonly hourly?: (fromMs: number, toMs: number) => Slice;
}

/** Numbers that no answer has, for amounts: 0 if the metric had something before; nothing, but it had. */
export const marks = { ifBefore: 5e-324, hidden: 1e-323 } as const;

/** What a page has of New Relic's values at a time; the lines are made when they are asked for, in order. */
export interface Page {
  readonly timeMs: number;
  readonly lines: () => readonly string[];
}

/** New Relic gives no more windows in an answer. */
const mostWindows = 366;
/** Rows of an answer at most, all windows together: a megabyte or two. */
const mostRows = 5000;
/** New Relic keeps a value a minute of timeslices for eight days, and one an hour of what is older. */
const fineForMs = 8 * dayMs;
/** Of these, what has so long to go counts as old: a call waits for its turn, and clocks differ. */
const spareMs = 2 * hourMs;
/** A plan holds so much longer: a run that takes less has just the slices of its plan. */
const planSpareMs = hourMs;

/** Where windows by the minute begin, in a plan that is made now. */
export function plannedEdge(nowMs: number): number {
  return nowMs - fineForMs + spareMs + planSpareMs;
}

/** Why what is polled cannot be asked for with this step; `undefined` if it can. */
export function stepProblem(stepMs: number, poll: PollTiming, name: string): string | undefined {
  const windows = lengthOf(poll) / stepMs;
  const isDivisor = Number.isInteger(windows);
  if (isDivisor && windows <= mostWindows) return undefined;
  const problem = isDivisor ? `is less than a ${mostWindows}th` : 'is no divisor';
  return `--step=${stepMs / minuteMs}m ${problem} of the window of ${name}: choose another`;
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
): readonly Slice[] {
  const { delayMs } = poll;
  const lengthMs = lengthOf(poll);
  const timeOf = (endMs: number): number => Math.ceil((endMs + delayMs) / stepMs) * stepMs;
  const firstMs = Math.ceil(fromMs / stepMs) * stepMs;
  const lastMs = Math.floor(toMs / stepMs) * stepMs;
  const fineEndMs = Math.ceil((plannedEdge(nowMs) + lengthMs) / minuteMs) * minuteMs;
  const fineMs = hasRollups ? Math.max(firstMs, timeOf(fineEndMs)) : firstMs;
  const hourlyMs = Math.ceil(stepMs / hourMs) * hourMs;
  const until = (untilMs: number, whole: Omit<Slice, 'windows'>): Slice => {
    const windows = Math.floor((untilMs - delayMs - whole.endMs) / whole.stepMs) + 1;
    return { ...whole, windows: Math.max(0, windows) };
  };
  // Whole hours of what is rolled up; not what the sample before the first one has shown.
  const hourly = (from: number, to: number): Slice =>
    until(to, {
      endMs: (Math.floor((from - stepMs - delayMs) / hourlyMs) + 1) * hourlyMs,
      lengthMs: Math.ceil(lengthMs / hourlyMs) * hourlyMs,
      stepMs: hourlyMs,
      timeOf,
    });
  // What polls asked for.
  const { toMs: endMs } = pollWindow(poll, fineMs);
  const fine = until(lastMs, { endMs, lengthMs, stepMs, timeOf, ...(hasRollups && { hourly }) });
  return [hourly(firstMs, Math.min(lastMs, fineMs - stepMs)), fine].flatMap((whole) => {
    // New Relic may count the steps of the whole range, or the windows that fit into it.
    const fitting = mostWindows + 1 - whole.lengthMs / whole.stepMs;
    const size = Math.max(1, Math.min(fitting, Math.floor(mostRows / (rows || 1))));
    return cut(whole, size);
  });
}

/** What to ask now for a slice: by the hour what has become too old to be asked as it was planned. */
export function slicesNow(slice: Slice, nowMs: number): readonly Slice[] {
  const { endMs, lengthMs, stepMs, windows, timeOf, hourly } = slice;
  const isOld = endMs - lengthMs < nowMs - fineForMs + spareMs;
  if (hourly === undefined || !isOld) return [slice];
  const oldWindows = Math.ceil((plannedEdge(nowMs) + lengthMs - endMs) / stepMs);
  const count = Math.min(windows, oldWindows);
  const old = hourly(timeOf(endMs), timeOf(endMs + (count - 1) * stepMs));
  const young = { ...slice, windows: windows - count, endMs: endMs + count * stepMs };
  return [old, young].filter((one) => one.windows > 0);
}

function lengthOf(poll: PollTiming): number {
  const { fromMs, toMs } = pollWindow(poll, 0);
  return toMs - fromMs;
}

/** The windows of a slice in slices of so many. */
export function cut(slice: Slice, size: number): readonly Slice[] {
  const { windows, endMs, stepMs } = slice;
  return Array.from({ length: Math.ceil(windows / size) }, (_, index) => ({
    ...slice,
    windows: Math.min(size, windows - index * size),
    endMs: endMs + index * size * stepMs,
  }));
}

/** In their order. */
export function windowsOf({ windows, endMs, lengthMs, stepMs }: Slice): readonly TimeWindow[] {
  return Array.from({ length: windows }, (_, index) => {
    const toMs = endMs + index * stepMs;
    return { fromMs: toMs - lengthMs, toMs };
  });
}

/** From the beginning of the first window to the end of the last one. */
export function rangeOf({ windows, endMs, lengthMs, stepMs }: Slice): TimeWindow {
  return { fromMs: endMs - lengthMs, toMs: endMs + (windows - 1) * stepMs };
}

/** As many of them together as fit. */
export function inGroups<Item>(items: readonly Item[], size: number): readonly Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/**
 * Asks a query about the range of a slice. Gives the page of each window, in their order. Rejects with an `ApiError`,
 * or with the reason of a stop.
 */
export async function askSeries(
  account: OpenAccount,
  nrqlOf: (range: TimeWindow) => string,
  slice: Slice,
  reading: SeriesReading,
  read: (part: JsonObject, window: TimeWindow) => Page['lines'],
): Promise<readonly Page[]> {
  const nrql = `${nrqlOf(rangeOf(slice))} TIMESERIES ${slice.lengthMs} SLIDE BY ${slice.stepMs}`;
  return askNrql(account, reading.purpose, nrql, (answer) =>
    Array.from(windowAnswersOf(answer, windowsOf(slice), reading), ([window, part]) => ({
      timeMs: slice.timeOf(window.toMs),
      lines: read(part, window),
    })),
  );
}
