import { documentUrl } from '../../model/shown-text.ts';

/** The last day of the vendor's REST API v2, in UTC. */
export const lastDayOfRest = '2027-07-31';

const warnedFromMs = Date.UTC(2027, 1, 1);
const endedFromMs = Date.UTC(2027, 7, 1);

/** What a user of the REST API v2 has to know of its end. */
export interface EndOfRest {
  /** Whether the end is near enough for a warning, or over. */
  readonly isUrgent: boolean;
  readonly hasEnded: boolean;
  /** A clause for users to read. */
  readonly message: string;
  /** What to do about it. */
  readonly remedy: string;
}

/** The end of the REST API v2 as it looks at a time of the wall clock. */
export function endOfRestAt(wallMs: number): EndOfRest {
  const hasEnded = wallMs >= endedFromMs;
  const [ends, when] = hasEnded ? ['ended', 'now'] : ['ends', 'before then'];
  return {
    isUrgent: wallMs >= warnedFromMs,
    hasEnded,
    message: `"source: rest" asks the REST API v2, which New Relic ${ends} on ${lastDayOfRest}`,
    remedy:
      `change to "source: nerdgraph" ${when}: newrelic-exporter compare shows whether the values ` +
      `agree; see ${documentUrl('nerdgraph.md')}`,
  };
}
