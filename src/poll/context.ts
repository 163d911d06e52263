import type { Clock } from '../model/clock.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Source } from '../model/source.ts';
import type { KeyStatus } from '../model/status.ts';
import type { Logger, PollObserver } from '../model/telemetry.ts';
import type { AccountCalls } from '../newrelic/calls/account-calls.ts';
import type { VendorClock } from '../newrelic/calls/vendor-clock.ts';

/** All that the parts of one account share. */
export interface Context {
  readonly source: Source;
  /** Sends the calls of the polls, and says what the account may send. */
  readonly calls: AccountCalls;
  readonly key: {
    /** Reads the key again; true if it changed. */
    readonly reload: () => Promise<boolean>;
    readonly status: () => KeyStatus;
  };
  readonly vendorClock: Pick<VendorClock, 'skew'>;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly sink: SnapshotSink;
  readonly observer: PollObserver;
  readonly logger: Logger;
}
