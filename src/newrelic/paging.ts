import { ApiError } from '../model/api-error.ts';
import type { ApiResponse } from '../transport/transport.ts';
import { type CallSubject, failureOf } from './failure-of-answer.ts';
import { nextPageOf } from './link-header.ts';

/** One page: what stands on it, and its `Link` header. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly link: ApiResponse['headers'][string];
}

export interface PagingOptions {
  /** What the list is, for the error of one that does not end. */
  readonly subject: CallSubject;
  /** Pages of one list at most. The longest list reported by anybody had 109. */
  readonly maxPages: number;
}

/** What was read; with an `error` it is not all, but what stands there is good. */
export interface PagedList<Item> {
  readonly items: readonly Item[];
  readonly error: ApiError | undefined;
  /** Pages asked for, one that failed included. */
  readonly calls: number;
}

/**
 * Reads a list page by page, for as long as the `Link` header of a page names a later one. An empty
 * page that names a next one is not the end. No page is asked for twice, whatever the headers say.
 * Rejects only with what is no `ApiError`: the reason of an abort.
 */
export async function readPages<Item>(
  fetchPage: (page: number) => Promise<Page<Item>>,
  options: PagingOptions,
): Promise<PagedList<Item>> {
  const items: Item[] = [];
  let page: number | undefined = 1;
  let calls = 0;
  try {
    while (calls < options.maxPages) {
      calls += 1;
      const { items: found, link }: Page<Item> = await fetchPage(page);
      for (const item of found) items.push(item);
      page = nextPageOf(link, page);
      if (page === undefined) return { items, error: undefined, calls };
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { items, error, calls };
  }
  const detail = `the list does not end after ${options.maxPages} pages and was not read further`;
  return { items, error: failureOf(options.subject, 'schema', detail), calls };
}
