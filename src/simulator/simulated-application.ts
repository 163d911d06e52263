/** What an application runs. `idle`: it served web requests once, but has none now. */
export type ApplicationKind = 'web' | 'other' | 'both' | 'idle' | 'not_reporting';

/** The metrics of the calls of an application, from which those of all its others follow. */
export const metricNames = ['HttpDispatcher', 'OtherTransaction/all'] as const;

export type MetricName = (typeof metricNames)[number];

/** One host record. Times are wall time in milliseconds since the epoch. */
export interface SimulatedHost {
  readonly id: number;
  /** Not unique: a server with two virtual hosts has one name and two ids. */
  readonly name: string;
  /** Its share of the application's traffic, relative to `totalWeight`. */
  readonly weight: number;
  readonly instanceIds: readonly number[];
  readonly startedMs: number;
  /** When it stopped; `undefined` while it runs. */
  readonly endedMs: number | undefined;
  /** Until when the vendor lists the stopped host. */
  readonly listedUntilMs: number | undefined;
}

/** One application; replaced as a whole at every change. */
export interface SimulatedApplication {
  readonly id: number;
  readonly name: string;
  readonly kind: ApplicationKind;
  readonly language: string;
  /** Its status while it reports; a silent application is always `gray`. */
  readonly healthStatus: string;
  readonly alertPolicyId: number | undefined;
  /** Whether it has browser data. */
  readonly endUser: boolean;
  readonly responseTimeMs: number;
  /** Calls per minute of all hosts together, before the daily curve and the noise. */
  readonly ratesPerMinute: Readonly<Record<MetricName, number>>;
  /** Errors for each call, on average; 0 if it has never had any. */
  readonly errorRatio: number;
  /** Names of transactions that it has metrics of, for each type of transactions. */
  readonly transactionNames: number;
  /** Beside those that the vendor sets. */
  readonly tags: Readonly<Record<string, string>>;
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

/** Adds or replaces hosts, and drops those that stopped too long ago. */
export function withHosts(
  application: SimulatedApplication,
  changed: readonly SimulatedHost[],
  forgottenBeforeMs: number,
): SimulatedApplication {
  const all = new Map(application.hosts);
  for (const host of changed) all.set(host.id, host);
  const kept = [...all.values()].filter(
    (host) => host.endedMs === undefined || host.endedMs >= forgottenBeforeMs,
  );
  return { ...application, hosts: new Map(kept.map((host) => [host.id, host])) };
}

export function runningHosts(application: SimulatedApplication): readonly SimulatedHost[] {
  return [...application.hosts.values()].filter((host) => host.endedMs === undefined);
}

/** The hosts that the vendor lists at `nowMs`: none for a silent application. */
export function listedHosts(
  application: SimulatedApplication,
  nowMs: number,
): readonly SimulatedHost[] {
  if (application.silentSinceMs !== undefined) return [];
  return [...application.hosts.values()].filter(
    (host) => host.listedUntilMs === undefined || nowMs < host.listedUntilMs,
  );
}

/** Gives two hosts the same name: the first two of the first application that has two. */
export function withSharedHostName(
  applications: readonly SimulatedApplication[],
): readonly SimulatedApplication[] {
  const chosen = applications.find((application) => application.hosts.size > 1);
  return applications.map((application) => {
    if (application !== chosen) return application;
    const [first, second] = application.hosts.values();
    if (first === undefined || second === undefined) return application;
    const hosts = new Map(application.hosts).set(second.id, { ...second, name: first.name });
    return { ...application, hosts };
  });
}
