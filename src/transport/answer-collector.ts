import type { Dispatcher } from 'undici';
import { ApiError } from '../model/api-error.ts';
import type { AnswerMemory, Place } from './answer-memory.ts';
import type { ApiResponse } from './transport.ts';
import { apiErrorFrom, statusReason } from './transport-errors.ts';

type Controller = Dispatcher.DispatchController;

export interface AnswerCollectorOptions {
  /** A larger body is none of a real answer. */
  readonly maxBytes: number;
  /** The other end, as errors name it. */
  readonly peer: string;
  readonly signal: AbortSignal;
  readonly memory: Pick<AnswerMemory, 'takePlace'>;
}

/** What the caller waits for: a promise's, so that the first outcome counts. */
export interface AnswerOutcome {
  readonly resolve: (response: ApiResponse) => void;
  readonly reject: (reason: unknown) => void;
}

/** The body of a failure only explains it. */
const maxFailureBytes = 64 * 1024;
/** A chunk of a socket. Larger answers are few at a time. */
const lightBytes = 64 * 1024;
/** What a parsed document takes for what begins after one of these bytes: a word, and six for an object. */
const wordsOf: Readonly<Record<string, number>> = { ',': 1, '[': 6, '{': 6 };
/** Real documents of the largest size have more bytes for each word: they are mostly ids and names. */
const bytesForEachWord = 6;
/** Leaves a byte order mark out. */
const utf8 = new TextDecoder();
const wordsOfByte = Uint8Array.from(
  { length: 256 },
  (_, byte) => wordsOf[String.fromCharCode(byte)] ?? 0,
);

/**
 * One request on the wire, as undici's dispatcher sees it: collects the answer within the bounds of
 * memory. A stream would keep each chunk as an object, and a body that comes byte by byte would take
 * a hundred times its size.
 */
export class AnswerCollector implements Dispatcher.DispatchHandler {
  readonly #options: AnswerCollectorOptions;
  readonly #outcome: AnswerOutcome;
  #controller: Controller | undefined;
  #status = 0;
  #headers: ApiResponse['headers'] = {};
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  #place: Promise<Place> | undefined;

  constructor(options: AnswerCollectorOptions, outcome: AnswerOutcome) {
    this.#options = options;
    this.#outcome = outcome;
    options.signal.addEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (): void => {
    // At once: undici itself says so only when a connection attempt that is under way has ended.
    this.#reject(this.#options.signal.reason);
  };

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#options.signal.aborted) this.#breakOff();
  }

  onResponseStart(_controller: Controller, status: number, headers: ApiResponse['headers']): void {
    // Only announces the answer.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (!isCompressed(headers)) return;
    if (this.#isFailure()) this.#resolve();
    else this.#reject(compressedError(this.#options.peer, status, headers));
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    const limitBytes = this.#isFailure() ? maxFailureBytes : this.#options.maxBytes;
    const leftBytes = limitBytes - this.#length;
    if (!this.#isFailure() && chunk.length > leftBytes) {
      this.#refuse(`more than ${limitBytes} bytes`);
      return;
    }
    this.#append(chunk.length > leftBytes ? chunk.subarray(0, leftBytes) : chunk);
    if (this.#isFailure() && this.#length === limitBytes) this.#resolve();
    if (this.#length > lightBytes && this.#place === undefined) void this.#waitForPlace(controller);
  }

  onResponseEnd(): void {
    this.#controller = undefined;
    if (isDense(this.#bytes.subarray(0, this.#length), this.#options.maxBytes)) {
      this.#refuse('more objects than there is memory for');
    } else {
      this.#resolve();
    }
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#controller = undefined;
    this.fail(error);
  }

  /** The request cannot be sent, or its connection broke. */
  fail(error: unknown): void {
    // Of a failure, what there is of its body will do.
    if (this.#isFailure()) this.#resolve();
    else this.#reject(apiErrorFrom(error, this.#options.peer));
  }

  // What a failure means stands in its status and headers.
  #isFailure(): boolean {
    return this.#status > 0 && statusReason(this.#status) !== undefined;
  }

  #append(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#bytes.length) this.#moveTo(Buffer.allocUnsafeSlow(2 * length));
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  #moveTo(larger: Buffer): void {
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }

  async #waitForPlace(controller: Controller): Promise<void> {
    controller.pause();
    this.#place = this.#options.memory.takePlace();
    const { bytes } = await this.#place;
    // The request may have ended meanwhile.
    if (this.#place === undefined) return;
    this.#moveTo(bytes);
    controller.resume();
  }

  #refuse(what: string): void {
    this.#reject(
      new ApiError(
        'too_large',
        `${this.#options.peer}: the answer is larger than any real one (${what}); check that base_url and proxy_url lead to the New Relic API`,
      ),
    );
  }

  #resolve(): void {
    const body = textOf(this.#bytes.subarray(0, this.#length));
    this.#outcome.resolve({ status: this.#status, headers: this.#headers, body });
    this.#end();
  }

  #reject(reason: unknown): void {
    this.#outcome.reject(reason);
    this.#end();
  }

  /** Nothing of the answer is wanted any more: if it has not ended, the connection goes with it. */
  #end(): void {
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    void this.#place?.then(({ leave }) => leave());
    this.#place = undefined;
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
    this.#breakOff();
  }

  #breakOff(): void {
    this.#controller?.abort(new Error('the rest of the answer is not wanted'));
  }
}

/** In parts: Node.js keeps a longer text outside of the heap, where garbage waits longer. */
function textOf(bytes: Buffer): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += lightBytes) {
    text += utf8.decode(bytes.subarray(start, start + lightBytes), { stream: true });
  }
  return text + utf8.decode();
}

/** What is mostly small arrays and objects becomes many times as large when it is parsed. */
function isDense(bytes: Buffer, maxBytes: number): boolean {
  if (bytes.length <= lightBytes) return false;
  let words = 0;
  // An iterator would make an object for each byte.
  for (let index = 0; index < bytes.length; index += 1) {
    words += wordsOfByte[bytes[index] ?? 0] ?? 0;
  }
  return words * bytesForEachWord > maxBytes;
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
