import type { SnapshotSink } from '../model/snapshot.ts';
import type { Source } from '../model/source.ts';
import type { AccountStatus, Logger } from '../model/telemetry.ts';
import { createRestSource, defaultMaxPages } from '../newrelic/client.ts';
import { createAccountPoller } from '../poller/account-poller.ts';
import type { SelfMetrics } from '../telemetry/self-metrics.ts';
import type { KeyProvider } from '../transport/key-provider.ts';
import type { Membership, RateLimiters } from '../transport/rate-limiters.ts';
import type { RawTransport } from '../transport/raw-send.ts';
import { createAccountConnection } from './account-connection.ts';
import type { Machine } from './machine.ts';
import type { PreparedAccount } from './prepare-account.ts';
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
  /**
   * Follows other limits, another key and another way to the vendor at once, in one turn: with other
   * accounts that change as well, so that no key has a larger limit in between. What is polled
   * follows with `reconfigure`.
   *
   * @param raw new connections, if calls are to take other ones from now on
   */
  update(next: PreparedAccount, raw: RawTransport | undefined): void;
  /** Polls what it was last updated with. Of many applications it takes several turns. */
  reconfigure(): Promise<void>;
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

/** @param raw the connections that `openPrepared` gave; closed by `close` */
export function createAccountRuntime(
  initial: PreparedAccount,
  raw: RawTransport,
  { machine, sink, metrics, logger, limiters }: AccountRuntimeDependencies,
): AccountRuntime {
  const { clock, random } = machine;
  const { account, entries } = initial;
  let prepared = initial;
  let isElsewhere = false;
  const observer = metrics.apiObserver(account.name);
  const membership = limiters.join(account, initial.keyProvider.current());
  const log = createTransportLog(account.name, { clock, membership, logger });
  const keyProvider = followingKey(() => prepared.keyProvider, membership);
  const parts = { clock, random, observer, keyProvider, membership, events: log };
  const connection = createAccountConnection(account, raw, parts);
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
    update: (next, nextRaw) => {
      const before = prepared;
      prepared = next;
      isElsewhere ||=
        nextRaw !== undefined || next.keyProvider.current() !== before.keyProvider.current();
      moveMembership(membership, before, next);
      if (nextRaw !== undefined) connection.replace(next.account, nextRaw);
    },
    reconfigure: async () => {
      const wasMoved = isElsewhere;
      isElsewhere = false;
      await poller.reconfigure(prepared, wasMoved);
    },
    leave: () => membership.leave(),
    close: async () => {
      membership.leave();
      await connection.close();
    },
  };
}

/** In this order no key that the account has or gets is raised before the account has left it. */
function moveMembership(
  membership: Membership,
  before: PreparedAccount,
  { account: { requestsPerMinute }, keyProvider }: PreparedAccount,
): void {
  membership.resize(Math.min(before.account.requestsPerMinute, requestsPerMinute));
  membership.rekey(keyProvider.current());
  membership.resize(requestsPerMinute);
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
