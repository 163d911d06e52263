const minuteMs = 60_000;

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * An ISO 8601 timestamp of an answer in milliseconds since the epoch; `undefined` when the value is
 * none. One without an offset is none either: it would be read in the zone of this machine.
 */
export function epochMsOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || !timestamp.test(value)) return undefined;
  const epochMs = Date.parse(value);
  return Number.isNaN(epochMs) ? undefined : epochMs;
}

/** The minute that holds `epochMs`, as `YYYY-MM-DDThh:mm:00Z`: the vendor's resolution is a minute. */
export function minuteTextOf(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 16)}:00Z`;
}

/**
 * The end of a range that the vendor states. It writes the end of a summarized range either as
 * `:00` or as the last second before it, `:59`; both mean the same whole minute.
 */
export function windowEndMsOf(value: unknown): number | undefined {
  const epochMs = epochMsOf(value);
  if (epochMs === undefined) return undefined;
  const withinMinuteMs = ((epochMs % minuteMs) + minuteMs) % minuteMs;
  return withinMinuteMs >= 59_000 ? epochMs - withinMinuteMs + minuteMs : epochMs;
}
