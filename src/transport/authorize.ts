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
  { apiKeyHeader }: { readonly apiKeyHeader: ApiKeyHeader },
  { keyProvider, send }: AuthorizeDependencies,
): Transport {
  // The same object for the same key, so that the wire need not look into it for every request.
  let last:
    | { readonly key: string; readonly headers: Readonly<Record<string, string>> }
    | undefined;

  return (request, signal) => {
    const key = keyProvider.current();
    if (last?.key !== key) last = { key, headers: { [apiKeyHeader]: key } };
    return send(request, last.headers, signal);
  };
}
