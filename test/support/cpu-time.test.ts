import { expect, it } from 'vitest';
import { cpuMsOf } from './cpu-time.ts';

it('counts the time at work', () => {
  const cpuMs = cpuMsOf(() => {
    const untilMs = performance.now() + 100;
    while (performance.now() < untilMs);
  });

  expect(cpuMs).toBeGreaterThan(0);
});
