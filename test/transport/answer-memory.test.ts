import { describe, expect, it } from 'vitest';
import { createAnswerMemory, type Place, partOf } from '../../src/transport/answer-memory.ts';
import { settle } from '../support/fake-clock.ts';

const mebibyte = 1024 * 1024;

describe('createAnswerMemory', () => {
  it.each([
    { heap: 'a small heap', heapBytes: 40 * mebibyte, mebibytes: 3 },
    { heap: 'the heap of the chart', heapBytes: 96 * mebibyte, mebibytes: 3 },
    { heap: 'half a gibibyte', heapBytes: 512 * mebibyte, mebibytes: 16 },
    { heap: 'a huge heap', heapBytes: 16_384 * mebibyte, mebibytes: 64 },
  ])('takes large answers of $mebibytes MiB with $heap', ({ heapBytes, mebibytes }) => {
    const { maxBytes } = createAnswerMemory({ heapBytes });

    expect(maxBytes).toEqual({ small: 65_536, medium: mebibyte, large: mebibytes * mebibyte });
  });

  it('has places for three of the largest answers, and the others wait for them in turn', async () => {
    const memory = createAnswerMemory({ heapBytes: 0 });
    const taken: [string, Place][] = [];

    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      void memory.takePlace().then((place) => taken.push([name, place]));
    }
    await settle();
    const [first, second] = taken;
    second?.[1].leave();
    await settle();
    const afterOne = taken.map(([name]) => name);
    first?.[1].leave();
    await settle();

    expect(afterOne).toEqual(['a', 'b', 'c', 'd']);
    expect(taken.map(([name]) => name)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(taken.map(([, { bytes }]) => bytes.length)).toEqual(taken.map(() => 3 * mebibyte));
    // However many answers come, there are three buffers.
    expect(taken[3]?.[1].bytes).toBe(second?.[1].bytes);
    expect(new Set(taken.map(([, { bytes }]) => bytes)).size).toBe(3);
  });

  it('leaves a place to the others, however many answers of an account never end', async () => {
    const memory = createAnswerMemory({ heapBytes: 0 });
    const [hostile, other] = [partOf(memory), partOf(memory)];
    const taken: string[] = [];
    const take = async (name: string, of: typeof hostile): Promise<Place> => {
      const place = await of.takePlace();
      taken.push(name);
      return place;
    };
    const first = take('hostile', hostile);
    for (let answer = 0; answer < 5; answer += 1) void take('hostile', hostile);
    for (let answer = 0; answer < 3; answer += 1) {
      void take('other', other).then(({ leave }) => leave());
    }
    await settle();
    const before = [...taken];

    (await first).leave();
    await settle();

    expect(before).toEqual(['hostile', 'hostile', 'other', 'other', 'other']);
    expect(taken).toEqual([...before, 'hostile']);
  });
});
