import { type AgeResult, createAges } from './age-histogram.ts';
import { type Scene, type Vendor, vendorPerMinute } from './pacing-vendor.ts';

/** What one strategy did in one scene. */
export interface PacingResult extends AgeResult {
  readonly refusedPerHour: number;
  /** Calls sent, as a part of the vendor's quota. */
  readonly quotaShare: number;
  /** From the start until each host had a value; `undefined` if that never happened. */
  readonly firstSetSeconds: number | undefined;
  /** Until the first full set. */
  readonly first: CallCounts;
  /** For one new value of each host, in the time that is measured. */
  readonly perRefresh: CallCounts;
  /** The most NRQL queries in any minute of the measured time. */
  readonly mostNrqlPerMinute: number;
}

export interface CallCounts {
  /** Calls, NRQL queries among them. */
  readonly calls: number;
  readonly nrql: number;
}

export function resultOf(
  scene: Scene,
  vendor: Vendor,
  ages: AgeResult,
  firstSetMs: number | undefined,
): PacingResult {
  const firstMs = firstSetMs ?? Number.POSITIVE_INFINITY;
  const untilMs = scene.warmUpMs + scene.measuredMs;
  const measured = callsIn(vendor, scene.warmUpMs, untilMs);
  const refreshes = ages.published / scene.hosts;
  return {
    ...ages,
    first: callsIn(vendor, 0, firstMs),
    perRefresh: { calls: measured.calls / refreshes, nrql: measured.nrql / refreshes },
    mostNrqlPerMinute: mostInAMinute(
      vendor.nrqlMs.filter((atMs) => atMs >= scene.warmUpMs && atMs < untilMs),
    ),
    refusedPerHour: (vendor.refused() * 3_600_000) / scene.measuredMs,
    quotaShare: vendor.calls() / ((vendorPerMinute * scene.measuredMs) / 60_000),
    firstSetSeconds: firstSetMs === undefined ? undefined : firstSetMs / 1000,
  };
}

function callsIn({ nrqlMs, otherMs }: Vendor, fromMs: number, toMs: number): CallCounts {
  const isIn = (atMs: number): boolean => atMs >= fromMs && atMs < toMs;
  const nrql = nrqlMs.filter(isIn).length;
  return { calls: nrql + otherMs.filter(isIn).length, nrql };
}

function mostInAMinute(timesMs: readonly number[]): number {
  let [start, most] = [0, 0];
  for (const [index, atMs] of timesMs.entries()) {
    while (atMs - (timesMs[start] ?? atMs) >= 60_000) start += 1;
    most = Math.max(most, index - start + 1);
  }
  return most;
}

export interface AgeTheory {
  readonly p50Seconds: number;
  readonly p99Seconds: number;
}

const intervalSeconds = 60;
const meanLatencySeconds = 0.24;
const listPage = 200;

function quotaForPolls({ applications, foreign }: Scene): number {
  return vendorPerMinute - (foreign?.perMinute ?? 0) - Math.ceil(applications / listPage);
}

/** T: the time in which everything can be asked for once, or the interval if that is longer. */
export function roundSecondsOf(scene: Scene): number {
  const { applications, hosts } = scene;
  return Math.max(intervalSeconds, (60 * (applications + hosts)) / quotaForPolls(scene));
}

/**
 * An ideal that nobody reaches: it spends the vendor's whole quota without a 429, keeps an even
 * distance, and publishes each value when it arrives. With T = max(interval, calls / (quota - list
 * calls)) the age of a value, counted from its request, is uniform in [latency, latency + T].
 */
export function theoryOf(scene: Scene): AgeTheory {
  const round = roundSecondsOf(scene);
  return {
    p50Seconds: meanLatencySeconds + 0.5 * round,
    p99Seconds: meanLatencySeconds + 0.99 * round,
  };
}

/**
 * The same ideal for a whole application at a time, as the promise wants it that all values of an
 * application describe the same window: it is asked for at the full rate and published when the
 * last answer is there, so its values wait for up to n / quota before they are seen.
 */
export function theoryOfWholes(scene: Scene, sizes: readonly number[]): AgeTheory {
  const roundMs = 1000 * roundSecondsOf(scene);
  const ages = createAges(scene.hosts, { fromMs: 0, toMs: Number.POSITIVE_INFINITY });
  for (const [application, size] of sizes.entries()) {
    const pollMs = (60_000 * (size + 1)) / quotaForPolls(scene);
    for (let host = 0; host < size; host += 1) {
      const key = `${application}/${host}`;
      const askedMs = (pollMs * host) / size;
      const shownMs = pollMs + 1000 * meanLatencySeconds;
      ages.published(key, askedMs, shownMs);
      ages.missing(key, shownMs + roundMs);
    }
  }
  return ages.result();
}
