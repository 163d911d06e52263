import type { ApiKeyHeader } from '../model/config.ts';
import type { RawSend } from './raw-send.ts';
import type { PermittedRequest, Send } from './transport.ts';

export interface AuthorizeDependencies {
  readonly send: RawSend;
}

/** Adds the key that the permit of the request is for; the key goes nowhere else. */
export function authorize(
  { apiKeyHeader }: { readonly apiKeyHeader: ApiKeyHeader },
  { send }: AuthorizeDependencies,
): Send<PermittedRequest> {
  // The same object for the same key, so that the wire need not look into it for every request.
  let last:
    | { readonly key: string; readonly headers: Readonly<Record<string, string>> }
    | undefined;

  return (request, signal) => {
    const key = request.permit.apiKey;
    if (last?.key !== key) last = { key, headers: { [apiKeyHeader]: key } };
    return send(request, last.headers, signal);
  };
}
