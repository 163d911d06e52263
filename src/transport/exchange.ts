import type { Dispatcher } from 'undici';
import { ApiError } from '../model/api-error.ts';
import type { AbortWatch } from './abort-watch.ts';
import { apiErrorFrom } from './api-error-from.ts';
import { statusReason } from './status-reason.ts';
import type { ApiResponse } from './transport.ts';

type Controller = Dispatcher.DispatchController;

export interface ExchangeOptions {
  /** Named in errors. */
  readonly host: string;
  readonly signal: AbortSignal;
  readonly abortWatch: AbortWatch;
}

/** What the caller waits for. */
export interface ExchangeOutcome {
  readonly resolve: (response: ApiResponse) => void;
  readonly reject: (reason: unknown) => void;
}

/** The body of a failure only explains it. */
const maxFailureBodyBytes = 64 * 1024;

/**
 * One request on the wire, as undici's dispatcher sees it: collects the answer and tells its outcome.
 *
 * undici's `request` makes a stream of every body, which costs about as much as all that this program
 * does for a call; here an answer is one chunk, seldom more. A class, because closures for all these
 * events would have to be made anew for every call. The outcome is a promise's: the first one counts.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #host: string;
  readonly #signal: AbortSignal;
  readonly #abortWatch: AbortWatch;
  readonly #outcome: ExchangeOutcome;
  readonly #chunks: Buffer[] = [];
  #sizeBytes = 0;
  #maxBytes = Number.POSITIVE_INFINITY;
  #status = 0;
  #headers: ApiResponse['headers'] = {};
  #controller: Controller | undefined;

  constructor({ host, signal, abortWatch }: ExchangeOptions, outcome: ExchangeOutcome) {
    this.#host = host;
    this.#signal = signal;
    this.#abortWatch = abortWatch;
    this.#outcome = outcome;
    abortWatch.add(signal, this.#onAbort);
  }

  readonly #onAbort = (): void => {
    // At once: undici itself says so only when a connection attempt that is under way has ended.
    this.#outcome.reject(this.#signal.reason);
    this.#breakOff();
  };

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#signal.aborted) this.#breakOff();
  }

  onResponseStart(_controller: Controller, status: number, headers: ApiResponse['headers']): void {
    // Only announces the answer.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (isCompressed(headers)) this.#maxBytes = 0;
    // What a failure means stands in its status and headers.
    else if (statusReason(status) !== undefined) this.#maxBytes = maxFailureBodyBytes;
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes < this.#maxBytes) return;
    this.#finish();
    this.#breakOff();
  }

  onResponseEnd(): void {
    this.#finish();
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.fail(error);
  }

  /** The request cannot be sent, or its connection broke. */
  fail(error: unknown): void {
    // Only the start of the body was wanted: what there is of it will do.
    if (Number.isFinite(this.#maxBytes)) {
      this.#finish();
      return;
    }
    this.#release();
    this.#outcome.reject(apiErrorFrom(error, this.#host));
  }

  #finish(): void {
    this.#release();
    const [status, headers] = [this.#status, this.#headers];
    if (isCompressed(headers) && statusReason(status) === undefined) {
      this.#outcome.reject(compressedError(this.#host, status, headers));
    } else {
      const body = textOf(this.#chunks, Math.min(this.#sizeBytes, this.#maxBytes));
      this.#outcome.resolve({ status, headers, body });
    }
  }

  #release(): void {
    this.#abortWatch.remove(this.#signal, this.#onAbort);
  }

  /** The connection goes with the request. */
  #breakOff(): void {
    this.#controller?.abort(new Error('the rest of the answer is not wanted'));
  }
}

function isCompressed(headers: ApiResponse['headers']): boolean {
  const encoding = headers['content-encoding'];
  return encoding !== undefined && String(encoding).trim().toLowerCase() !== 'identity';
}

function compressedError(host: string, status: number, headers: ApiResponse['headers']): ApiError {
  const encoding = String(headers['content-encoding']).slice(0, 40);
  return new ApiError(
    'not_json',
    `${host}: the answer is compressed (content-encoding: ${encoding}) although that was not accepted; look for a proxy that compresses answers`,
    { status },
  );
}

/** A byte order mark is no part of the text. */
function textOf(chunks: readonly Buffer[], sizeBytes: number): string {
  const bytes = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
  const text = bytes?.toString('utf8', 0, sizeBytes) ?? '';
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
