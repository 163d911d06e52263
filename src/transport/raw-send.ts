import type { ApiRequest, ApiResponse } from './transport.ts';

/**
 * Puts one request on the wire, with the headers of the account added to the fixed ones. Rejects as a
 * `Transport` does.
 */
export type RawSend = (
  request: ApiRequest,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<ApiResponse>;

/** The connections to one origin. */
export interface RawTransport {
  readonly send: RawSend;
  /** Breaks off whatever is still under way and closes every connection. */
  close(): Promise<void>;
}
