import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { ApiError } from '../../model/api-error.ts';
import type { AnswerSize, ApiResponse } from './transport.ts';
import { networkError, statusReason } from './transport-errors.ts';

/** A larger body is none of a real answer. */
export type AnswerLimits = Readonly<Record<AnswerSize, number>>;

const bodyUnit = 1024 * 1024;
/**
 * A page of applications has 200, of about 1 kB and 20 bytes for each host: 3 MiB are 700 hosts for
 * each of them, 64 MiB are more than 10,000. The more hosts, the more memory the daemon is given.
 */
const large = { least: 3 * bodyUnit, most: 64 * bodyUnit, shareOfHeap: 1 / 32 };

/** @param heapBytes what the JavaScript heap may grow to, within half of a container's memory */
export function answerLimits(heapBytes: number): AnswerLimits {
  const share = Math.floor(heapBytes * large.shareOfHeap);
  return {
    // Values take less than 2 kB.
    small: 64 * 1024,
    // Half a kilobyte for each of 200 hosts.
    medium: bodyUnit,
    large: Math.max(large.least, Math.min(large.most, share)),
  };
}

/** An answer whose headers have come. */
export interface BeginningAnswer {
  readonly statusCode: number;
  readonly headers: ApiResponse['headers'];
  readonly body: Readable;
}

export interface AnswerReading {
  readonly maxBytes: number;
  /** The other end, as errors name it. */
  readonly peer: string;
  readonly signal: AbortSignal;
}

/** The body of a failure only explains it. */
const maxFailureBytes = 64 * 1024;

/**
 * The complete answer. Rejects with an `ApiError` if it is larger than a real one, or compressed, which was
 * not accepted: so nothing is ever unpacked. What a failure means stands in its status and headers: of its
 * body, the beginning will do, or what there is of it when the connection breaks.
 */
export async function readAnswer(
  { statusCode: status, headers, body }: BeginningAnswer,
  { maxBytes, peer, signal }: AnswerReading,
): Promise<ApiResponse> {
  const isFailure = statusReason(status) !== undefined;
  // The connection may still break when nobody reads any more.
  body.on('error', () => undefined);
  if (isCompressed(headers)) {
    body.destroy();
    if (isFailure) return { status, headers, body: '' };
    throw compressedError(peer, status, headers);
  }
  const text = new BodyText(isFailure ? maxFailureBytes : maxBytes);
  try {
    const chunks: AsyncIterable<Buffer> = body;
    for await (const chunk of chunks) {
      text.add(chunk);
      // The end of the loop ends the connection, too.
      if (text.problem() !== undefined) break;
    }
  } catch (error) {
    if (!isFailure || signal.aborted) throw error;
  }
  const whole = text.end();
  const problem = text.problem();
  if (problem !== undefined && !isFailure) throw networkError('too_large', peer, problem);
  return { status, headers, body: whole };
}

/** A chunk of a socket. */
const blockBytes = 64 * 1024;
/** What a chunk takes beside its bytes. */
const chunkBytes = 128;
/** What a parsed document takes for what begins after one of these bytes: a word, and six for an object. */
const sizeWords: ReadonlyMap<string, number> = new Map([
  [',', 1],
  ['[', 6],
  ['{', 6],
]);
/** Real documents of the largest size have more bytes for each word: they are mostly ids and names. */
const bytesForEachWord = 6;
const wordsOfByte = Uint8Array.from(
  { length: 256 },
  (_, byte) => sizeWords.get(String.fromCharCode(byte)) ?? 0,
);

/**
 * A body as text while it arrives, block by block: kept as they come, chunks of a body that drips byte by
 * byte would take a hundred times its size, and Node.js puts longer texts outside of the heap, where they
 * wait longer for the garbage collector.
 */
class BodyText {
  readonly #maxBytes: number;
  readonly #decoder = new StringDecoder('utf8');
  #chunks: Buffer[] = [];
  #chunksBytes = 0;
  #text = '';
  #length = 0;
  #words = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk.subarray(0, Math.max(0, this.#maxBytes - this.#length)));
    this.#length += chunk.length;
    this.#chunksBytes += chunk.length + chunkBytes;
    if (this.#chunksBytes >= blockBytes) this.#decode();
  }

  /** Why it is none of a real answer. What is mostly small arrays and objects grows when it is parsed. */
  problem(): string | undefined {
    if (this.#length > this.#maxBytes) return `more than ${this.#maxBytes} bytes`;
    const isDense = this.#length > blockBytes && this.#words * bytesForEachWord > this.#maxBytes;
    return isDense ? 'more objects than there is memory for' : undefined;
  }

  end(): string {
    this.#decode();
    return this.#text + this.#decoder.end();
  }

  #decode(): void {
    const block = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#chunksBytes = 0;
    // An iterator would make an object for each byte.
    for (let index = 0; index < block.length; index += 1) {
      this.#words += wordsOfByte[block[index] ?? 0] ?? 0;
    }
    const text = this.#decoder.write(block);
    this.#text += this.#text === '' ? text.replace(byteOrderMark, '') : text;
  }
}

const byteOrderMark = /^\uFEFF/;

/** Some gateways send the header with nothing in it. */
function isCompressed(headers: ApiResponse['headers']): boolean {
  const encodings = String(headers['content-encoding'] ?? '').toLowerCase();
  return encodings.split(',').some((encoding) => !['', 'identity'].includes(encoding.trim()));
}

function compressedError(peer: string, status: number, headers: ApiResponse['headers']): ApiError {
  const encoding = String(headers['content-encoding']).slice(0, 40);
  return new ApiError(
    'not_json',
    `${peer}: the answer is compressed (content-encoding: ${encoding}) although that was not accepted; look for a proxy that compresses answers`,
    { status },
  );
}
