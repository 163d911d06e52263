import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';

/** A change of state of one of many subjects, such as an application. */
export interface Change {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  /** The message for others to which the same happens shortly after. */
  readonly moreMessage: string;
  /** Tells the subject from the others. */
  readonly id: string;
  /** The subject as people know it. */
  readonly name: string;
  /** What else makes two changes alike, such as the reason of a failure. */
  readonly reason: string | undefined;
  /** Whether the subject is in a bad state now. */
  readonly isFailing: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Writes changes of state so that their number stays bounded: of many that are alike within a
 * minute only the first ones get a line of their own, and a subject that changes again and again is
 * counted after a few lines. Every change is in a line or in a count.
 */
export interface ChangeLog {
  write(change: Change): void;
  /** Writes what was only counted so far. */
  stop(): void;
}

export interface ChangeLogDependencies {
  readonly logger: Logger;
  readonly clock: Clock;
}
