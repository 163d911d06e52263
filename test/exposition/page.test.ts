import { crc32, gunzipSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPage, gzipMember, packedPage } from '../../src/exposition/page.ts';
import { aReading, aSnapshot, renderedOf } from './builders.ts';

const bytes = fc
  .oneof(
    fc.uint8Array({ minLength: 1, maxLength: 300 }),
    fc.string({ unit: fc.constantFrom('up 1\n', 'a'), minLength: 1, maxLength: 900 }),
  )
  .map((content) => Buffer.from(content));
const emptyOr = fc.oneof(bytes, fc.constant(Buffer.alloc(0)));

describe('gzipMember', () => {
  it('is one member that unpacks to the page and what follows it, again and again', async () => {
    await fc.assert(
      fc.asyncProperty(emptyOr, fc.array(bytes, { maxLength: 3 }), async (identity, rests) => {
        const page = await packedPage(identity, crc32(identity));

        for (const rest of rests) {
          const member = Buffer.concat(await gzipMember(page, rest));

          const all = Buffer.concat([identity, rest]);
          // Checks the checksum and the length.
          expect(gunzipSync(member).equals(all)).toBe(true);
          // Reads the first member only, as curl does: 10 bytes of header, 8 after the blocks.
          expect(inflateRawSync(member.subarray(10, -8)).equals(all)).toBe(true);
        }
      }),
    );
  });
});

describe('createPage', () => {
  it('lets other work run after each family', async () => {
    const rendered = renderedOf(aSnapshot({ reading: aReading({ application: [1] }) }));
    let turns = 0;

    await createPage('', [rendered, rendered], {
      nextTurn: async () => {
        turns += 1;
      },
    });

    expect(turns).toBe(rendered.families.length);
  });
});
