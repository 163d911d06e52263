import { describe, expect, it } from 'vitest';
import { createWaitQueue } from '../../src/rate-limit/wait-queue.ts';
import { neverAborted } from '../transport/fakes.ts';

const owner = {};

describe('createWaitQueue', () => {
  it('serves in order of arrival, the urgent ones before the others', async () => {
    const queue = createWaitQueue<number>();
    const turns = [false, true, false, true].map(async (urgent) =>
      queue.wait({ urgent, owner }, neverAborted),
    );

    for (let item = 1; item <= 4; item += 1) queue.dequeue(item);

    expect(await Promise.all(turns)).toEqual([3, 1, 4, 2]);
    expect(queue.size()).toBe(0);
  });

  it.each([{ urgent: false }, { urgent: true }])(
    'drops an aborted caller and no other one (urgent: $urgent)',
    async ({ urgent }) => {
      const queue = createWaitQueue<number>();
      const controller = new AbortController();
      const reason = new Error('stopping');
      const first = queue.wait({ urgent, owner }, neverAborted);
      const aborted = queue.wait({ urgent, owner }, controller.signal);
      const last = queue.wait({ urgent, owner }, neverAborted);

      controller.abort(reason);
      queue.dequeue(1);
      queue.dequeue(2);

      await expect(aborted).rejects.toBe(reason);
      expect(await Promise.all([first, last])).toEqual([1, 2]);
    },
  );

  it('ignores the abort of a caller that has been served', async () => {
    const queue = createWaitQueue<number>();
    const controller = new AbortController();
    const first = queue.wait({ urgent: false, owner }, controller.signal);
    void queue.wait({ urgent: false, owner }, neverAborted);

    queue.dequeue(1);
    controller.abort(new Error('stopping'));

    expect(await first).toBe(1);
    expect(queue.size()).toBe(1);
  });

  it('evicts the callers of one owner, and keeps the order of the others', async () => {
    const queue = createWaitQueue<number>();
    const other = {};
    const wait = async (urgent: boolean, of: object): Promise<number | undefined> =>
      queue.wait({ urgent, owner: of }, neverAborted);
    const evicted = [wait(false, owner), wait(true, owner)];
    const staying = [wait(false, other), wait(true, other), wait(false, other)];

    queue.evict(owner);
    for (let item = 1; item <= 3; item += 1) queue.dequeue(item);

    expect(await Promise.all(evicted)).toEqual([undefined, undefined]);
    expect(await Promise.all(staying)).toEqual([2, 1, 3]);
  });
});
