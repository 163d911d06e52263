import type { Clock } from '../model/clock.ts';
import type { Change } from './change.ts';

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
