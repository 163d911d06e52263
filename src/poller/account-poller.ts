import type { Clock } from '../model/clock.ts';
import type { AccountConfig, AppEntry } from '../model/config.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Source } from '../model/source.ts';
import type { AccountStatus, Logger, PollObserver } from '../model/telemetry.ts';
import type { AccountHandover } from './account-handover.ts';
import { accountStatusOf, type Traffic } from './account-status.ts';
import { AccountTable } from './account-table.ts';
import { discoveryIntervalOf } from './demand.ts';
import { discoverWithin } from './discover-within.ts';
import { createDispatcher } from './dispatcher.ts';
import { createPollLog } from './poll-log.ts';
import { createPollLoop } from './poll-loop.ts';
import { createProbe } from './probe.ts';

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
}

/** Keeps one account's values fresh. */
export interface AccountPoller {
  /** Discovers and polls until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** One discovery and one poll of every application; whether all that was asked for arrived. */
  runOnce(signal: AbortSignal): Promise<boolean>;
  status(): AccountStatus;
  /** What the next poller of the account needs; to be asked after `run` has ended. */
  handover(): AccountHandover;
}

/** Nothing can be shown before the first discovery succeeds, so it is tried again soon. */
const firstRetryMs = 1000;
/** What fails is looked at again after so long, even if discoveries are rarer than that. */
const probeIntervalMs = 60_000;
/** A discovery that takes longer has failed: nothing may hang for ever. */
const longestDiscoveryMs = 120_000;

export function createAccountPoller(
  { account, entries, handover }: AccountPollerOptions,
  dependencies: AccountPollerDependencies,
): AccountPoller {
  const { clock, source, random } = dependencies;
  const discoveryIntervalMs = discoveryIntervalOf(entries.map((entry) => entry.poll));
  const log = createPollLog(account.name, dependencies);
  const dispatcher = createDispatcher(account, { clock });
  const table = new AccountTable(
    { account, entries, discoveryIntervalMs, handover },
    { ...dependencies, log },
  );
  const startMs = clock.monotonicMs();
  const probe = createProbe(clock);
  const polls = createPollLoop(table, { source, dispatcher, clock, refused: probe.soon });

  const discover = async (signal: AbortSignal): Promise<boolean> => {
    const discovery = await discoverWithin(
      Math.max(discoveryIntervalMs, longestDiscoveryMs),
      { source, clock },
      entries.map((entry) => entry.selector),
      table.knownIds(),
      signal,
    );
    table.discovered(discovery);
    return discovery.complete;
  };

  const untilNextDiscoveryMs = (failures: number): number => {
    if (table.discovery.up === true) return discoveryIntervalMs;
    if (table.discovery.answered) return Math.min(discoveryIntervalMs, probeIntervalMs);
    const backoffMs = firstRetryMs * 2 ** Math.min(failures, 10) * (0.5 + random() / 2);
    return Math.min(backoffMs, discoveryIntervalMs, probeIntervalMs);
  };

  return {
    run: async (signal) => {
      let failures = 0;
      try {
        while (!signal.aborted) {
          failures = (await discover(signal)) ? 0 : failures + 1;
          polls.wake(signal);
          await probe.pause(untilNextDiscoveryMs(failures), signal);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        polls.stop();
      }
    },
    runOnce: async (signal) => {
      const complete = await discover(signal);
      const outcomes = await Promise.all(
        [...table.states.keys()].map((id) => polls.poll(id, signal)),
      );
      const isWhole = outcomes.every((outcome) => outcome?.failed.size === 0);
      return complete && isWhole && table.discovery.missing.length === 0;
    },
    status: () => accountStatusOf(account, table, dependencies, clock.monotonicMs() - startMs),
    handover: () => table.handover(),
  };
}
