import { constants, gunzipSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createPage,
  createPageCache,
  gzipMember,
  type Page,
  type PageCache,
  packedPage,
} from '../../src/publish/page.ts';
import { settle } from '../support/fake-clock.ts';
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
        const page = await packedPage([identity]);

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

    await createPage([rendered, rendered], async () => {
      turns += 1;
    });

    expect(turns).toBe(rendered.families.length);
  });
});

describe('a page of small and large subjects', () => {
  const length = fc.oneof(
    fc.constantFrom(0, 1, 16 * 1024 - 1, 16 * 1024, 300_000),
    fc.nat(40_000),
    fc.nat(200),
  );
  const families = ['a', 'b', 'c'].map((name) => ({ name, help: name }));

  it('has the lines of each family in the order of the subjects, and is the same in gzip', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(length, length, length), { maxLength: 12 }),
        async (all) => {
          const linesOf = (index: number, family: number, size: number): string =>
            `${index}${family}\n`.repeat(size).slice(0, size);
          const subjects = all.map((sizes, index) => {
            const lines = sizes.map((size, family) => linesOf(index, family, size));
            const ends = lines.map((_, family) => lines.slice(0, family + 1).join('').length);
            const content = Buffer.from(lines.join(''));
            const counts = { series: 0, duplicates: 0, leftOut: 0 };
            return { identity: `${index}`, families, bytes: content, ends, ...counts };
          });

          const { identity, gzip } = await createPage(subjects, async () => undefined);

          const text = families
            .map(({ name }, family) => {
              const lines = all.map((sizes, index) => linesOf(index, family, sizes[family] ?? 0));
              const head = `# HELP ${name} ${name}\n# TYPE ${name} gauge\n`;
              return lines.join('') === '' ? '' : head + lines.join('');
            })
            .join('');
          expect(Buffer.concat(identity).toString()).toBe(text);
          expect(inflateRawSync(gzip.subarray(10), sync).toString()).toBe(text);
        },
      ),
      { numRuns: 50 },
    );
  });
});

/** What was flushed is not ended. */
const sync = { finishFlush: constants.Z_SYNC_FLUSH };

interface Build {
  finish(): void;
  fail(error: Error): void;
  readonly page: Page;
}

/** A cache whose builds end when the test ends them. */
function aCache(): { readonly cache: PageCache; readonly builds: Build[] } {
  const builds: Build[] = [];
  const cache = createPageCache(
    async () =>
      new Promise((resolve, reject) => {
        const identity = [Buffer.from(String(builds.length))];
        const page = { identity, gzip: Buffer.alloc(0), crc: 0 };
        builds.push({ page, finish: () => resolve(page), fail: reject });
      }),
  );
  return { cache, builds };
}

describe('createPageCache', () => {
  it('gives the new page to readers that ask after a change, and the old one to those before it', async () => {
    const { cache, builds } = aCache();
    const before = cache.page();
    cache.invalidate();
    const after = cache.page();

    builds[0]?.finish();
    await settle();
    builds[1]?.finish();

    expect(await before).toBe(builds[0]?.page);
    expect(await after).toBe(builds[1]?.page);
    // The page that the change has overtaken is not kept, the newest one is.
    expect(await cache.page()).toBe(builds[1]?.page);
    expect(builds).toHaveLength(2);
  });

  it('runs one build at a time, and one build for all changes in the meantime', async () => {
    const { cache, builds } = aCache();
    const first = cache.page();
    const later: Promise<Page>[] = [];
    for (let change = 0; change < 5; change += 1) {
      cache.invalidate();
      later.push(cache.page());
    }

    await settle();
    const whileFirstRuns = builds.length;
    builds[0]?.finish();
    await first;
    await settle();
    builds[1]?.finish();
    const pages = await Promise.all(later);

    expect(whileFirstRuns).toBe(1);
    expect(builds).toHaveLength(2);
    expect(new Set(pages)).toEqual(new Set([builds[1]?.page]));
  });

  it('rejects when a build fails, and builds again for the next reader and for those behind', async () => {
    const { cache, builds } = aCache();
    const first = cache.page();
    cache.invalidate();
    const second = cache.page();

    builds[0]?.fail(new Error('out of memory'));
    await expect(first).rejects.toThrow('out of memory');
    await settle();
    builds[1]?.fail(new Error('still'));
    await expect(second).rejects.toThrow('still');
    const third = cache.page();
    builds[2]?.finish();

    expect(await third).toBe(builds[2]?.page);
  });
});
