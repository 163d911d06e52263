import { type Clock, sleep } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import { ListenError } from '../server/listen-address.ts';
import type { BoundAddress, MetricsServer } from '../server/metrics-server.ts';

export interface ListeningDependencies {
  readonly server: Pick<MetricsServer, 'listenOn'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of the addresses that it listens on from now on; never of none. */
  readonly listening: (addresses: readonly BoundAddress[]) => void;
}

/** Somebody else's process that ends frees its port at any time. */
const retryMs = 5000;

/**
 * Listens on the addresses that can be had at once, and tries the others again until they can be had
 * or the signal is aborted. What is wrong with one is logged once, and again when that changes.
 */
export async function keepListening(
  addresses: readonly string[],
  { server, clock, logger, listening }: ListeningDependencies,
  signal: AbortSignal,
): Promise<void> {
  const problems = new Map<string, string>();

  /** `undefined` where it cannot listen. */
  const tryAddress = async (address: string): Promise<BoundAddress | undefined> => {
    try {
      const bound = await server.listenOn(address);
      problems.delete(address);
      return bound;
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
      if (problems.get(address) !== error.message && !signal.aborted) {
        logger.error({ address, problem: error.message }, 'cannot listen, trying again');
      }
      problems.set(address, error.message);
      return undefined;
    }
  };

  for (let missing = addresses; missing.length > 0; missing = [...problems.keys()]) {
    const bound: BoundAddress[] = [];
    for (const address of missing) {
      const one = await tryAddress(address);
      if (one !== undefined) bound.push(one);
    }
    if (bound.length > 0) listening(bound);
    if (problems.size > 0) await sleep(clock, retryMs, signal).catch(() => {});
    if (signal.aborted) return;
  }
}
