import { describe, expect, it } from 'vitest';
import { readBodyStart } from '../../src/transport/read-body-start.ts';
import { neverAborted } from './fakes.ts';

interface Body {
  readonly chunks: AsyncIterable<Buffer>;
  /** Chunks taken from it. */
  taken(): number;
}

function aBody(...steps: readonly (string | (() => never))[]): Body {
  let taken = 0;
  async function* chunks(): AsyncGenerator<Buffer> {
    for (const step of steps) {
      taken += 1;
      yield Buffer.from(typeof step === 'string' ? step : step());
    }
  }
  return { chunks: chunks(), taken: () => taken };
}

function breaks(): never {
  throw new Error('the connection broke');
}

describe('readBodyStart', () => {
  it.each([
    { maxBytes: 0, text: '', taken: 1 },
    { maxBytes: 3, text: 'abc', taken: 1 },
    { maxBytes: 4, text: 'abcd', taken: 2 },
    { maxBytes: 100, text: 'abcdefghi', taken: 3 },
  ])('reads "$text" of a body when $maxBytes bytes are enough', async (row) => {
    const body = aBody('abc', 'def', 'ghi');

    const text = await readBodyStart(body.chunks, row.maxBytes, neverAborted);

    expect(text).toBe(row.text);
    expect(body.taken()).toBe(row.taken);
  });

  it('ends where the connection breaks', async () => {
    const text = await readBodyStart(aBody('abc', breaks).chunks, 100, neverAborted);

    expect(text).toBe('abc');
  });

  it("rejects with the signal's reason when that broke the connection", async () => {
    const reason = new Error('shutting down');

    const reading = readBodyStart(aBody('abc', breaks).chunks, 100, AbortSignal.abort(reason));

    await expect(reading).rejects.toBe(reason);
  });
});
