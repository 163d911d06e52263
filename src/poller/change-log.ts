import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';

export interface SubjectState {
  readonly isFailing: boolean;
  /** Why it fails. Another reason is another state. */
  readonly reason?: string | undefined;
}

/** The message about one subject, and the message about more subjects that were only counted. */
type Messages = readonly [one: string, more?: string];

/** The lines about one thing that can fail. */
export interface StateLines {
  /** The level of a failure; a recovery has `info`. */
  readonly level: 'info' | 'warn' | 'error';
  readonly fails: Messages;
  readonly works: Messages;
  /** What to do about a failure. */
  readonly remedy?: string;
}

/** The states of a subject before and after something happened; they may be the same. */
export interface StateChange {
  readonly lines: StateLines;
  /** Tells the subject from the others. */
  readonly id: string;
  /** The subject as people know it. */
  readonly name: string;
  /** `undefined` when nothing was known of the subject: then every state is news. */
  readonly before: SubjectState | undefined;
  readonly after: SubjectState;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface ChangeLogOptions {
  readonly account: string;
  /** The bound on changes that are alike; left out where the account is the only subject. */
  readonly burst?: {
    /** This many are written in full within a minute. */
    readonly inFull: number;
    /** The field that says for how many subjects a line stands. */
    readonly countField: string;
  };
  /** About subjects that change too often to be logged each time; left out where none can. */
  readonly flapMessage?: string;
}

export interface ChangeLogDependencies {
  readonly logger: Logger;
  readonly clock: Clock;
}

/**
 * Writes changes of state in a bounded number of lines. Of changes that are alike only the first
 * ones within a minute get a line of their own, and a subject that changes again and again is only
 * counted after a few lines. Every change is in a line or in a count.
 */
export interface ChangeLog {
  /** Writes the first thousand changes at once, and the others in later turns of the event loop. */
  write(changes: Iterable<StateChange>): void;
  /** Writes what was only counted so far, and leaves no timer. */
  stop(): void;
}

/** Changes that are written in one turn of the event loop: they take a few milliseconds. */
const changesPerTurn = 1000;

export function createChangeLog(
  options: ChangeLogOptions,
  dependencies: ChangeLogDependencies,
): ChangeLog {
  const { logger, clock } = dependencies;
  const bursts = createBurstRule(options, dependencies);
  const flaps = createFlapRule(options, dependencies);
  let pending: Iterator<StateChange> = [].values();
  let cancelTimer: (() => void) | undefined;

  const writeOne = (change: StateChange): void => {
    const line = lineFor(change);
    if (line === undefined || !flaps.admits(line, change) || !bursts.admits(line, change)) return;
    const fields = { account: options.account, ...change.fields, ...line.advice };
    logger[line.level](fields, line.messages[0]);
  };

  const writePending = (count: number): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    for (let written = 0; written < count; written += 1) {
      const next = pending.next();
      if (next.done === true) return;
      writeOne(next.value);
    }
    cancelTimer = clock.after(0, () => {
      writePending(changesPerTurn);
    });
  };

  return {
    write: (changes) => {
      writePending(Number.POSITIVE_INFINITY);
      pending = changes[Symbol.iterator]();
      writePending(changesPerTurn);
    },
    stop: () => {
      writePending(Number.POSITIVE_INFINITY);
      bursts.stop();
      flaps.stop();
    },
  };
}

interface Line {
  readonly level: StateLines['level'];
  readonly messages: Messages;
  readonly advice: Pick<StateLines, 'remedy'>;
}

/** None if the state has not changed. */
function lineFor({ lines, before, after }: StateChange): Line | undefined {
  if (before?.isFailing === after.isFailing && before.reason === after.reason) return undefined;
  const { level, fails, works, remedy } = lines;
  if (!after.isFailing) return { level: 'info', messages: works, advice: {} };
  return { level, messages: fails, advice: remedy === undefined ? {} : { remedy } };
}

/** Keeps the number of lines bounded. */
interface LineRule {
  /** Whether the line may be written; if not, the change is counted. */
  admits(line: Line, change: StateChange): boolean;
  /** Writes what was only counted so far. */
  stop(): void;
}

const noRule: LineRule = { admits: () => true, stop: () => undefined };

/** A minute of changes that are alike: same message, same reason. */
interface Burst {
  readonly line: Line;
  readonly reason: string | undefined;
  /** Lines that may still be written in full. */
  linesLeft: number;
  /** Changes that were only counted. A subject may have several. */
  changes: number;
  /** The names of their subjects, by id. */
  readonly subjects: Map<string, string>;
  readonly cancelTimer: () => void;
}

const burstSpanMs = 60_000;
const mostExamples = 5;

/**
 * Admits the first changes that are alike, and writes one line a minute about all the others, until
 * a minute passes without any.
 */
function createBurstRule(
  { account, burst: limit }: ChangeLogOptions,
  { logger, clock }: ChangeLogDependencies,
): LineRule {
  if (limit === undefined) return noRule;
  const { inFull, countField } = limit;
  const bursts = new Map<string, Burst>();

  const open = (key: string, line: Line, reason: string | undefined, linesLeft: number): Burst => {
    const cancelTimer = clock.after(burstSpanMs, () => {
      close(key, burst);
      // A minute that continues another one begins without lines.
      const isActive = linesLeft > 0 || burst.changes > 0;
      if (burst.linesLeft === 0 && isActive) open(key, line, reason, 0);
    });
    const burst: Burst = { line, reason, linesLeft, changes: 0, subjects: new Map(), cancelTimer };
    bursts.set(key, burst);
    return burst;
  };

  const close = (key: string, { line, reason, changes, subjects, cancelTimer }: Burst): void => {
    bursts.delete(key);
    cancelTimer();
    if (changes === 0) return;
    const count = { [countField]: subjects.size, ...(changes > subjects.size ? { changes } : {}) };
    const examples = [...subjects.values()].slice(0, mostExamples);
    const [one, more = one] = line.messages;
    logger[line.level]({ account, reason, ...count, examples }, more);
  };

  return {
    admits: (line, { id, name, after: { reason } }) => {
      const key = `${line.messages[0]} ${reason ?? ''}`;
      const burst = bursts.get(key) ?? open(key, line, reason, inFull);
      if (burst.linesLeft > 0) {
        burst.linesLeft -= 1;
        return true;
      }
      burst.changes += 1;
      burst.subjects.set(id, name);
      return false;
    },
    stop: () => {
      for (const [key, burst] of bursts) close(key, burst);
    },
  };
}

const flapSpanMs = 10 * 60_000;
/** A failure that changes its reason and then ends is not flapping yet. */
const changesPerSpan = 4;

/**
 * Admits the first changes of each subject within a span, and writes one line at its end about those
 * that have had more. Then it forgets all subjects, so that it holds only what changed lately.
 */
function createFlapRule(
  { account, burst, flapMessage }: ChangeLogOptions,
  { logger, clock }: ChangeLogDependencies,
): LineRule {
  if (flapMessage === undefined) return noRule;
  const subjects = new Map<string, { name: string; changes: number; isFailing: boolean }>();
  let cancelTimer: (() => void) | undefined;

  const endSpan = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    const flapping = [...subjects.values()].filter(({ changes }) => changes > changesPerSpan);
    subjects.clear();
    if (flapping.length === 0) return;
    const changes = flapping.reduce((sum, one) => sum + one.changes - changesPerSpan, 0);
    const failing = flapping.filter(({ isFailing }) => isFailing).length;
    const examples = flapping.slice(0, mostExamples).map(({ name }) => name);
    const fields =
      burst === undefined
        ? { changes, works: failing === 0 }
        : { [burst.countField]: flapping.length, changes, failing, examples };
    logger.warn({ account, ...fields }, flapMessage);
  };

  return {
    admits: (_line, { id, name, after: { isFailing } }) => {
      cancelTimer ??= clock.after(flapSpanMs, endSpan);
      const changes = (subjects.get(id)?.changes ?? 0) + 1;
      subjects.set(id, { name, changes, isFailing });
      return changes <= changesPerSpan;
    },
    stop: endSpan,
  };
}
