export const secondMs = 1000;
export const minuteMs: number = 60 * secondMs;
export const hourMs: number = 60 * minuteMs;
export const dayMs: number = 24 * hourMs;
