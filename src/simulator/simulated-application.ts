/** What an application runs; `idle` once served web requests and has none now. */
export type ApplicationKind = 'web' | 'other' | 'both' | 'idle' | 'not_reporting';

/** The two metrics that the account can answer for. */
export const metricNames = ['HttpDispatcher', 'OtherTransaction/all'] as const;

export type MetricName = (typeof metricNames)[number];

/** One host record. Times are wall time in milliseconds since the epoch. */
export interface SimulatedHost {
  readonly id: number;
  /** Not unique: a server with two virtual hosts has two ids. */
  readonly name: string;
  /** Its part of the application's traffic, relative to `totalWeight`. */
  readonly weight: number;
  readonly instanceIds: readonly number[];
  readonly startedMs: number;
  /** When it stopped; `undefined` while it runs. */
  readonly endedMs: number | undefined;
  /** Until when the vendor still lists a host that stopped. */
  readonly listedUntilMs: number | undefined;
}

/** One application; replaced as a whole whenever something about it changes. */
export interface SimulatedApplication {
  readonly id: number;
  readonly name: string;
  readonly kind: ApplicationKind;
  readonly language: string;
  /** While it reports; an application that does not is always `gray`. */
  readonly healthStatus: string;
  readonly alertPolicyId: number | undefined;
  /** Whether it has browser data. */
  readonly endUser: boolean;
  readonly responseTimeMs: number;
  /** Calls per minute of all hosts together, before the time of day and the noise. */
  readonly ratesPerMinute: Readonly<Record<MetricName, number>>;
  readonly totalWeight: number;
  readonly hosts: ReadonlyMap<number, SimulatedHost>;
  /** Since when it does not report; `undefined` while it does. */
  readonly silentSinceMs: number | undefined;
}

const metricsOfKind: Readonly<Record<ApplicationKind, readonly MetricName[]>> = {
  web: ['HttpDispatcher'],
  other: ['OtherTransaction/all'],
  both: metricNames,
  idle: ['HttpDispatcher'],
  not_reporting: ['HttpDispatcher'],
};

/** Whether the application has ever recorded the metric. */
export function records(application: SimulatedApplication, metric: MetricName): boolean {
  return metricsOfKind[application.kind].includes(metric) || application.ratesPerMinute[metric] > 0;
}
