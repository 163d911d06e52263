import type { ApiKeyHeader } from '../model/config.ts';
import type { KeyProvider } from './key-provider.ts';
import type { RawSend } from './raw-send.ts';
import type { Transport } from './transport.ts';

export interface AuthorizeDependencies {
  readonly keyProvider: KeyProvider;
  readonly send: RawSend;
}

/** Adds the key that is current when the request leaves; the key goes nowhere else. */
export function authorize(
  options: { readonly apiKeyHeader: ApiKeyHeader },
  dependencies: AuthorizeDependencies,
): Transport {
  const { keyProvider, send } = dependencies;
  return async (request, signal) =>
    send(request, { [options.apiKeyHeader]: keyProvider.current() }, signal);
}
