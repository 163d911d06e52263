export interface HeapFacts {
  /** What the container may have; 0, or more than any machine has, where there is no limit. */
  readonly memoryBytes: number;
  /** What V8 would let the heap grow to. */
  readonly heapLimitBytes: number;
  /** The flags of Node that are in force by other ways, as one text. */
  readonly given: string;
}

/** The daemon takes up to 85 MB beside its heap, its parent 15: together the other half of 192 MiB. */
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
