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

export interface BurstLogOptions {
  readonly account: string;
  /** Lines in full for changes that are alike. */
  readonly inFull: number;
  /** The field that says for how many subjects a line stands. */
  readonly countField: string;
}

/** Changes that are alike: same message, same reason. */
interface Burst {
  readonly level: Change['level'];
  readonly message: string;
  readonly reason: string | undefined;
  inFull: number;
  /** The names of the subjects that were only counted, by id. */
  readonly more: Map<string, string>;
  /** Changes that were only counted: a subject may have several. */
  changes: number;
  readonly cancelTimer: () => void;
}

/** For so long changes that are alike are collected, counted from the first one. */
const burstSpanMs = 60_000;
const mostBurstExamples = 5;

/**
 * Writes the first changes that are alike in full and at once, and one line a minute for all the
 * others, until there was none for a minute.
 */
function createBurstLog(
  { account, inFull, countField }: BurstLogOptions,
  { logger, clock }: ChangeLogDependencies,
): ChangeLog {
  const bursts = new Map<string, Burst>();

  /** A span that continues another one has no lines in full of its own. */
  const open = (
    key: string,
    change: Pick<Burst, 'level' | 'message' | 'reason'>,
    isContinued = false,
  ): Burst => {
    const { level, message, reason } = change;
    const cancelTimer = clock.after(burstSpanMs, () => {
      const ended = close(key);
      const goesOn =
        ended !== undefined && (isContinued ? ended.changes > 0 : ended.inFull >= inFull);
      if (goesOn) open(key, ended, true);
    });
    const burst: Burst = {
      level,
      message,
      reason,
      inFull: isContinued ? inFull : 0,
      more: new Map(),
      changes: 0,
      cancelTimer,
    };
    bursts.set(key, burst);
    return burst;
  };

  const close = (key: string): Burst | undefined => {
    const burst = bursts.get(key);
    if (burst === undefined) return undefined;
    bursts.delete(key);
    burst.cancelTimer();
    const { level, message, reason, more, changes } = burst;
    if (changes > 0) {
      const examples = [...more.values()].slice(0, mostBurstExamples);
      const count = { [countField]: more.size, ...(changes > more.size ? { changes } : {}) };
      logger[level]({ account, reason, ...count, examples }, message);
    }
    return burst;
  };

  return {
    write: ({ level, message, moreMessage, id, name, reason, fields }) => {
      const key = `${message} ${reason ?? ''}`;
      const burst = bursts.get(key) ?? open(key, { level, message: moreMessage, reason });
      if (burst.inFull >= inFull) {
        burst.more.set(id, name);
        burst.changes += 1;
        return;
      }
      burst.inFull += 1;
      logger[level](fields, message);
    },
    stop: () => {
      for (const key of bursts.keys()) close(key);
    },
  };
}

/** The subjects whose changes were not admitted. */
export interface Flapping {
  readonly subjects: number;
  /** Changes of all of them that were not admitted. */
  readonly changes: number;
  /** How many of the subjects are in a bad state now. */
  readonly failing: number;
  readonly examples: readonly string[];
}

export interface FlapGuard {
  /** Whether the change may be logged. If not, it is counted. */
  admits(change: Pick<Change, 'id' | 'name' | 'isFailing'>): boolean;
  /** Reports what was only counted so far. */
  stop(): void;
}

export interface FlapGuardDependencies {
  readonly clock: Clock;
  /** Called at the end of a span in which changes were not admitted. */
  readonly flapping: (what: Flapping) => void;
}

interface Subject {
  readonly name: string;
  readonly changes: number;
  readonly isFailing: boolean;
}

/** Changes of one subject are admitted within a span: it fails, for another reason, and recovers. */
const admittedPerSpan = 4;
const spanMs = 10 * 60_000;
const mostExamples = 5;

/** Forgets all subjects at the end of every span, so that it holds no more than changed lately. */
export function createFlapGuard({ clock, flapping }: FlapGuardDependencies): FlapGuard {
  const subjects = new Map<string, Subject>();
  let cancelTimer: (() => void) | undefined;

  const endSpan = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    const restless = [...subjects.values()].filter(({ changes }) => changes > admittedPerSpan);
    subjects.clear();
    if (restless.length === 0) return;
    flapping({
      subjects: restless.length,
      changes: restless.reduce((sum, { changes }) => sum + changes - admittedPerSpan, 0),
      failing: restless.filter(({ isFailing }) => isFailing).length,
      examples: restless.slice(0, mostExamples).map(({ name }) => name),
    });
  };

  return {
    admits: ({ id, name, isFailing }) => {
      cancelTimer ??= clock.after(spanMs, endSpan);
      const changes = (subjects.get(id)?.changes ?? 0) + 1;
      subjects.set(id, { name, changes, isFailing });
      return changes <= admittedPerSpan;
    },
    stop: endSpan,
  };
}

export interface ChangeLogOptions extends BurstLogOptions {
  /** The line about subjects that change too often to be logged each time. */
  readonly flapMessage: string;
}

export function createChangeLog(
  { account, inFull, countField, flapMessage }: ChangeLogOptions,
  { logger, clock }: ChangeLogDependencies,
): ChangeLog {
  const bursts = createBurstLog({ account, inFull, countField }, { logger, clock });
  const guard = createFlapGuard({
    clock,
    flapping: ({ subjects, changes, failing, examples }) => {
      const fields = { account, [countField]: subjects, changes, failing, examples };
      logger.warn(fields, flapMessage);
    },
  });
  return {
    write: (change) => {
      if (guard.admits(change)) bursts.write(change);
    },
    stop: () => {
      bursts.stop();
      guard.stop();
    },
  };
}
