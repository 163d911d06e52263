import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';

export interface AskStatusOptions {
  readonly timeoutMs: number;
  /** The certificate to ask with, and its key, both PEM. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * Asks for the status of a GET request, and ignores the body; a text says why there is none. Never
 * rejects. The certificate of the server is not verified, as with probes of Kubernetes: it names the service, not the loopback address,
 * and nothing is sent that others must not see.
 */
export async function askStatus(
  url: string,
  { timeoutMs, cert, key }: AskStatusOptions,
): Promise<number | string> {
  const asked = new Promise<number | string>((resolve) => {
    const get = url.startsWith('https:') ? getHttps : getHttp;
    const request = get(
      url,
      {
        agent: false,
        signal: AbortSignal.timeout(timeoutMs),
        rejectUnauthorized: false,
        ...(cert === undefined ? {} : { cert }),
        ...(key === undefined ? {} : { key }),
      },
      (response) => {
        response.destroy();
        resolve(response.statusCode ?? 0);
      },
    );
    request.on('error', (error) => {
      const isLate = error.name === 'AbortError' || error.name === 'TimeoutError';
      resolve(isLate ? `no answer within ${timeoutMs / 1000} s` : error.message);
    });
  });
  // A certificate or a key that cannot be read.
  return asked.catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
}
