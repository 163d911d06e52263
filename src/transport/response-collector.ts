import type { Dispatcher } from 'undici';
import { ApiError } from '../model/api-error.ts';
import { AnswerBody, type AnswerHolder, type AnswerMemory } from './answer-memory.ts';
import type { AbortWatch } from './deadline.ts';
import type { ApiResponse } from './transport.ts';
import { apiErrorFrom, statusReason } from './transport-errors.ts';

type Controller = Dispatcher.DispatchController;

export interface ResponseCollectorOptions {
  /** A larger body is none of a real answer. */
  readonly maxBytes: number;
  /** The other end, as errors name it. */
  readonly peer: string;
  readonly signal: AbortSignal;
  readonly abortWatch: AbortWatch;
  readonly memory: AnswerMemory;
}

/** What the caller waits for. */
export interface ResponseOutcome {
  readonly resolve: (response: ApiResponse) => void;
  readonly reject: (reason: unknown) => void;
}

/** The body of a failure only explains it. */
const maxFailureBodyBytes = 64 * 1024;
/** What a smaller body becomes when it is parsed is small too, whatever stands in it. */
const lightBodyBytes = 64 * 1024;
/** A document may become so many times the largest body. One full of the ids of hosts takes 2.5. */
const maxParsedGrowth = 4;

/**
 * One request on the wire, as undici's dispatcher sees it: collects the answer and tells its outcome.
 *
 * undici's `request` makes a stream of every body, which costs about as much as all that this program
 * does for a call; here an answer is one chunk, seldom more. A class, because closures for all these
 * events would have to be made anew for every call. The outcome is a promise's: the first one counts.
 */
export class ResponseCollector implements Dispatcher.DispatchHandler, AnswerHolder {
  readonly #peer: string;
  readonly #signal: AbortSignal;
  readonly #abortWatch: AbortWatch;
  readonly #memory: AnswerMemory;
  readonly #outcome: ResponseOutcome;
  readonly #body: AnswerBody;
  #maxBytes: number;
  /** Whether no more than the start of the body is wanted. */
  #isCut = false;
  #status = 0;
  #headers: ApiResponse['headers'] = {};
  #controller: Controller | undefined;

  constructor(options: ResponseCollectorOptions, outcome: ResponseOutcome) {
    this.#peer = options.peer;
    this.#signal = options.signal;
    this.#abortWatch = options.abortWatch;
    this.#memory = options.memory;
    this.#maxBytes = options.maxBytes;
    this.#body = new AnswerBody(this.#maxBytes);
    this.#outcome = outcome;
    this.#abortWatch.add(this.#signal, this.#onAbort);
  }

  readonly #onAbort = (): void => {
    // At once: undici itself says so only when a connection attempt that is under way has ended.
    this.#release();
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
    // What a failure means stands in its status and headers.
    const isFailure = statusReason(status) !== undefined;
    if (isFailure || isCompressed(headers)) {
      this.#isCut = true;
      this.#maxBytes = isCompressed(headers) ? 0 : maxFailureBodyBytes;
    } else if (Number(headers['content-length']) > this.#maxBytes) {
      this.#refuse(`more than ${this.#maxBytes} bytes`);
    }
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    const leftBytes = this.#maxBytes - this.#body.sizeBytes;
    if (this.#isCut && chunk.length >= leftBytes) {
      this.#body.append(chunk.subarray(0, leftBytes));
      this.#finish();
      this.#breakOff();
    } else if (chunk.length > leftBytes) {
      this.#refuse(`more than ${this.#maxBytes} bytes`);
    } else {
      this.#body.append(chunk);
      this.#memory.hold(this, this.#body.sizeBytes);
    }
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
    if (this.#isCut) {
      this.#finish();
      return;
    }
    this.#release();
    this.#outcome.reject(apiErrorFrom(error, this.#peer));
  }

  giveUp(): void {
    if (this.#isCut) this.#finish();
    this.#refuse('more, with the other answers under way, than there is memory for');
  }

  #finish(): void {
    const [status, headers] = [this.#status, this.#headers];
    if (isCompressed(headers) && statusReason(status) === undefined) {
      this.#outcome.reject(compressedError(this.#peer, status, headers));
    } else if (this.#isHeavy()) {
      this.#refuse('more objects than there is memory for');
    } else {
      this.#outcome.resolve({ status, headers, body: this.#body.text() });
    }
    this.#release();
  }

  #isHeavy(): boolean {
    if (this.#body.sizeBytes <= lightBodyBytes) return false;
    return this.#body.parsedBytes() > maxParsedGrowth * this.#maxBytes;
  }

  #refuse(what: string): void {
    this.#release();
    this.#outcome.reject(
      new ApiError(
        'too_large',
        `${this.#peer}: the answer is larger than any real one (${what}); check that base_url and proxy_url lead to the New Relic API`,
      ),
    );
    this.#breakOff();
  }

  #release(): void {
    this.#abortWatch.remove(this.#signal, this.#onAbort);
    this.#memory.release(this);
    this.#body.release();
  }

  /** The connection goes with the request. */
  #breakOff(): void {
    this.#controller?.abort(new Error('the rest of the answer is not wanted'));
  }
}

/** Some gateways send the header with nothing in it. */
function isCompressed(headers: ApiResponse['headers']): boolean {
  const encodings = headers['content-encoding'];
  if (encodings === undefined) return false;
  return String(encodings)
    .toLowerCase()
    .split(',')
    .some((encoding) => !['', 'identity'].includes(encoding.trim()));
}

function compressedError(peer: string, status: number, headers: ApiResponse['headers']): ApiError {
  const encoding = String(headers['content-encoding']).slice(0, 40);
  return new ApiError(
    'not_json',
    `${peer}: the answer is compressed (content-encoding: ${encoding}) although that was not accepted; look for a proxy that compresses answers`,
    { status },
  );
}
