import type { Clock } from '../model/clock.ts';
import type { AccountConfig, AppEntry } from '../model/config.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Source } from '../model/source.ts';
import type { AccountStatus, Logger, PollObserver } from '../model/telemetry.ts';
import type { AccountHandover } from './account-handover.ts';
import { accountStatusOf, type Traffic } from './account-status.ts';
import { AccountTable } from './account-table.ts';
import { discoveryIntervalOf } from './demand.ts';
import { createDiscoveryLoop } from './discovery-loop.ts';
import { createDispatcher } from './dispatcher.ts';
import { createPollLog } from './poll-log.ts';
import { createPollLoop, type PollLoop } from './poll-loop.ts';

export interface AccountPollerOptions {
  readonly account: AccountConfig;
  /** The entries of `apps` that belong to this account; not empty. */
  readonly entries: readonly AppEntry[];
  /** What the poller before this one left; its values stay published. */
  readonly handover?: AccountHandover | undefined;
}

export interface AccountPollerDependencies extends Traffic {
  readonly source: Source;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly sink: SnapshotSink;
  readonly observer: PollObserver;
  readonly logger: Logger;
  /** The calls that may be sent in any 60 seconds, as of now. Without it: as configured. */
  readonly budgetPerMinute?: (() => number) | undefined;
  /** Wall time at the vendor, where windows are cut. Without it: that of the clock. */
  readonly vendorWallMs?: (() => number) | undefined;
}

/** Keeps one account's values fresh. */
export interface AccountPoller {
  /** Discovers and polls until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** One discovery and one poll of every application; whether all that was asked for arrived. */
  runOnce(signal: AbortSignal): Promise<boolean>;
  status(): AccountStatus;
  /** To be called when `budgetPerMinute` gives another number than before: the intervals follow. */
  budgetChanged(): void;
  /** What the next poller of the account needs; to be asked after `run` has ended. */
  handover(): AccountHandover;
}

export function createAccountPoller(
  { account, entries, handover }: AccountPollerOptions,
  dependencies: AccountPollerDependencies,
): AccountPoller {
  const { clock } = dependencies;
  const discoveryIntervalMs = discoveryIntervalOf(entries.map((entry) => entry.poll));
  const log = createPollLog(account.name, dependencies);
  const budgetPerMinute = dependencies.budgetPerMinute ?? (() => account.requestsPerMinute);
  const { concurrency } = account;
  const dispatcher = createDispatcher(
    { requestsPerMinute: budgetPerMinute(), concurrency },
    { clock },
  );
  const table = new AccountTable(
    { account, entries, discoveryIntervalMs, handover },
    { ...dependencies, log, budgetPerMinute },
  );
  const startMs = clock.monotonicMs();
  const discoveries = createDiscoveryLoop(
    { selectors: entries.map((entry) => entry.selector), intervalMs: discoveryIntervalMs },
    { ...dependencies, table },
  );
  const polls = createPollLoop(table, { ...dependencies, dispatcher, refused: discoveries.soon });

  const stop = (): void => {
    polls.stop();
    table.stop();
    log.stop();
  };

  return {
    run: async (signal) => {
      try {
        await discoveries.run(polls.wake, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        stop();
      }
    },
    runOnce: async (signal) => {
      try {
        const isComplete = await discoveries.discover(signal);
        const isWhole = await pollAll(table, polls, signal);
        return isComplete && isWhole;
      } finally {
        stop();
      }
    },
    status: () => accountStatusOf(account, table, dependencies, clock.monotonicMs() - startMs),
    budgetChanged: () => {
      dispatcher.resize(budgetPerMinute());
      table.budgetChanged();
    },
    handover: () => table.handover(),
  };
}

/** Polls every application once; whether all that was asked for arrived. */
async function pollAll(
  table: AccountTable,
  polls: PollLoop,
  signal: AbortSignal,
): Promise<boolean> {
  const ids = [...table.states.keys()];
  const outcomes = await Promise.all(ids.map(async (id) => polls.poll(id, signal)));
  const isWhole = outcomes.every((outcome) => outcome?.failed.size === 0);
  return isWhole && table.discovery.missing.length === 0;
}
