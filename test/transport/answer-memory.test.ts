import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { operations } from '../../src/model/telemetry.ts';
import { type AnswerHolder, createAnswerMemory } from '../../src/transport/answer-memory.ts';

const mebibyte = 1024 * 1024;

/** Holders that note in which order they gave up. */
function holders(): { readonly gaveUp: string[]; readonly called: (name: string) => AnswerHolder } {
  const gaveUp: string[] = [];
  return { gaveUp, called: (name) => ({ giveUp: () => void gaveUp.push(name) }) };
}

describe('createAnswerMemory', () => {
  it.each([
    { heap: 'a small', heapBytes: 40 * mebibyte, mebibytes: 3 },
    { heap: 'the heap of the chart', heapBytes: 96 * mebibyte, mebibytes: 3 },
    { heap: 'half a gibibyte', heapBytes: 512 * mebibyte, mebibytes: 16 },
    { heap: 'a huge one', heapBytes: 16_384 * mebibyte, mebibytes: 64 },
  ])('takes pages of applications of $mebibytes MiB with $heap', ({ heapBytes, mebibytes }) => {
    const memory = createAnswerMemory({ heapBytes });

    expect(operations.map((operation) => memory.maxBytesOf(operation))).toEqual([
      mebibytes * mebibyte,
      mebibyte,
      65_536,
      65_536,
    ]);
  });

  it('takes three of the largest pages at a time, to the byte', () => {
    const memory = createAnswerMemory({ heapBytes: 0 });
    const { gaveUp, called } = holders();

    for (const name of ['a', 'b', 'c']) memory.hold(called(name), 3 * mebibyte);
    const before = [...gaveUp];
    memory.hold(called('d'), 1);

    expect(before).toEqual([]);
    expect(gaveUp).toEqual(['a']);
  });

  it('lets the largest give up, not the one that is too many', () => {
    const memory = createAnswerMemory({ heapBytes: 0 });
    const { gaveUp, called } = holders();

    memory.hold(called('small'), 100);
    memory.hold(called('large'), 5 * mebibyte);
    memory.hold(called('medium'), 4 * mebibyte);

    expect(gaveUp).toEqual(['large']);
  });

  it('counts what an answer takes by now, and nothing of one that has been released', () => {
    const memory = createAnswerMemory({ heapBytes: 0 });
    const { gaveUp, called } = holders();
    const [first, second] = [called('first'), called('second')];

    memory.hold(first, mebibyte);
    memory.hold(first, 8 * mebibyte);
    memory.hold(second, mebibyte);
    memory.release(first);
    memory.release(first);
    memory.hold(second, 8 * mebibyte);
    const before = [...gaveUp];
    memory.hold(first, 2 * mebibyte);

    expect(before).toEqual([]);
    expect(gaveUp).toEqual(['second']);
  });

  it('never holds more than that, whatever comes and goes', () => {
    const step = fc.record({
      who: fc.nat({ max: 20 }),
      bytes: fc.nat({ max: 3 * mebibyte }),
      ends: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const memory = createAnswerMemory({ heapBytes: 0 });
        const sizes = new Map<number, number>();
        const all = Array.from({ length: 21 }, (_, who) => ({
          giveUp: () => void sizes.delete(who),
        }));
        for (const { who, bytes, ends } of steps) {
          const holder = all[who];
          if (holder === undefined) throw new Error('no such holder');
          if (ends) {
            sizes.delete(who);
            memory.release(holder);
          } else {
            // As in life: an answer only grows, and never above the largest page.
            const size = Math.max(bytes, sizes.get(who) ?? 0);
            sizes.set(who, size);
            memory.hold(holder, size);
          }
          const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
          expect(total).toBeLessThanOrEqual(9 * mebibyte);
        }
      }),
    );
  });
});
