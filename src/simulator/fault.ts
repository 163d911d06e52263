import type { GraphqlFault } from './graphql-fault.ts';

/** How a 429 says when calls are welcome again: the header and its form. */
export type ThrottleHint =
  | {
      readonly header: 'X-RateLimit-Reset' | 'NewRelic-OverloadProtection-Reset';
      /** Written as seconds since the epoch, counted from the answer's own `Date`. */
      readonly inSeconds: number;
    }
  | {
      readonly header: 'Retry-After';
      readonly inSeconds: number;
      readonly form: 'seconds' | 'date';
    }
  | { readonly header: string; readonly text: string };

/** A 200 with a fixed body that is not a document of the vendor. */
export interface FixedFault {
  /**
   * The login page of a proxy; no body; an error instead of the document; a body that ends in the
   * middle of the document, with the right length.
   */
  readonly kind: 'html' | 'empty' | 'error_object' | 'truncated_json';
}

/** A complete HTTP answer that a client cannot or must not use. */
export type AnswerFault =
  | FixedFault
  /**
   * An error, in the vendor's envelope unless `body` replaces it. A body that begins with `<` is HTML, as
   * of a gateway.
   */
  | { readonly kind: 'status'; readonly status: number; readonly body?: string | undefined }
  /** A 429. Without hints the answer does not say for how long. */
  | {
      readonly kind: 'throttled';
      readonly hints: readonly ThrottleHint[];
      readonly body?: string | undefined;
    }
  | { readonly kind: 'redirect'; readonly location: string }
  /**
   * A 200 with a given text as JSON. In both texts `{page}` stands for the requested page and `{next}`
   * for the one after it.
   */
  | { readonly kind: 'document'; readonly body: string; readonly link?: string | undefined };

/**
 * An answer with several metrics, of which one lacks a value that was asked for, has the values of its
 * first metric only: a trap that the vendor documents for the REST API. The others are found without
 * values, or are missing from both lists.
 */
export interface FirstMetricFault {
  readonly kind: 'first_metric_only';
  readonly others: 'without_values' | 'missing';
}

/** An answer with far too many bytes: spaces, or what unpacks to spaces. */
export interface SizeFault {
  readonly kind: 'huge_body' | 'huge_headers' | 'gzip_bomb';
  /** For a gzip bomb, the bytes after unpacking. */
  readonly bytes: number;
}

/** A connection that breaks HTTP. Needs a socket, except for `silence`. */
export type SocketFault =
  /** The headers never come. */
  | { readonly kind: 'silence' }
  /** The headers and a part of the body come, and nothing more. */
  | { readonly kind: 'stall' }
  /** One byte of the body every `everyMs`, for ever. */
  | { readonly kind: 'drip'; readonly everyMs: number }
  /** The connection is reset, before the headers or after a part of the body. */
  | { readonly kind: 'reset' | 'reset_in_body' }
  /** The connection is closed in order: before the headers, or before the announced length was sent. */
  | { readonly kind: 'close' | 'short_body' }
  /** Something that is not HTTP. */
  | { readonly kind: 'garbage' };

export type WireFault = SizeFault | SocketFault;

export type Fault = AnswerFault | FirstMetricFault | WireFault | GraphqlFault;

const wireKinds: Readonly<Record<WireFault['kind'], true>> = {
  silence: true,
  stall: true,
  drip: true,
  reset: true,
  reset_in_body: true,
  close: true,
  short_body: true,
  garbage: true,
  huge_body: true,
  huge_headers: true,
  gzip_bomb: true,
};

export function isWireFault(fault: Fault): fault is WireFault {
  return fault.kind in wireKinds;
}
