import type { Clock } from '../../src/model/clock.ts';
import type { Job, Permit } from '../../src/model/permit.ts';
import { AccountCalls } from '../../src/newrelic/calls/account-calls.ts';
import { Keys } from '../../src/newrelic/calls/keys.ts';
import { anAccount } from './builders.ts';
import { createFakeClock } from './fake-clock.ts';

/** A job that is due from the start. */
export const aJob: Job = { key: 'a', size: 1, dueMs: 0, periodMs: 60_000 };

export interface CallsAtOnce {
  readonly clock?: Clock;
  /** Calls of one poll at a time. Default: many. */
  readonly concurrency?: number;
  /** Calls a minute for what is asked in smaller parts. Default: without limit. */
  readonly spare?: () => number;
  /** Called with each permit that is given. */
  readonly onPermit?: () => void;
}

/** Nothing waits for its turn. */
export function callsAtOnce({
  clock = createFakeClock(),
  concurrency = 1000,
  spare = () => Number.POSITIVE_INFINITY,
  onPermit = () => undefined,
}: CallsAtOnce = {}): AccountCalls {
  const keys = new Keys({ clock });
  const account = anAccount({ concurrency });
  class AtOnce extends AccountCalls {
    override sparePerMinute(): number {
      return spare();
    }

    override async take(_: Job | undefined, signal: AbortSignal): Promise<Permit> {
      signal.throwIfAborted();
      onPermit();
      let isOver = false;
      const release = (): void => {
        isOver = true;
      };
      const permit = { apiKey: 'key-1', throttled: () => undefined, release };
      return { ...permit, isOver: () => isOver };
    }
  }
  return new AtOnce(account, 'key-1', keys);
}
