import type { Clock } from '../model/clock.ts';
import type { ApiObserver } from '../model/telemetry.ts';
import type { KeyProvider } from './key-provider.ts';
import type { Transport } from './transport.ts';

export interface ReloadKeyDependencies {
  readonly clock: Clock;
  readonly keyProvider: KeyProvider;
  readonly observer: ApiObserver;
}

/** A single application may be forbidden for good, so that not every 403 is worth a reading. */
const forbiddenGapMs = 10_000;

/**
 * After a 401 or 403 reads the key again and, if another key is current now, sends the request once
 * more. It stands outside pacing and measuring, so that the second request is one like any other.
 */
export function reloadKey(dependencies: ReloadKeyDependencies): (next: Transport) => Transport {
  const { clock, keyProvider, observer } = dependencies;
  let reloading: Promise<boolean> | undefined;
  let reloadedMs = Number.NEGATIVE_INFINITY;

  const reload = async (): Promise<boolean> => {
    try {
      return await keyProvider.reload();
    } catch {
      // The refusal in hand tells more than a key that cannot be read at this moment.
      return false;
    }
  };
  // Calls in flight fail together when a key is revoked: they share one reading.
  const reloadOnce = async (status: number): Promise<boolean> => {
    const nowMs = clock.monotonicMs();
    if (reloading === undefined && status === 403 && nowMs < reloadedMs + forbiddenGapMs) {
      return false;
    }
    reloading ??= reload().finally(() => {
      reloading = undefined;
      reloadedMs = clock.monotonicMs();
    });
    return reloading;
  };

  return (next) => async (request, signal) => {
    const keyBefore = keyProvider.current();
    const response = await next(request, signal);
    const { status } = response;
    if (status !== 401 && status !== 403) return response;
    const changed = keyProvider.current() !== keyBefore || (await reloadOnce(status));
    if (!changed) return response;
    signal.throwIfAborted();
    observer.retried(request.operation, 'auth');
    return next(request, signal);
  };
}
