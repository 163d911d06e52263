import { sleep } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import type { Machine } from './machine.ts';
import type { PeerMembership } from './peer-membership.ts';

export interface PeerWatcherOptions {
  /** The DNS name of all processes that share the work, such as that of a headless service. */
  readonly dnsName: string;
}

export interface PeerWatcherDependencies {
  readonly machine: Pick<Machine, 'clock' | 'lookUp'>;
  readonly logger: Logger;
  readonly membership: PeerMembership;
}

/** Looks for the processes that share the work. */
export interface PeerWatcher {
  /** Whether the membership has changed. When DNS does not answer, the last answer stands. */
  look(): Promise<boolean>;
  /** Looks again and again until the signal is aborted, and calls `changed` after each change. */
  watch(changed: () => Promise<void>, signal: AbortSignal): Promise<void>;
}

/** Soon enough for a rolling update, and cheap: the cluster's DNS is close. */
const intervalMs = 10_000;

export function createPeerWatcher(
  { dnsName }: PeerWatcherOptions,
  { machine, logger, membership }: PeerWatcherDependencies,
): PeerWatcher {
  const { clock } = machine;
  let isFailing = false;

  const look = async (): Promise<boolean> => {
    try {
      const addresses = await machine.lookUp(dnsName);
      if (isFailing) logger.info({ name: dnsName }, 'peers can be looked up again');
      isFailing = false;
      const isChanged = membership.seen(addresses, clock.monotonicMs());
      if (isChanged) {
        const { self, members } = membership.current().shard;
        logger.info({ self, members }, 'shards changed');
      }
      return isChanged;
    } catch (error) {
      const remedy = 'the last known peers stay in force; check the headless service and its name';
      if (!isFailing) logger.warn({ name: dnsName, error, remedy }, 'peers cannot be looked up');
      isFailing = true;
      return membership.settled(clock.monotonicMs());
    }
  };

  return {
    look,
    watch: async (changed, signal) => {
      try {
        for (;;) {
          await sleep(clock, intervalMs, signal);
          if (await look()) await changed();
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  };
}
