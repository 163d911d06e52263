import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PriorityQueue } from '../../src/model/priority-queue.ts';

describe('PriorityQueue', () => {
  it('gives items of the same priority in the order that they were given', () => {
    const queue = new PriorityQueue<string>();
    queue.add('b', 7, 2);
    queue.add('a', 7, 1);
    queue.delete('a');
    queue.add('a', 7, 1);

    expect(queue.first()).toBe('a');
  });

  it('always has the same first item as a sorted list, whatever is added, moved and deleted', () => {
    const command = fc.record({
      item: fc.nat(12),
      priority: fc.option(fc.nat(9), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(command, { maxLength: 200 }), (commands) => {
        const queue = new PriorityQueue<number>();
        let model: { item: number; priority: number; sequence: number }[] = [];
        for (const [sequence, { item, priority }] of commands.entries()) {
          const known = model.find((entry) => entry.item === item);
          queue.delete(item);
          model = model.filter((entry) => entry !== known);
          if (priority !== undefined) {
            queue.add(item, priority, sequence);
            model.push({ item, priority, sequence });
          }
          const [first] = model.toSorted(
            (left, right) => left.priority - right.priority || left.sequence - right.sequence,
          );
          expect(queue.first()).toBe(first?.item);
        }
      }),
    );
  });

  it('moves, adds and deletes one of 10,000 with a few comparisons', () => {
    let comparisons = 0;
    const counted = (value: number): number => {
      const priority = { valueOf: () => ((comparisons += 1), value) };
      return priority as unknown as number;
    };
    const queue = new PriorityQueue<number>();
    for (let item = 0; item < 10_000; item += 1) {
      queue.add(item, counted((item * 7919) % 10_007), item);
    }
    comparisons = 0;

    queue.delete(5);
    queue.add(5, counted(-1), 5);
    queue.add(10_000, counted(-2), 0);
    queue.delete(10_000);

    expect(queue.first()).toBe(5);
    expect(comparisons).toBeLessThan(300);
  });
});
