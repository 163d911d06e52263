/** A range of a metric data request: as the answer echoes it, and as the data covers it. */
export interface TimeRange {
  readonly requestedFromMs: number;
  readonly requestedToMs: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether the request named it. */
  readonly explicit: boolean;
}

/** `undefined` is a range that the vendor refuses with 422. */
export type ParsedTimeRange = TimeRange | undefined;

const minuteMs = 60_000;
const defaultRangeMs = 30 * minuteMs;
/** How much earlier the data of the default range starts; observed: 1.5 to 4 minutes. */
const defaultShiftMs = 3 * minuteMs;

const isoTimestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?<offset>Z|[+-]\d\d:?\d\d)?$/;

/** ISO 8601 with any offset; without one it is UTC. */
function parseTimestamp(text: string): number | undefined {
  const match = isoTimestamp.exec(text);
  if (match === null) return undefined;
  const timeMs = Date.parse(match.groups?.['offset'] === undefined ? `${text}Z` : text);
  return Number.isFinite(timeMs) ? timeMs : undefined;
}

function explicitRange(fromMs: number | undefined, toMs: number | undefined): ParsedTimeRange {
  if (fromMs === undefined || toMs === undefined || toMs - fromMs < minuteMs) return undefined;
  return { requestedFromMs: fromMs, requestedToMs: toMs, fromMs, toMs, explicit: true };
}

/**
 * The range that `from` and `to` mean at `nowMs`. Without both it is the last 30 minutes, whose
 * data is taken from some minutes earlier; without `to` it ends now.
 */
export function parseTimeRange(
  from: string | undefined,
  to: string | undefined,
  nowMs: number,
): ParsedTimeRange {
  if (from === undefined && to === undefined) {
    const fromMs = Math.floor((nowMs - defaultRangeMs - defaultShiftMs) / minuteMs) * minuteMs;
    return {
      requestedFromMs: nowMs - defaultRangeMs,
      requestedToMs: nowMs,
      fromMs,
      toMs: fromMs + defaultRangeMs,
      explicit: false,
    };
  }
  const toMs = to === undefined ? nowMs : parseTimestamp(to);
  if (from === undefined) {
    return explicitRange(toMs === undefined ? undefined : toMs - defaultRangeMs, toMs);
  }
  return explicitRange(parseTimestamp(from), toMs);
}

/** Whole seconds with the offset that the vendor always writes. */
export function formatTimestamp(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}+00:00`;
}
