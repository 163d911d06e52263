import { describe, expect, it } from 'vitest';
import { assemblePage } from '../../src/exposition/page.ts';
import type { AppChunk } from '../../src/exposition/rendered-application.ts';
import { aChunkOf, anApplication, aReading, aSnapshot } from './builders.ts';

function aChunk(id: string, requestsPerMinute: number): AppChunk {
  return aChunkOf(
    aSnapshot({
      application: anApplication({ id, name: `app-${id}` }),
      reading: aReading({ application: new Map([['web', requestsPerMinute]]) }),
    }),
  );
}

function turnCounter(): { readonly nextTurn: () => Promise<void>; readonly turns: () => number } {
  let turns = 0;
  return {
    turns: () => turns,
    nextTurn: async () => {
      turns += 1;
    },
  };
}

describe('assemblePage', () => {
  it('gives other work no turn for the sake of a small page', async () => {
    const { nextTurn, turns } = turnCounter();

    await assemblePage([], [aChunk('1', 1), aChunk('2', 2)], nextTurn);

    expect(turns()).toBe(0);
  });

  it('gives other work its turn after every two megabytes', async () => {
    const { nextTurn, turns } = turnCounter();
    const bytes = Buffer.alloc(1024 * 1024);
    const large = { ...aChunk('1', 1), bytes, ranges: [0, bytes.length] };

    await assemblePage([], [large, large, large, large, large], nextTurn);

    expect(turns()).toBe(2);
  });

  it('gives the same chunks again, as ranges of the page', async () => {
    const { nextTurn } = turnCounter();
    const chunks = [aChunk('1', 1), aChunk('2', 2)];

    const first = await assemblePage([], chunks, nextTurn);
    const second = await assemblePage([], first.chunks, nextTurn);

    expect(first.chunks.every(({ bytes }) => bytes === first.identity)).toBe(true);
    expect(first.chunks.map(({ identity }) => identity)).toEqual(
      chunks.map(({ identity }) => identity),
    );
    expect(second.identity.toString()).toBe(first.identity.toString());
  });
});
