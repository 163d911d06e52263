export interface HeapFacts {
  /** What the container may have; 0, or more than any machine has, where there is no limit. */
  readonly memoryBytes: number;
  /** What V8 would let the heap grow to. */
  readonly heapLimitBytes: number;
  /** The flags of Node that are in force by other ways, as one text. */
  readonly given: string;
}

/** Beside its heap the daemon takes 62 MiB, 40 of them Node.js itself; its parent up to 25 more. */
const heapShare = 0.5;

/**
 * Flags of Node with which a process that takes too much dies of its own heap, before the kernel kills
 * every process of the container. None where V8's own limit does that, or where a limit is given.
 */
export function heapFlags({ memoryBytes, heapLimitBytes, given }: HeapFacts): readonly string[] {
  const heapBytes = memoryBytes * heapShare;
  if (heapBytes <= 0 || heapBytes >= heapLimitBytes) return [];
  if (/--max[-_](?:old[-_]space|heap)[-_]size/u.test(given)) return [];
  return [`--max-old-space-size=${Math.max(1, Math.floor(heapBytes / 1024 ** 2))}`];
}
