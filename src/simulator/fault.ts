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

/** A complete HTTP answer that a client cannot or must not use. */
type AnswerFault =
  /** A 200: the login page of a proxy; no body; an error; a body that ends in the middle, with its length. */
  | { readonly kind: 'html' | 'empty' | 'error_object' | 'truncated_json' }
  /** An error, in the vendor's envelope unless `body` replaces it, which is HTML if it begins with `<`. */
  | { readonly kind: 'status'; readonly status: number; readonly body?: string | undefined }
  /** A 429. Without hints the answer does not say for how long. */
  | {
      readonly kind: 'throttled';
      readonly hints: readonly ThrottleHint[];
      readonly body?: string | undefined;
    }
  | { readonly kind: 'redirect'; readonly location: string }
  /** A 200 with a text as JSON. In both texts `{page}` is the requested page and `{next}` the next. */
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
type SocketFault =
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

/** An answer of NerdGraph, a 200, in which something is wrong. It needs a request to NerdGraph. */
type GraphqlFault =
  /**
   * The fields that read data (`nrql`, `entitySearch`) are null, each with an error. `partial`: only the
   * one with this name or alias; the others keep their data.
   */
  | {
      readonly kind: 'graphql_error';
      readonly errorClass: string;
      readonly message: string;
      readonly classification?: string | undefined;
      readonly partial?: string | undefined;
    }
  /** The fields that read data are null, without an error. */
  | { readonly kind: 'null_nrql' }
  /** Only the first `rows` facets of each NRQL; the rest is in `otherResult`. */
  | { readonly kind: 'truncated'; readonly rows: number }
  /**
   * Only the first rows of each NRQL, or the first entities of a page that claims to be the last. The sums
   * (`totalResult`, `count`) stay true. With an error beside it; or without, and then without
   * `otherResult`.
   */
  | { readonly kind: 'short'; readonly keep: number; readonly sign: 'error' | 'none' }
  /** Good data that the metadata of NRQL has something to say about. */
  | { readonly kind: 'messages'; readonly message: string }
  /** The first facet of each NRQL is there twice, each time with half of its calls. */
  | { readonly kind: 'facet_twice' }
  /** NRQL states a window whose ends are so much later than those of its data. */
  | {
      readonly kind: 'other_window';
      readonly beginMinutes: number;
      readonly endMinutes: number;
    }
  /** What another question would be answered: the one in which `replace` stands as `by`. */
  | { readonly kind: 'other_answer'; readonly replace: string; readonly by: string }
  /** One entity more than there are, of another account. The count knows of it. */
  | { readonly kind: 'foreign_entity'; readonly accountId: number }
  /** Good data with an error beside it, by default the vendor's notice of a deprecated field. */
  | { readonly kind: 'warning'; readonly message?: string | undefined }
  /** The numbers of NRQL results are texts. */
  | { readonly kind: 'numbers_as_text' };

export type Fault = AnswerFault | FirstMetricFault | SizeFault | SocketFault | GraphqlFault;
