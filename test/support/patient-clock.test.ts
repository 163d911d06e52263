import { describe, expect, it, onTestFinished } from 'vitest';
import { createPatientClock } from './patient-clock.ts';

describe('createPatientClock', () => {
  it('goes on by itself, and runs timers when they are due', async () => {
    const clock = createPatientClock();
    onTestFinished(clock.stop);
    const startMs = clock.monotonicMs();

    await new Promise<void>((resolve) => {
      clock.after(50, resolve);
    });

    expect(clock.monotonicMs() - startMs).toBe(50);
  });

  it('stands still while the process does not run', async () => {
    const clock = createPatientClock();
    onTestFinished(clock.stop);
    const startMs = clock.monotonicMs();
    const untilMs = performance.now() + 200;
    while (performance.now() < untilMs);

    await new Promise<void>((resolve) => {
      clock.after(1, resolve);
    });

    expect(clock.monotonicMs() - startMs).toBeLessThan(100);
  });
});
