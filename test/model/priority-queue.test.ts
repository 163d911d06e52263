import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PriorityQueue } from '../../src/model/priority-queue.ts';

interface Item {
  readonly priority: number;
  readonly order: number;
}

const byPriority = (left: Item, right: Item): number =>
  left.priority - right.priority || left.order - right.order;

describe('PriorityQueue', () => {
  it('always has the same first item as a sorted list, whatever is added and removed', () => {
    const priorities = fc.array(fc.option(fc.nat(9), { nil: undefined }), { maxLength: 200 });
    fc.assert(
      fc.property(priorities, (commands) => {
        const queue = new PriorityQueue<Item>();
        let model: readonly Item[] = [];
        for (const [order, priority] of commands.entries()) {
          if (priority === undefined) {
            queue.removeFirst();
            model = model.slice(1);
          } else {
            queue.add({ priority, order });
            model = [...model, { priority, order }].toSorted(byPriority);
          }
          expect(queue.first()).toEqual(model[0]);
        }
      }),
    );
  });

  it('adds and removes one of 10,000 with a few comparisons', () => {
    let comparisons = 0;
    const counted = (value: number, order: number): Item => ({
      get priority() {
        comparisons += 1;
        return value;
      },
      order,
    });
    const queue = new PriorityQueue<Item>();
    for (let item = 0; item < 10_000; item += 1) {
      queue.add(counted((item * 7919) % 10_007, item));
    }
    comparisons = 0;

    queue.add(counted(-1, 0));
    queue.removeFirst();

    expect(queue.first()?.order).toBe(0);
    expect(comparisons).toBeLessThan(300);
  });
});
