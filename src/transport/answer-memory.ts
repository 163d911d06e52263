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
    application_throughput: maxMetricBytes,
    host_throughput: maxMetricBytes,
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
