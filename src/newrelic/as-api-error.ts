import { ApiError } from '../model/api-error.ts';

/** The error of a call; any other is a fault of this program. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError('client', 'the call failed because of an error in this program', {
    cause: error,
  });
}
