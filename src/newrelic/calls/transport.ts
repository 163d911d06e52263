import type { FailureReason } from '../../model/api-error.ts';
import type { RequestContext } from '../../model/source.ts';
import type { Operation } from '../../model/telemetry.ts';

/** How large a real answer may be: values, a page of hosts, or a page of applications or rows. */
export type AnswerSize = 'small' | 'medium' | 'large';

/**
 * One GET, or a POST if there is a body. `target` is path and query, already encoded, relative to the
 * account's base URL.
 */
export interface ApiRequest extends Omit<RequestContext, 'signal'> {
  readonly operation: Operation;
  readonly target: string;
  /** A JSON document to post. The request changes nothing, so it may be sent again. */
  readonly body?: string;
  /** Default: small. */
  readonly answerSize?: AnswerSize;
  /** A shorter timeout than the account's, from when the request leaves. */
  readonly timeoutMs?: number;
  /** Why its call is tried again; left out of a first try. */
  readonly retriedFor?: FailureReason;
  /** Which try of its call it is. Default: 1. */
  readonly attempt?: number;
}

/** A complete answer; header names are in lower case. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/**
 * Sends one request. Rejects with an `ApiError` when no complete answer came, or with the signal's
 * reason when that was aborted. Any status is an answer.
 */
export type Transport = (request: ApiRequest, signal: AbortSignal) => Promise<ApiResponse>;

/** The connections to one origin. */
export interface RawTransport {
  /**
   * Puts one request on the wire, with these headers beside the fixed ones. Rejects as a `Transport`
   * does.
   */
  readonly send: (
    request: ApiRequest,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => Promise<ApiResponse>;
  /** Breaks off whatever is still under way and closes every connection. */
  close(): Promise<void>;
}

/** Holds the API key of one account, wherever it comes from. */
export interface KeyProvider {
  /** The key to send now. Never throws. */
  current(): string;
  /** Reads the key again; true if it changed. An unreadable key counts as unchanged. */
  reload(): Promise<boolean>;
}
