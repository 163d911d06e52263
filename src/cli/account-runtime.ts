import { isDeepStrictEqual } from 'node:util';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Source } from '../model/source.ts';
import type { AccountStatus, Logger } from '../model/telemetry.ts';
import { createRestSource, defaultMaxPages } from '../newrelic/client.ts';
import { createAccountPoller } from '../poller/account-poller.ts';
import type { SelfMetrics } from '../telemetry/self-metrics.ts';
import type { AccountTransportDependencies } from '../transport/account-transport.ts';
import type { KeyProvider } from '../transport/key-provider.ts';
import type { Membership, RateLimiters } from '../transport/rate-limiters.ts';
import { createAccountConnection } from './account-connection.ts';
import type { Machine } from './machine.ts';
import { openPrepared, type PreparedAccount } from './prepare-account.ts';
import { createTransportLog } from './transport-log.ts';

/** One account of the configuration in force, for as long as it has its name and its vendor. */
export interface AccountRuntime {
  /** What it was made of, or last updated with. */
  readonly prepared: PreparedAccount;
  /** The vendor, paced by the limit of the key; what the poller asks. */
  readonly source: Source;
  /** Polls until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** One poll of everything; whether all that was asked for arrived. */
  runOnce(signal: AbortSignal): Promise<boolean>;
  status(): AccountStatus;
  /** Why polling has come to a halt that only a fault of our own explains; `undefined` if it has not. */
  stalled(): string | undefined;
  /** Follows other settings from now on: without a gap, and without a call too many. */
  update(next: PreparedAccount): Promise<void>;
  /** Frees the account's share of its key, when it polls no more. */
  leave(): void;
  /** Breaks off the calls under way, and leaves. */
  close(): Promise<void>;
}

export interface AccountRuntimeDependencies {
  readonly machine: Machine;
  readonly sink: SnapshotSink;
  readonly metrics: SelfMetrics;
  readonly logger: Logger;
  readonly limiters: RateLimiters;
}

export async function createAccountRuntime(
  initial: PreparedAccount,
  dependencies: AccountRuntimeDependencies,
): Promise<AccountRuntime> {
  const { machine, sink, metrics, logger, limiters } = dependencies;
  const { clock, random } = machine;
  const { account, entries } = initial;
  let prepared = initial;
  const observer = metrics.apiObserver(account.name);
  const membership = limiters.join(account, initial.keyProvider.current());
  const log = createTransportLog(account.name, { clock, membership, logger });
  const keyProvider = followingKey(() => prepared.keyProvider, membership);
  const partsFor = async (one: PreparedAccount): Promise<AccountTransportDependencies> => ({
    clock,
    random,
    observer,
    keyProvider,
    membership,
    raw: await openPrepared(one, machine),
    events: log,
  });
  const connection = createAccountConnection(account, await partsFor(initial));
  const rest = createRestSource(
    { maxPages: defaultMaxPages },
    { send: connection.send, observer, logger, clock },
  );
  const source = withFreshKey(rest, keyProvider);
  const poller = createAccountPoller(
    { account, entries },
    {
      source,
      clock,
      random,
      sink,
      logger,
      observer: metrics.pollObserver(account.name),
      requestsInFlight: () => connection.requestsInFlight(),
      backoffUntilMs: () => connection.current().backoffUntilMs(),
      limitPerMinute: () => membership.limitPerMinute(),
      planned: ({ demandPerMinute }) => {
        membership.demand(demandPerMinute);
      },
      retries: () => connection.retries(),
      vendorWallMs: () => connection.current().vendorWallMs(),
    },
  );
  membership.onLimitChange(() => {
    log.limitChanged();
    poller.limitChanged();
  });

  return {
    get prepared() {
      return prepared;
    },
    source,
    run: async (signal) => poller.run(signal),
    runOnce: async (signal) => poller.runOnce(signal),
    status: () => ({
      ...poller.status(),
      clockSkewSeconds: connection.current().clockSkewSeconds(),
    }),
    stalled: () => poller.stalled(),
    update: async (next) => {
      const parts = isDeepStrictEqual(next.wire, prepared.wire) ? undefined : await partsFor(next);
      prepared = next;
      membership.rekey(next.keyProvider.current());
      membership.resize(next.account.requestsPerMinute);
      if (parts !== undefined) connection.replace(next.account, parts);
      await poller.reconfigure(next);
    },
    leave: () => membership.leave(),
    close: async () => {
      membership.leave();
      await connection.close();
    },
  };
}

/** A new key has a limit of its own. */
function followingKey(current: () => KeyProvider, membership: Membership): KeyProvider {
  return {
    current: () => current().current(),
    reload: async () => {
      const isNew = await current().reload();
      membership.rekey(current().current());
      return isNew;
    },
  };
}

/** Reads the key again before each discovery, so that a rotated one is in force within a minute. */
function withFreshKey(source: Source, keyProvider: KeyProvider): Source {
  return {
    ...source,
    discover: async (selectors, knownIds, signal) => {
      await keyProvider.reload();
      return source.discover(selectors, knownIds, signal);
    },
  };
}
