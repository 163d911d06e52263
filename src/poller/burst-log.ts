import type { Change, ChangeLog, ChangeLogDependencies } from './change.ts';

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
const spanMs = 60_000;
const mostExamples = 5;

/**
 * Writes the first changes that are alike in full and at once, and one line a minute for all the
 * others, until there was none for a minute.
 */
export function createBurstLog(
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
    const cancelTimer = clock.after(spanMs, () => {
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
      const examples = [...more.values()].slice(0, mostExamples);
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
