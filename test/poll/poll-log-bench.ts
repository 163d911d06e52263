import { ApiError, type FailureReason } from '../../src/model/api-error.ts';
import type { PollOutcome } from '../../src/model/poll-outcome.ts';
import type { Discovery } from '../../src/model/source.ts';
import { type AppState, newAppState } from '../../src/poll/app-state.ts';
import { PollLog } from '../../src/poll/poll-log.ts';
import { aContext } from '../support/a-context.ts';
import { anApplication, aSelected } from '../support/builders.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger, type LogLine } from '../support/fake-logger.ts';
import { wholeOutcome } from '../support/table-bench.ts';

export interface LogBench {
  readonly log: PollLog;
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
  /** Messages of the lines since the last call. */
  messages(): readonly string[];
  /** Whether New Relic refuses the key from now on. */
  refuse(isRefused: boolean): void;
  lines(message: string): readonly LogLine[];
}

export function outcomeOf(reason: FailureReason | undefined): PollOutcome {
  return {
    ...wholeOutcome(),
    reading: undefined,
    error: reason === undefined ? undefined : new ApiError(reason, `it failed: ${reason}`),
    failed: new Set(reason === undefined ? [] : ['application']),
    partCount: 4,
  };
}

export function aLog(): LogBench {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  let isKeyRefused = false;
  const log = new PollLog('production', aContext({ logger, clock }), () => isKeyRefused);
  let shown = 0;
  return {
    log,
    clock,
    logger,
    messages: () => {
      const fresh = logger.lines.slice(shown).map(({ message }) => message);
      shown = logger.lines.length;
      return fresh;
    },
    refuse: (isRefused) => {
      isKeyRefused = isRefused;
    },
    lines: (message) => logger.lines.filter((line) => line.message === message),
  };
}

export function discovery(error?: ApiError): Discovery {
  return {
    applications: [anApplication()],
    complete: error === undefined,
    unreadableIds: [],
    pendingIds: [],
    calls: 1,
    error,
  };
}

export const working: AppState = {
  ...newAppState(aSelected({ id: '1', name: 'shop' }), 0, 0),
  pollSucceeded: true,
};
export const failing: AppState = {
  ...working,
  pollSucceeded: false,
  failure: { reason: 'timeout', message: 'too slow', sinceMs: 0 },
};
