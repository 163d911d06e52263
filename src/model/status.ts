import type { FailureReason } from './api-error.ts';
import type { Query } from './config.ts';
import type { Refusals } from './permit.ts';
import type { Shard } from './shard.ts';
import type { AppReading, QueryReading } from './snapshot.ts';
import type { MissingMetric, SeriesDropReason } from './telemetry.ts';

/** The running program: shown to people and exported as `newrelic_exporter_build_info`. */
export interface BuildInfo {
  readonly version: string;
  /** The commit the program was built from, or `unknown`. */
  readonly revision: string;
  /** Such as `v24.4.1`. */
  readonly nodeVersion: string;
}

/** Why something fails, and since when. */
export interface Failure {
  readonly reason: FailureReason;
  /** The reason in full, with the remedy. Holds no secret. */
  readonly message: string;
  /** Wall time at which the first of the failures in a row began. */
  readonly sinceMs: number;
}

/**
 * How an application is doing. `up`: its last poll got everything. `failing`: its last poll did not; what is
 * published is older, or lacks some hosts. `dropped`: polls have failed for so long that nothing is
 * published any longer. `gone`: New Relic lists it, but answers 404 when asked for it, so nothing is
 * published. `waiting`: its first poll has not ended. `silent`: it reports nothing to New Relic, so that it
 * is not asked for.
 */
export const applicationStates = ['dropped', 'failing', 'gone', 'waiting', 'up', 'silent'] as const;
export type ApplicationState = (typeof applicationStates)[number];

/** How the polls of an application or a query go, as it is when it is read. All times are wall times. */
export interface PolledStatus {
  readonly account: string;
  readonly name: string;
  readonly state: ApplicationState;
  /** Why the last poll did not get everything; `undefined` if it did. */
  readonly failure: Failure | undefined;
  /** What is published now; `undefined` if nothing is. */
  readonly reading: { readonly windowEndMs: number | undefined } | undefined;
  /** Whether what is published comes from an earlier poll than the last one. */
  readonly isHeld: boolean;
  /**
   * When held values were dropped, or will be if polls go on failing; `undefined` while polls do not
   * fail.
   */
  readonly dropMs: number | undefined;
  /** Whether its last poll was in failures of the account that are over. Default: not. */
  readonly isLeftOver?: boolean;
  readonly lastSuccessMs: number | undefined;
  /** When the last poll ended; `undefined` before the first one has. */
  readonly lastPollMs: number | undefined;
  /** How long it took, with the time that its calls waited for the budget. */
  readonly lastPollSeconds: number | undefined;
  /** When the next poll is due; in the past if it is late. */
  readonly nextPollMs: number;
  /** The interval that the last ten minutes reached, pauses included. */
  readonly intervalSeconds: number;
}

export interface ApplicationStatus extends PolledStatus {
  readonly id: string;
  /** The entry of `apps` that chose it, as it was written, such as `id=123`. */
  readonly selector: string;
  /** Extra labels from the configuration. */
  readonly labels: Readonly<Record<string, string>>;
  readonly reading: AppReading | undefined;
  readonly hostIds: readonly string[];
  /** Those of `hostIds` of which the last poll got nothing. */
  readonly failedHostIds: ReadonlySet<string>;
  /** Host names by host id, as far as they are known. */
  readonly hostNames: ReadonlyMap<string, string>;
}

export interface QueryStatus extends PolledStatus {
  readonly query: Query;
  readonly reading: QueryReading | undefined;
  /** Why it has never had a value, and what to do; `undefined` if it has, or too little is known. */
  readonly missing: string | undefined;
}

/**
 * How an account is doing. `degraded`: discovered, but some application fails, an entry matches nothing, the
 * key file cannot be read, New Relic refuses calls, intervals are stretched, or metrics or queries never have a value. `down`: the last discovery failed. `starting`: the first one has not ended.
 */
export const accountStates = ['down', 'degraded', 'starting', 'up'] as const;
export type AccountState = (typeof accountStates)[number];

/** Intervals that are stretched more than so are worth a warning. */
export const mostStretch = 1.1;

/** An application that fails, or a query. */
export type FailingStatus = Pick<
  PolledStatus,
  'account' | 'name' | 'state' | 'failure' | 'isHeld' | 'dropMs' | 'isLeftOver'
>;

/** How far New Relic's clock is ahead of this machine's; negative when it is behind. */
export interface ClockSkew {
  readonly ms: number;
  /** Whether windows follow it: a difference beyond reason means a wrong `Date`, or that our own clock was never set. */
  readonly isBelieved: boolean;
}

/** The API key of an account; never the key itself. */
export interface KeyStatus {
  /** Where it comes from, such as `file /etc/newrelic/api-key`. */
  readonly location: string;
  /** Why it could not be read when it was last tried; the key that was read before stays in use. */
  readonly problem: string | undefined;
  /** Since when it has been readable, or has not been. */
  readonly sinceMs: number;
  /** When the key in use was first read: at the start, or after it was last changed. */
  readonly readMs: number;
}

/** What is known about one account. All times are wall times. */
export interface AccountDetails {
  readonly name: string;
  /** Whether it has applications: if not, nobody asks for lists, and its queries alone say whether it is up. */
  readonly hasApplications: boolean;
  /**
   * Whether the last discovery succeeded, or New Relic answered one of the last two queries; `undefined` before the
   * first one has ended.
   */
  readonly up: boolean | undefined;
  /** Why it did not. */
  readonly error: string | undefined;
  readonly errorReason: FailureReason | undefined;
  readonly firstCycleEnded: boolean;
  readonly applications: number;
  readonly hosts: number;
  /** Applications whose first poll has ended. */
  readonly polledApplications: number;
  readonly budgetRequestsPerMinute: number;
  /** `undefined` before anything was discovered. */
  readonly demandRequestsPerMinute: number | undefined;
  /**
   * The longest poll interval of the account's applications as the last ten minutes reached it, pauses
   * included; before any is known, that of the configuration.
   */
  readonly pollIntervalSeconds: number;
  /** The longest one as it is configured. */
  readonly configuredIntervalSeconds: number;
  /** The factor by which the budget stretches intervals; at least 1. */
  readonly stretch: number;
  /** The shortest `stale_after` of the account's applications; before any is known, that of the configuration. */
  readonly staleAfterSeconds: number;
  /** Configured selectors that choose nothing, as they were written. */
  readonly missingSelectors: readonly string[];
  /** The same array as long as nothing in it changes. */
  readonly missingMetrics: readonly MissingMetric[];
  /** Tags of which no application has a value that asks for them. Default: none. */
  readonly missingTags?: readonly string[];
  /** How many calls the metrics of an entry take, in words; `undefined` if their number is irrelevant. */
  readonly metricCalls: string | undefined;
  readonly state: AccountState;
  /** Since when it has been in this state; `undefined` while it starts. */
  readonly stateSinceMs: number | undefined;
  /**
   * Applications that the last complete discovery was told of; `undefined` before there was one. All of the
   * account, unless every entry is an id.
   */
  readonly listedApplications: number | undefined;
  /** How many of these entries exclude. */
  readonly excludedApplications: number;
  /** Applications in the states `failing` and `dropped`. */
  readonly failing: readonly (FailingStatus & { readonly id: string })[];
  /** Default: none. */
  readonly queries?: readonly QueryStatus[] | undefined;
  /** When the last discovery that succeeded ended. */
  readonly lastDiscoveryMs: number | undefined;
  /** When the next discovery begins; `undefined` while one is under way, or none will follow. */
  readonly nextDiscoveryMs: number | undefined;
  /** Since when it has had problems of a kind, of those that have no time of their own. Default: not noted. */
  readonly problemsSinceMs?: ReadonlyMap<string, number> | undefined;
  readonly requestsInFlight: number;
  /** Wall time until which the account pauses after a 429; `undefined` if it does not. */
  readonly backoffUntilMs: number | undefined;
  /** Only if it matters. */
  readonly clockSkew?: ClockSkew | undefined;
  /** Series that are not published now, by reason. Default: none. */
  readonly leftOut?: Readonly<Record<SeriesDropReason, number>>;
  /** Accounts that have its key from elsewhere, and itself. Default: none. */
  readonly keySharedBy?: readonly string[];
  readonly source: 'rest' | 'nerdgraph';
  /** The full limit, of which `budgetRequestsPerMinute` is what may be planned with now. */
  readonly requestsPerMinute: number;
  /** That of all shards together. */
  readonly sharedRequestsPerMinute: number;
  /** The last calls of the key that New Relic refused with 429; `undefined` when that is long ago. */
  readonly refusals: Refusals | undefined;
  /** Whether they have lowered the limit of the key, which other accounts may share. */
  readonly isReduced: boolean;
  /** Calls of the last 60 seconds as the budget counts them: in flight, or ended since then. */
  readonly requestsLastMinute: number;
  readonly key: KeyStatus;
}

/** The last attempt to put a configuration into force. */
export interface ReloadStatus {
  /** The path of the configuration file, as it was given. */
  readonly configFile: string;
  /** What the active configuration includes, by name. */
  readonly includedFiles: readonly string[];
  /** Those of them that are broken, or patterns of them, and what is wrong: what they last said is in force. */
  readonly brokenFiles: readonly { readonly name: string; readonly problem: string }[];
  /** Since when the configuration has been in force; `undefined` while there is none. */
  readonly inForceSinceMs: number | undefined;
  /** When it was last tried to put one into force. */
  readonly lastAttemptMs: number | undefined;
  /** What was wrong then, with its position and remedy; `undefined` if nothing was. Holds no secret. */
  readonly problem: string | undefined;
}

/** The process as a whole, as it is when it is read. */
export interface ProcessStatus {
  readonly nowMs: number;
  readonly startedMs: number;
  readonly build: BuildInfo;
  readonly shard: Shard;
  readonly reload: ReloadStatus;
  /** As of an account. */
  readonly problemsSinceMs?: ReadonlyMap<string, number> | undefined;
}

/** What the status page and its JSON show. Nothing in it holds a secret, and reading it asks nobody. */
export interface StatusSource {
  process(): ProcessStatus;
  accounts(): readonly AccountDetails[];
  /** All polled applications of all accounts, in no particular order. */
  applications(): readonly ApplicationStatus[];
  /**
   * The configuration in force with every default applied, as YAML, without any secret; `undefined` while
   * there is none.
   */
  effectiveConfig(): string | undefined;
}
