import type { ApiObserver } from '../model/telemetry.ts';
import type { KeyProvider } from './key-provider.ts';
import type { TransportDecorator } from './transport-decorator.ts';

export interface ReloadKeyDependencies {
  readonly keyProvider: KeyProvider;
  readonly observer: ApiObserver;
}

/**
 * After a 401 reads the key again and, if another key is current now, sends the request once more.
 * It stands outside pacing and measuring, so that the second request is one like any other.
 */
export function reloadKey(dependencies: ReloadKeyDependencies): TransportDecorator {
  const { keyProvider, observer } = dependencies;
  let reloading: Promise<boolean> | undefined;

  const reload = async (): Promise<boolean> => {
    try {
      return await keyProvider.reload();
    } catch {
      // The 401 in hand tells more than a key that cannot be read at this moment.
      return false;
    }
  };
  // Calls in flight fail together when a key is revoked: they share one reading.
  const reloadOnce = (): Promise<boolean> => {
    reloading ??= reload().finally(() => {
      reloading = undefined;
    });
    return reloading;
  };

  return (next) => async (request, signal) => {
    const keyBefore = keyProvider.current();
    const response = await next(request, signal);
    if (response.status !== 401) return response;
    const changed = keyProvider.current() !== keyBefore || (await reloadOnce());
    if (!changed) return response;
    signal.throwIfAborted();
    observer.retried(request.operation, 'auth');
    return next(request, signal);
  };
}
