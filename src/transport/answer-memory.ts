import type { Operation } from '../model/telemetry.ts';

export interface AnswerMemoryOptions {
  /** What the JavaScript heap of this process may grow to, within half of a container's memory. */
  readonly heapBytes: number;
}

/** An answer that is being received. */
export interface AnswerHolder {
  /** Ends the call: memory is short, and this answer takes the most of it. */
  giveUp(): void;
}

/**
 * Bounds the memory that answers take, all accounts together, whatever the vendor or something on the
 * way sends. One for the whole process.
 */
export interface AnswerMemory {
  /** A larger body is none of a real answer. */
  maxBytesOf(operation: Operation): number;
  /** Says how much an answer takes by now. The largest gives up when all take too much together. */
  hold(holder: AnswerHolder, sizeBytes: number): void;
  /** The answer has been handed on, or given up. */
  release(holder: AnswerHolder): void;
}

const mebibyte = 1024 * 1024;
/** A real one has less than 2 kB. */
const maxMetricBytes = 64 * 1024;
/** A page has 200 hosts of half a kilobyte. */
const maxHostPageBytes = mebibyte;
/**
 * A page of applications has 200, of about 1 kB and 20 bytes for each host: 3 MiB are 700 hosts for
 * each of them, 64 MiB are more than 10,000. The more hosts, the more memory the daemon is given.
 */
const applicationPageBytes = { least: 3 * mebibyte, most: 64 * mebibyte, shareOfHeap: 1 / 32 };
/** All answers together, in largest pages. */
const pagesAtATime = 3;

export function createAnswerMemory({ heapBytes }: AnswerMemoryOptions): AnswerMemory {
  const { least, most, shareOfHeap } = applicationPageBytes;
  const maxPageBytes = Math.max(least, Math.min(most, Math.floor(heapBytes * shareOfHeap)));
  const maxBytes: Readonly<Record<Operation, number>> = {
    list_applications: maxPageBytes,
    list_hosts: maxHostPageBytes,
    application_metrics: maxMetricBytes,
    host_metrics: maxMetricBytes,
  };
  const maxTotalBytes = pagesAtATime * maxPageBytes;
  const sizes = new Map<AnswerHolder, number>();
  let totalBytes = 0;

  const release = (holder: AnswerHolder): void => {
    totalBytes -= sizes.get(holder) ?? 0;
    sizes.delete(holder);
  };

  return {
    maxBytesOf: (operation) => maxBytes[operation],
    hold: (holder, sizeBytes) => {
      totalBytes += sizeBytes - (sizes.get(holder) ?? 0);
      sizes.set(holder, sizeBytes);
      if (totalBytes <= maxTotalBytes) return;
      // It is not smaller than what has just grown, so that one is enough.
      const [largest] = [...sizes].reduce((one, other) => (other[1] > one[1] ? other : one));
      release(largest);
      largest.giveUp();
    },
    release,
  };
}

/**
 * The bytes of one answer. They are copied into one buffer as they come, unless there is only one
 * chunk, as is usual: an answer that comes byte by byte would else take a hundred times its size.
 *
 * A large one grows in place and gives its memory back at once: the garbage collector lets tens of
 * megabytes of outgrown and finished buffers lie before it collects them.
 */
export class AnswerBody {
  readonly #maxBytes: number;
  #bytes: Buffer | undefined;
  #sizeBytes = 0;
  #store: ArrayBuffer | undefined;

  /** @param maxBytes no more will ever be appended */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  append(chunk: Buffer): void {
    const sizeBytes = this.#sizeBytes + chunk.length;
    if (this.#bytes === undefined) {
      this.#bytes = chunk;
    } else {
      if (sizeBytes > this.#bytes.length) this.#bytes = this.#grown(this.#bytes, sizeBytes);
      chunk.copy(this.#bytes, this.#sizeBytes);
    }
    this.#sizeBytes = sizeBytes;
  }

  /** A byte order mark is no part of the text. */
  text(): string {
    const text = this.#bytes?.toString('utf8', 0, this.#sizeBytes) ?? '';
    return text.startsWith('\uFEFF') ? text.slice(1) : text;
  }

  /**
   * About what the document takes once it is parsed, if it is JSON, beside its texts: 24 bytes for an
   * element and 96 for an array, an object or a member. What stands in texts counts too.
   */
  parsedBytes(): number {
    return this.#bytes === undefined ? 0 : sumOf(this.#bytes, this.#sizeBytes);
  }

  /** It is empty then. */
  release(): void {
    this.#store?.resize(0);
    this.#store = undefined;
    this.#bytes = undefined;
    this.#sizeBytes = 0;
  }

  #grown(bytes: Buffer, neededBytes: number): Buffer {
    const lengthBytes = Math.max(neededBytes, Math.min(2 * bytes.length, this.#maxBytes));
    if (this.#store !== undefined) {
      this.#store.resize(lengthBytes);
      return Buffer.from(this.#store);
    }
    const larger = this.#newBuffer(lengthBytes);
    bytes.copy(larger);
    return larger;
  }

  #newBuffer(lengthBytes: number): Buffer {
    if (lengthBytes < largeBytes) return Buffer.allocUnsafeSlow(lengthBytes);
    // Takes addresses for the maximum, but memory only for what is written.
    this.#store = new ArrayBuffer(lengthBytes, { maxByteLength: this.#maxBytes });
    return Buffer.from(this.#store);
  }
}

/** Answers with values are smaller, and making a buffer that can shrink costs tens of microseconds. */
const largeBytes = 16 * 1024;

/** What each byte of a document adds to what it takes once it is parsed. */
const parsedBytesOf = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (character === ',') return 24;
  return ':[{'.includes(character) ? 96 : 0;
});

function sumOf(bytes: Buffer, sizeBytes: number): number {
  // Part by part: V8 is ten times slower with the bytes of a buffer that can be resized.
  const part = Buffer.allocUnsafeSlow(partBytes);
  let sum = 0;
  for (let start = 0; start < sizeBytes; start += partBytes) {
    const length = bytes.copy(part, 0, start, Math.min(start + partBytes, sizeBytes));
    // An iterator would make an object for each byte: a hundred megabytes of them for three.
    for (let index = 0; index < length; index += 1) sum += parsedBytesOf[part[index] ?? 0] ?? 0;
  }
  return sum;
}

const partBytes = 16 * 1024;
