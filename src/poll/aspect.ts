import type { Clock } from '../model/clock.ts';

/** One side of an account that may be wrong while its discoveries succeed. */
export interface Aspect {
  readonly isWrong: boolean;
  /** Monotonic time of the last change; `undefined` if there was none. */
  readonly sinceMs: number | undefined;
}

/** Notes since when an aspect is as it is. To be told whenever it may have changed. */
export function createAspect(clock: Pick<Clock, 'monotonicMs'>): (isWrong: boolean) => Aspect {
  let aspect: Aspect = { isWrong: false, sinceMs: undefined };
  return (isWrong) => {
    if (isWrong !== aspect.isWrong) aspect = { isWrong, sinceMs: clock.monotonicMs() };
    return aspect;
  };
}
