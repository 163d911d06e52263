/** When a 429 says that calls are welcome again; in which header, and how. */
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

/** 200 with something that is no document of the vendor, always the same. */
export interface FixedFault {
  /**
   * The login page of a proxy; no body at all; an error in place of the document; a body that ends
   * in the middle of a document, its length being right.
   */
  readonly kind: 'html' | 'empty' | 'error_object' | 'truncated_json';
}

/** A complete HTTP answer that a client cannot or must not use as it stands. */
export type AnswerFault =
  | FixedFault
  /** An error in the vendor's envelope, unless there is another body. */
  | { readonly kind: 'status'; readonly status: number; readonly body?: string | undefined }
  /** 429. Without hints the answer does not say how long. */
  | {
      readonly kind: 'throttled';
      readonly hints: readonly ThrottleHint[];
      readonly body?: string | undefined;
    }
  | { readonly kind: 'redirect'; readonly location: string }
  /**
   * 200 with any text as JSON. In both texts `{page}` is the page asked for and `{next}` the one
   * after it.
   */
  | { readonly kind: 'document'; readonly body: string; readonly link?: string | undefined };

/** An answer with more bytes than anybody wants: blanks, or what becomes blanks. */
export interface SizeFault {
  readonly kind: 'huge_body' | 'huge_headers' | 'gzip_bomb';
  /** Of a gzip bomb: after unpacking. */
  readonly bytes: number;
}

/** A connection that does what HTTP does not provide for. Needs a socket, `silence` excepted. */
export type SocketFault =
  /** The headers never come. */
  | { readonly kind: 'silence' }
  /** The headers and a part of the body come, and no more. */
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

export type Fault = AnswerFault | WireFault;

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
