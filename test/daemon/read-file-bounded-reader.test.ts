import { describe, expect, it } from 'vitest';
import { createBoundedReader } from '../../src/daemon/node-platform.ts';
import { createFakeClock, settle } from '../support/fake-clock.ts';

const content = new TextEncoder().encode('content');

describe('createBoundedReader', () => {
  it('gives what the file holds, and leaves no timer behind', async () => {
    const clock = createFakeClock();
    const readFile = createBoundedReader({ clock, read: async () => content });

    expect(await readFile('/a')).toBe(content);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('gives up on a file that is not read within five seconds', async () => {
    const clock = createFakeClock();
    const readFile = createBoundedReader({ clock, read: async () => new Promise(() => {}) });

    const failure = readFile('/mnt/key').catch((error: unknown) => error);
    await clock.advance(5000);

    expect(await failure).toMatchObject({ code: 'ETIMEDOUT' });
  });

  it('refuses at once what still hangs, so that few threads are lost, and reads it again after', async () => {
    const clock = createFakeClock();
    const answers: (() => void)[] = [];
    const readFile = createBoundedReader({
      clock,
      read: async () => new Promise((resolve) => answers.push(() => resolve(content))),
    });
    const first = readFile('/mnt/key').catch((error: unknown) => error);
    await clock.advance(5000);

    expect(await first).toMatchObject({ code: 'ETIMEDOUT' });
    await expect(readFile('/mnt/key')).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    answers[0]?.();
    await settle();
    const third = readFile('/mnt/key');
    answers[1]?.();

    expect(await third).toBe(content);
    expect(answers).toHaveLength(2);
  });

  it('fails as reading fails', async () => {
    const clock = createFakeClock();
    const error = new Error('no such file');
    const readFile = createBoundedReader({ clock, read: async () => Promise.reject(error) });

    await expect(readFile('/a')).rejects.toBe(error);
    expect(clock.pendingTimers()).toBe(0);
  });
});
