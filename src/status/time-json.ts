/** The last moment that an ISO 8601 text can name. */
const latestMs = 8_640_000_000_000_000;

/** A wall time as ISO 8601; null if there is none. */
export function timeJson(atMs: number | undefined): string | null {
  // What is due in the far future must not end as an error.
  if (atMs === undefined || Math.abs(atMs) > latestMs || Number.isNaN(atMs)) return null;
  return new Date(atMs).toISOString();
}
