import { describe, expect, it } from 'vitest';
import { pollUntilSettled } from '../../src/poller/poll-again.ts';

/** A source that learns something in each of these polls, and a poll that tells its number. */
function aSource(learnsIn: (poll: number) => boolean) {
  const listeners = new Set<() => void>();
  let polls = 0;
  return {
    listeners,
    source: {
      onCostsChange: (listener: () => void) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    poll: async (): Promise<number> => {
      polls += 1;
      if (learnsIn(polls)) for (const listener of listeners) listener();
      return polls;
    },
  };
}

describe('what is polled once', () => {
  it.each([
    { what: 'the source learns nothing', learnsIn: () => false, polls: 1 },
    { what: 'it learns something in the first', learnsIn: (poll: number) => poll === 1, polls: 2 },
    { what: 'it learns something in the first three', learnsIn: (n: number) => n < 4, polls: 4 },
    { what: 'it never ceases to learn', learnsIn: () => true, polls: 5 },
  ])('takes $polls polls if $what, and the last one counts', async ({ learnsIn, polls }) => {
    const { source, poll, listeners } = aSource(learnsIn);

    expect(await pollUntilSettled(source, poll)).toBe(polls);
    expect(listeners.size).toBe(0);
  });

  it('takes one poll with a source that always asks alike', async () => {
    expect(await pollUntilSettled({}, async () => 'values')).toBe('values');
  });

  it('ends with a poll that breaks off', async () => {
    const { source, listeners } = aSource(() => false);
    const poll = async (): Promise<never> => {
      throw new Error('interrupted');
    };

    await expect(pollUntilSettled(source, poll)).rejects.toThrow('interrupted');
    expect(listeners.size).toBe(0);
  });
});
