import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerLimits, readAnswer } from '../../../src/newrelic/calls/answer-body.ts';
import type { AnswerSize, ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import { neverAborted } from './fakes.ts';

const mebibyte = 1024 * 1024;
const blockBytes = 64 * 1024;
const maxBytes = answerLimits(0);

async function read(
  chunks: Iterable<Buffer>,
  { statusCode = 200, size = 'large' }: { statusCode?: number; size?: AnswerSize } = {},
): Promise<ApiResponse> {
  const body = Readable.from(chunks);
  return readAnswer(
    { statusCode, headers: { 'x-a': 'b' }, body },
    { maxBytes: maxBytes[size], peer: 'api', signal: neverAborted },
  );
}

function* inBlocks(text: string): Generator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += blockBytes) yield bytes.subarray(at, at + blockBytes);
}

describe('answerLimits', () => {
  it.each([
    { heap: 'a small heap', heapBytes: 40 * mebibyte, mebibytes: 3 },
    { heap: 'half a gibibyte', heapBytes: 512 * mebibyte, mebibytes: 16 },
    { heap: 'a huge heap', heapBytes: 16_384 * mebibyte, mebibytes: 64 },
  ])('takes large answers of $mebibytes MiB with $heap', ({ heapBytes, mebibytes }) => {
    const large = mebibytes * mebibyte;

    expect(answerLimits(heapBytes)).toEqual({ small: blockBytes, medium: mebibyte, large });
  });
});

describe('readAnswer', () => {
  it.each([
    { what: 'an empty body', chunks: [], text: '' },
    { what: 'a character cut in two', chunks: [[0xc3], [0xbc]], text: 'ü' },
    { what: 'a byte order mark', chunks: [[0xef, 0xbb], [0xbf, 0x7b], [0x7d]], text: '{}' },
    { what: 'half a character', chunks: [[0x61, 0xc3]], text: 'a\uFFFD' },
  ])('gives $what as text', async ({ chunks, text }) => {
    const answer = await read(chunks.map((bytes) => Buffer.from(bytes)));

    expect(answer).toEqual({ status: 200, headers: { 'x-a': 'b' }, body: text });
  });

  it('is the text of a large answer however it is cut', async () => {
    // Of more bytes than characters.
    const text = 'a document of somé kilobytes, '.repeat(30_000);
    const bytes = Buffer.from(text);
    const cut = fc.array(fc.nat({ max: bytes.length }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(cut, async (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const chunks = at.map((from, index) => bytes.subarray(from, at[index + 1]));

        expect((await read(chunks)).body === text).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    ['12345678', 340_000, true],
    ['1', 600_000, false],
    ['1', 500_000, true],
    ['{}', 80_000, false],
    ['[]', 80_000, false],
    ['{"a":1}', 70_000, true],
  ])('takes a large document by what it becomes when parsed: %s, %d times: %s', async (...row) => {
    const [element, count, isTaken] = row;
    const text = `[${`${element},`.repeat(count)}0]`;
    const seen = await read(inBlocks(text)).then(
      ({ body }) => body === text,
      ({ reason }: { reason: string }) => reason,
    );

    expect(seen).toBe(isTaken || 'too_large');
  });

  it('takes a small document whatever it becomes', async () => {
    const answer = await read([Buffer.from('{'.repeat(blockBytes))], { size: 'small' });
    expect(answer.body).toHaveLength(blockBytes);
  });

  it('reads no further than it must to refuse an answer', async () => {
    let given = 0;
    function* endless(): Generator<Buffer, never> {
      for (;;) {
        given += 1;
        yield Buffer.alloc(blockBytes, ' ');
      }
    }

    await expect(read(endless())).rejects.toMatchObject({ reason: 'too_large' });
    const failure = await read(endless(), { statusCode: 500 });

    expect(failure.body).toHaveLength(blockBytes);
    // A stream asks for some chunks ahead.
    expect(given).toBeLessThan(2 * (maxBytes.large / blockBytes));
  });
});
