/** How many calls a minute there were lately. */
export interface CallRate {
  add(calls: number, nowMs: number): void;
  perMinute(nowMs: number): number;
}

const minuteMs = 60_000;
const minutes = 10;

/** The mean of the last nine whole minutes and what has passed of the present one. */
export function createCallRate(): CallRate {
  const counts: number[] = Array.from({ length: minutes }, () => 0);
  let current = 0;
  let total = 0;

  const moveTo = (nowMs: number): void => {
    const minute = Math.floor(nowMs / minuteMs);
    const passed = Math.min(minutes, minute - current);
    for (let step = 1; step <= passed; step += 1) {
      const index = (current + step) % minutes;
      total -= counts[index] ?? 0;
      counts[index] = 0;
    }
    current = Math.max(current, minute);
  };

  return {
    add: (calls, nowMs) => {
      moveTo(nowMs);
      const index = current % minutes;
      counts[index] = (counts[index] ?? 0) + calls;
      total += calls;
    },
    perMinute: (nowMs) => {
      moveTo(nowMs);
      const passed = (nowMs % minuteMs) / minuteMs;
      return total / (minutes - 1 + passed);
    },
  };
}
