/** A value, and since when it is as it is. */
export interface Since<Value> {
  readonly value: Value;
  /** Monotonic time of its last change; `undefined` if there was none. */
  readonly sinceMs: number | undefined;
}

/** To be called whenever it may have changed. */
export function noted<Value>(before: Since<Value>, value: Value, nowMs: number): Since<Value> {
  return value === before.value ? before : { value, sinceMs: nowMs };
}
