import type { FailureReason } from '../model/api-error.ts';

/** What a status means as a failure; `undefined` for 2xx. Defined for every number. */
export function statusReason(status: number): FailureReason | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400) return 'redirect';
  switch (status) {
    case 401:
    case 403:
      return 'auth';
    case 404:
      return 'not_found';
    case 429:
      return 'throttled';
    default:
      return status >= 500 ? 'server' : 'client';
  }
}
