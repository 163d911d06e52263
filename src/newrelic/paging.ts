import { ApiError } from '../model/api-error.ts';
import type { ApiResponse } from '../transport/transport.ts';
import { type CallSubject, failureOf } from './failure-of-answer.ts';
import { type EndDoubt, endDoubtOf, nextPageOf } from './link-header.ts';

/** So many pages in a row without anything new, and there will not be anything new. */
const maxIdlePages = 2;

/** Ten times the ids of 10,000 hosts with an instance each and 10,000 applications: no list is longer. */
const maxWeight = 300_000;

/** One page: what stands on it, and its `Link` header. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Why something is missing from `items` of which nobody can tell what it is. */
  readonly error: ApiError | undefined;
  readonly link: ApiResponse['headers'][string];
}

export interface PagingOptions<Item> {
  /** What makes an item the same one on another page. */
  readonly keyOf: (item: Item) => string;
  /** What the list is, for the error of one that does not end. */
  readonly subject: CallSubject;
  /** Pages of one list at most. The longest list reported by anybody had 109. */
  readonly maxPages: number;
  /** How much of the memory an item takes, in ids. */
  readonly weightOf: (item: Item) => number;
  /** Told once of each page that came but is not what it should be. */
  readonly onBadPage: (error: ApiError) => void;
}

/** What was read; with an `error` it is not all, but what stands there is good. */
export interface PagedList<Item> {
  readonly items: readonly Item[];
  readonly error: ApiError | undefined;
  /** Pages asked for, one that failed included. */
  readonly calls: number;
}

/**
 * Reads a list page by page, for as long as the `Link` header of a page names a later one. One page
 * that brings nothing new is not the end, two in a row are a list that does not end. No page is asked
 * for twice, whatever the headers say. A page with parts missing does not keep from the next one.
 * A page whose next page has no number that we can ask for may not be the last, and neither may one
 * with items whose next page is itself or an earlier one: something on the way, such as a cache that
 * does not look at the query, has given us another page than we asked for.
 * Rejects only with what is no `ApiError`: the reason of an abort.
 */
export async function readPages<Item>(
  fetchPage: (page: number) => Promise<Page<Item>>,
  options: PagingOptions<Item>,
): Promise<PagedList<Item>> {
  const items: Item[] = [];
  const seen = new Set<string>();
  let page: number | undefined = 1;
  let calls = 0;
  let idle = 0;
  let weight = 0;
  let partial: ApiError | undefined;
  try {
    while (page !== undefined) {
      calls += 1;
      const found: Page<Item> = await fetchPage(page);
      const before = seen.size;
      for (const item of found.items) {
        items.push(item);
        weight += options.weightOf(item);
        seen.add(options.keyOf(item));
      }
      idle = seen.size > before ? 0 : idle + 1;
      const next = nextPageOf(found.link, page);
      const limits = [calls >= options.maxPages, idle >= maxIdlePages, weight >= maxWeight];
      const isEndless = next !== undefined && limits.includes(true);
      const error = isEndless
        ? endlessList(options.subject, calls)
        : problemOf(found, { page, next }, options.subject);
      page = next;
      if (error !== undefined) options.onBadPage(error);
      if (isEndless) return { items, error, calls };
      partial ??= error;
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { items, error, calls };
  }
  return { items, error: partial, calls };
}

function problemOf(
  { items, error, link }: Page<unknown>,
  { page, next }: { readonly page: number; readonly next: number | undefined },
  subject: CallSubject,
): ApiError | undefined {
  if (error !== undefined || next !== undefined) return error;
  const doubt = endDoubtOf(link, page);
  if (doubt === undefined || (doubt === 'leads_back' && items.length === 0)) return undefined;
  const detail = `nobody knows whether the list was read to its end: page ${page} ${doubtTexts[doubt]}`;
  return failureOf(subject, 'schema', detail);
}

const doubtTexts: Readonly<Record<EndDoubt, string>> = {
  leads_back: 'names itself or an earlier page as the next one',
  no_page_number: 'names a next one without a page number',
};

function endlessList(subject: CallSubject, calls: number): ApiError {
  const detail = `the list does not end, or is longer than any real one: it was not read further after ${calls} pages`;
  return failureOf(subject, 'schema', detail);
}
