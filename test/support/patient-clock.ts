import type { Clock } from '../../src/model/clock.ts';
import { createFakeClock } from './fake-clock.ts';

const stepMs = 5;
/** What a step counts for at most, however late it comes. */
const longestStepMs = 10;

/** A clock that goes on in real time while the process runs. */
export interface PatientClock extends Clock {
  readonly stop: () => void;
}

/**
 * For what is tested over real sockets: time stands still while the process waits for a CPU, so that
 * a busy machine lets no timeout pass that an idle one would not.
 */
export function createPatientClock(): PatientClock {
  const clock = createFakeClock();
  let lastMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const step = async (): Promise<void> => {
    const nowMs = performance.now();
    const passedMs = Math.min(nowMs - lastMs, longestStepMs);
    lastMs = nowMs;
    await clock.advance(passedMs);
    if (timer !== undefined) timer = setTimeout(step, stepMs);
  };
  timer = setTimeout(step, stepMs);
  return {
    ...clock,
    stop: () => {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
