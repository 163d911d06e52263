import pLimit from 'p-limit';

/** How large a real answer to a request may be: values, a page of hosts, or a page of applications or rows. */
export type AnswerSize = 'small' | 'medium' | 'large';

export interface AnswerMemoryOptions {
  /** What the JavaScript heap of this process may grow to, within half of a container's memory. */
  readonly heapBytes: number;
}

/**
 * Bounds the memory that answers take, all accounts together, whatever the vendor or something on the
 * way sends. One for the whole process.
 */
export interface AnswerMemory {
  /** A larger body is none of a real answer. */
  readonly maxBytes: Readonly<Record<AnswerSize, number>>;
  /** Waits for the memory of an answer that is larger than a chunk. There is little, for all of them in turn. */
  takePlace(): Promise<Place>;
}

export interface Place {
  /** For the largest answer. What stands in it is of another one. */
  readonly bytes: Buffer;
  /** The next answer may have it. To be called once. */
  readonly leave: () => void;
}

const mebibyte = 1024 * 1024;
/** An answer with values has less than 2 kB, a page of 200 hosts half a kilobyte for each. */
const fixedBytes = { small: 64 * 1024, medium: mebibyte };
/**
 * A page of applications has 200, of about 1 kB and 20 bytes for each host: 3 MiB are 700 hosts for
 * each of them, 64 MiB are more than 10,000. The more hosts, the more memory the daemon is given.
 */
const large = { least: 3 * mebibyte, most: 64 * mebibyte, shareOfHeap: 1 / 32 };
const largeAnswers = 3;
/** So that an account whose answers drip leaves something to the others, and one answer to its account. */
const largeAnswersOfAccount = 2;

export function createAnswerMemory({ heapBytes }: AnswerMemoryOptions): AnswerMemory {
  const share = Math.floor(heapBytes * large.shareOfHeap);
  const largest = Math.max(large.least, Math.min(large.most, share));
  const places = pLimit(largeAnswers);
  // Used again: the garbage collector would let tens of megabytes of old ones lie.
  const idle: Buffer[] = [];
  const occupy = async (taken: (place: Place) => void): Promise<void> =>
    new Promise((left) => {
      const bytes = idle.pop() ?? Buffer.allocUnsafeSlow(largest);
      taken({
        bytes,
        leave: () => {
          idle.push(bytes);
          left();
        },
      });
    });
  return {
    maxBytes: { ...fixedBytes, large: largest },
    takePlace: async () => new Promise((taken) => void places(occupy, taken)),
  };
}

/** The part of the memory that the answers of one account may take. */
export function partOf(memory: Pick<AnswerMemory, 'takePlace'>): Pick<AnswerMemory, 'takePlace'> {
  const places = pLimit(largeAnswersOfAccount);
  const occupy = async (taken: (place: Place) => void): Promise<void> => {
    const { bytes, leave } = await memory.takePlace();
    await new Promise<void>((left) => {
      taken({
        bytes,
        leave: () => {
          leave();
          left();
        },
      });
    });
  };
  return { takePlace: async () => new Promise((taken) => void places(occupy, taken)) };
}
