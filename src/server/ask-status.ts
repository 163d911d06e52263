import { get } from 'node:http';

export type StatusAnswer =
  | { readonly status: number }
  | { readonly status: undefined; readonly problem: string };

/** Asks for the status of a GET request, and ignores the body. Never rejects. */
export async function askStatus(
  url: string,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<StatusAnswer> {
  return new Promise((resolve) => {
    const request = get(
      url,
      { agent: false, signal: AbortSignal.timeout(timeoutMs) },
      (response) => {
        response.destroy();
        resolve({ status: response.statusCode ?? 0 });
      },
    );
    request.on('error', (error) => {
      const isLate = error.name === 'AbortError' || error.name === 'TimeoutError';
      const problem = isLate ? `no answer within ${timeoutMs / 1000} s` : error.message;
      resolve({ status: undefined, problem });
    });
  });
}
