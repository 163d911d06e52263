import type { ApplicationKind } from './simulated-application.ts';

/** A host as a test wants it; the rest is made up. */
export interface HostSpec {
  readonly id?: number | undefined;
  readonly name?: string | undefined;
  /** Its part of the traffic, relative to its siblings. */
  readonly weight?: number | undefined;
  readonly instances?: number | undefined;
}

/** An application as a test wants it; the rest is made up. */
export interface ApplicationSpec {
  readonly id?: number | undefined;
  readonly name?: string | undefined;
  readonly kind?: ApplicationKind | undefined;
  readonly language?: string | undefined;
  readonly healthStatus?: string | undefined;
  /** How many hosts, or which. */
  readonly hosts?: number | readonly HostSpec[] | undefined;
  /** Web requests per minute of all hosts together. */
  readonly webRpm?: number | undefined;
  /** Background transactions per minute of all hosts together. */
  readonly otherRpm?: number | undefined;
  /** Names of transactions that it has metrics of, web and other: they make the list of its metrics long. Default 5. */
  readonly transactionNames?: number | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
}

export interface FleetOptions {
  /** Default 1. */
  readonly seed?: number | undefined;
  /** How many applications, or which. Of a number, each has tags: a team, an environment, some a tier. Default 12. */
  readonly applications?: number | readonly ApplicationSpec[] | undefined;
  /**
   * With a number of applications: the exact number of hosts listed in the whole account, spread
   * unevenly over those that report. Default: four for each application.
   */
  readonly hosts?: number | undefined;
  /** The kinds that applications without a kind get in turn. Default: all five. */
  readonly kinds?: readonly ApplicationKind[] | undefined;
  /** `flat`: all minutes and hosts are alike, for tests with exact numbers. Default `daily`. */
  readonly traffic?: 'daily' | 'flat' | undefined;
  /** Hosts of the account that are replaced by new ones each hour, evenly spread. Default 0. */
  readonly churnPerHour?: number | undefined;
  /** How long a stopped host stays in the lists. Default one hour, like the vendor. */
  readonly listedAfterEndMs?: number | undefined;
  /** How long the calls of a stopped host still count in past windows. Default a day. */
  readonly retainedAfterEndMs?: number | undefined;
}
