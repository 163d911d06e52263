import { gunzipSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checksum,
  deflate,
  deflateNow,
  gzipMember,
  type Packed,
} from '../../src/exposition/gzip.ts';

async function noTurn(): Promise<void> {}

function packed(identity: Buffer): Packed {
  return { identity, deflated: deflateNow(identity) };
}

const bytes = fc
  .oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.string({ unit: fc.constantFrom('up 1\n', 'a'), maxLength: 900 }),
  )
  .map((content) => Buffer.from(content));

describe('gzipMember', () => {
  it('is one member that unpacks to all pieces, one after the other', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, fc.array(bytes, { maxLength: 4 }), async (first, rest) => {
        const summed = { ...packed(first), crc: await checksum(first, noTurn) };

        const member = Buffer.concat(gzipMember(summed, rest.map(packed)));

        const all = Buffer.concat([first, ...rest]);
        // Checks the checksum and the length.
        expect(gunzipSync(member).equals(all)).toBe(true);
        // Reads the first member only, as curl does: 10 bytes of header, 8 after the blocks.
        expect(inflateRawSync(member.subarray(10, -8)).equals(all)).toBe(true);
      }),
    );
  });
});

describe('deflate', () => {
  it('gives the same bytes on another thread', async () => {
    const text = Buffer.from('newrelic_up{account="production"} 1\n'.repeat(10_000));

    expect((await deflate(text)).equals(deflateNow(text))).toBe(true);
  });
});

describe('checksum', () => {
  it('lets other work run after each two megabytes', async () => {
    const large = Buffer.alloc(5 * 1024 * 1024, 'newrelic');
    let turns = 0;

    const crc = await checksum(large, async () => {
      turns += 1;
    });

    expect(turns).toBe(2);
    const member = gzipMember({ ...packed(large), crc }, []);
    expect(gunzipSync(Buffer.concat(member))).toHaveLength(large.length);
  });
});
