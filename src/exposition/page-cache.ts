import type { Page } from './page.ts';

/** Keeps the page of the newest state, and builds it at most once for each change. */
export interface PageCache {
  /** The state has changed: pages that are asked for from now on show it. */
  invalidate(): void;
  /** The page of the state at the time of the call, or of a newer one. Rejects as `build` does. */
  page(): Promise<Page>;
}

/**
 * Shares each page among all its readers. One build runs at a time. Everyone who asks for a newer
 * state meanwhile waits for it to end and shares the next build: a flood of scrapes costs no more.
 */
export function createPageCache(build: () => Promise<Page>): PageCache {
  let version = 0;
  let newest: Page | undefined;
  let running: { readonly version: number; readonly page: Promise<Page> } | undefined;

  const buildVersion = async (built: number): Promise<Page> => {
    const page = await build();
    if (built === version) newest = page;
    return page;
  };

  const start = (): Promise<Page> => {
    const page = buildVersion(version).finally(() => {
      running = undefined;
    });
    running = { version, page };
    return page;
  };

  const page = async (): Promise<Page> => {
    if (newest !== undefined) return newest;
    if (running === undefined) return start();
    if (running.version === version) return running.page;
    return running.page.then(page, page);
  };

  return {
    invalidate: () => {
      version += 1;
      // Nobody will ask for it again, and it may be large.
      newest = undefined;
    },
    page,
  };
}
