import type { Clock } from '../model/clock.ts';

/**
 * Remembers which ids were asked for one at a time, and which of them the account does not have: a
 * look-up for each of them in every discovery would leave no time, and no budget, for the others.
 */
export interface LookUps {
  /** Whether the id was not there when it was asked for alone, however long ago that was. */
  isAbsent(id: string): boolean;
  /** Whether it may be asked for alone now: not if it was absent less than an hour ago. */
  isDue(id: string): boolean;
  /** The ids in the order in which they are to be asked for: the longest ago first, never comes before. */
  inTurn(ids: readonly string[]): readonly string[];
  /** The id was asked for alone. One that was absent stays so until it is found. */
  note(id: string, isAbsent: boolean): void;
  /** The id was found. */
  forget(id: string): void;
  /** Forgets all other ids, so that the memory is no larger than the configuration. */
  keepOnly(ids: ReadonlySet<string>): void;
}

const absentForMs = 3_600_000;

interface LookUp {
  readonly askedMs: number;
  readonly isAbsent: boolean;
}

export function createLookUps({ clock }: { readonly clock: Clock }): LookUps {
  const asked = new Map<string, LookUp>();
  const askedMs = (id: string): number => asked.get(id)?.askedMs ?? -Number.MAX_VALUE;
  const isAbsent = (id: string): boolean => asked.get(id)?.isAbsent === true;

  return {
    isAbsent,
    isDue: (id) => !isAbsent(id) || clock.monotonicMs() - askedMs(id) >= absentForMs,
    inTurn: (ids) => ids.toSorted((left, right) => askedMs(left) - askedMs(right)),
    note: (id, isAbsentNow) => {
      asked.set(id, { askedMs: clock.monotonicMs(), isAbsent: isAbsentNow || isAbsent(id) });
    },
    forget: (id) => {
      asked.delete(id);
    },
    keepOnly: (ids) => {
      for (const id of asked.keys()) if (!ids.has(id)) asked.delete(id);
    },
  };
}
