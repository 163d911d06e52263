import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerBody } from '../../src/transport/answer-memory.ts';

const mebibyte = 1024 * 1024;

function bodyOf(...chunks: readonly string[]): AnswerBody {
  const body = new AnswerBody(mebibyte);
  for (const chunk of chunks) body.append(Buffer.from(chunk));
  return body;
}

describe('AnswerBody', () => {
  it('is the text of its bytes however they are cut', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 200 }),
        fc.array(fc.nat({ max: 400 }), { maxLength: 20 }),
        (text, cuts) => {
          const bytes = Buffer.from(text);
          const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
          const body = new AnswerBody(bytes.length);
          for (const [index, from] of at.entries())
            body.append(bytes.subarray(from, at[index + 1]));

          expect(body.sizeBytes).toBe(bytes.length);
          expect(body.text()).toBe(text.replace(/^\uFEFF/u, ''));
        },
      ),
    );
  });

  it('is the text of a large answer however it is cut', () => {
    // Not a power of two, and of more bytes than characters.
    const text = 'a document of somé kilobytes, '.repeat(3000);
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 20 }), (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const body = new AnswerBody(bytes.length);
        for (const [index, from] of at.entries()) body.append(bytes.subarray(from, at[index + 1]));

        expect(body.sizeBytes).toBe(bytes.length);
        expect(body.text() === text).toBe(true);
        expect(body.parsedBytes()).toBe(3000 * 24);
      }),
    );
  });

  it('gives the memory of a large answer back at once, and is empty then', () => {
    const chunk = Buffer.alloc(64 * 1024, ' ');
    const beforeBytes = process.memoryUsage.rss();
    const bodies = Array.from({ length: 100 }, () => {
      const body = new AnswerBody(3 * mebibyte);
      while (body.sizeBytes < 3 * mebibyte) body.append(chunk);
      body.release();
      return body;
    });
    const grownBytes = process.memoryUsage.rss() - beforeBytes;

    // All of them are still referenced here: no collection frees what they hold.
    expect(bodies.map((body) => body.text())).toEqual(bodies.map(() => ''));
    expect(bodies.every(({ sizeBytes }) => sizeBytes === 0)).toBe(true);
    expect(grownBytes).toBeLessThan(50 * mebibyte);
  });

  it('changes none of the chunks that it was given', () => {
    const slab = Buffer.from('abcdef');
    const body = new AnswerBody(6);

    body.append(slab.subarray(0, 2));
    body.append(slab.subarray(4));
    body.append(slab.subarray(4));

    expect(body.text()).toBe('abefef');
    expect(slab.toString()).toBe('abcdef');
  });

  it('takes about as much memory as it has bytes when they come one by one', () => {
    const byte = Buffer.from('x');
    const body = new AnswerBody(1_000_000);
    const beforeBytes = process.memoryUsage().heapUsed;
    for (let count = 0; count < 1_000_000; count += 1) body.append(byte);
    const grownBytes = process.memoryUsage().heapUsed - beforeBytes;

    expect(body.sizeBytes).toBe(1_000_000);
    // A buffer for each would be 100 MB.
    expect(grownBytes).toBeLessThan(40_000_000);
  });

  it.each([
    { json: '', parsedBytes: 0 },
    { json: '12345', parsedBytes: 0 },
    { json: '[1,2,3]', parsedBytes: 96 + 2 * 24 },
    { json: '{"a":1,"b":2}', parsedBytes: 3 * 96 + 24 },
    { json: '[[],{}]', parsedBytes: 3 * 96 + 24 },
  ])('says what $json takes when it is parsed', ({ json, parsedBytes }) => {
    expect(bodyOf(json).parsedBytes()).toBe(parsedBytes);
  });

  it('counts nothing behind its end', () => {
    const body = bodyOf('[', '1', ',', ',');
    // Grown by doubling: there is room behind the end.
    expect(body.parsedBytes()).toBe(96 + 2 * 24);
  });
});
