import { describe, expect, it } from 'vitest';
import { createPageCache, type Page, type PageCache } from '../../src/exposition/page.ts';
import { settle } from '../support/fake-clock.ts';

interface Build {
  finish(): void;
  fail(error: Error): void;
  readonly page: Page;
}

/** A cache whose builds end when the test says so. */
function aCache(): { readonly cache: PageCache; readonly builds: Build[] } {
  const builds: Build[] = [];
  const cache = createPageCache(
    async () =>
      new Promise((resolve, reject) => {
        const page = { identity: Buffer.from(String(builds.length)), gzip: Buffer.alloc(0) };
        builds.push({ page, finish: () => resolve(page), fail: reject });
      }),
  );
  return { cache, builds };
}

describe('createPageCache', () => {
  it('builds once for all who ask before and after the build ended', async () => {
    const { cache, builds } = aCache();
    const early = [cache.page(), cache.page()];

    builds[0]?.finish();
    const pages = await Promise.all([...early, cache.page()]);

    expect(builds).toHaveLength(1);
    expect(new Set(pages)).toEqual(new Set([builds[0]?.page]));
  });

  it('builds nothing for changes that nobody asks for', async () => {
    const { cache, builds } = aCache();

    cache.invalidate();
    cache.invalidate();
    await settle();

    expect(builds).toHaveLength(0);
  });

  it('gives who asks after a change the new page, and who asked before it the old one', async () => {
    const { cache, builds } = aCache();
    const before = cache.page();
    cache.invalidate();
    const after = cache.page();

    builds[0]?.finish();
    await settle();
    builds[1]?.finish();

    expect(await before).toBe(builds[0]?.page);
    expect(await after).toBe(builds[1]?.page);
  });

  it('runs one build at a time and one for all changes meanwhile', async () => {
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

  it('does not keep a page that a change has overtaken', async () => {
    const { cache, builds } = aCache();
    const first = cache.page();
    cache.invalidate();
    builds[0]?.finish();
    await first;

    const second = cache.page();
    builds[1]?.finish();

    expect(await second).toBe(builds[1]?.page);
  });

  it('tells of a build that failed, and builds again for the next who asks', async () => {
    const { cache, builds } = aCache();
    const first = cache.page();
    builds[0]?.fail(new Error('out of memory'));

    await expect(first).rejects.toThrow('out of memory');
    const second = cache.page();
    builds[1]?.finish();

    expect(await second).toBe(builds[1]?.page);
  });

  it('tells all who wait for one build that it failed, and builds once for them', async () => {
    const { cache, builds } = aCache();
    const both = Promise.allSettled([cache.page(), cache.page()]);

    builds[0]?.fail(new Error('out of memory'));
    const outcomes = await both;

    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(builds).toHaveLength(1);
  });

  it('builds for those who wait behind a build that fails', async () => {
    const { cache, builds } = aCache();
    const first = cache.page();
    cache.invalidate();
    const second = cache.page();

    builds[0]?.fail(new Error('out of memory'));
    await expect(first).rejects.toThrow('out of memory');
    await settle();
    builds[1]?.finish();

    expect(await second).toBe(builds[1]?.page);
  });
});
