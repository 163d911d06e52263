/** Remembers, from one poll of an application to the next, that its calls are not answered. */
export interface Doubts {
  has(key: string): boolean;
  /** When a call was last seen to be slow; negative infinity without doubt. */
  sinceMs(key: string): number;
  /** A call was slow, and none was answered since it began. */
  add(key: string, nowMs: number): void;
  clear(key: string): void;
}

/** Who is gone is never cleared: the bound keeps that from growing. */
const atMost = 10_000;

export function createDoubts(): Doubts {
  /** The oldest first. */
  const since = new Map<string, number>();
  return {
    has: (key) => since.has(key),
    sinceMs: (key) => since.get(key) ?? Number.NEGATIVE_INFINITY,
    add: (key, nowMs) => {
      since.delete(key);
      since.set(key, nowMs);
      const [oldest] = since.keys();
      if (since.size > atMost && oldest !== undefined) since.delete(oldest);
    },
    clear: (key) => {
      since.delete(key);
    },
  };
}
