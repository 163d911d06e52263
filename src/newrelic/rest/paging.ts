import { ApiError } from '../../model/api-error.ts';
import type { ApiResponse } from '../calls/transport.ts';
import { notWhole, type RestPurpose } from '../failures.ts';

/** After this many pages in a row without anything new, nothing new will come. */
const maxIdlePages = 2;

/** Ten times the ids of 10,000 hosts with an instance each and 10,000 applications: no list is longer. */
const maxWeight = 300_000;

export interface PageContent<Item> {
  readonly items: readonly Item[];
  /** Set if something is missing from `items` and nobody can tell what it is. */
  readonly error: ApiError | undefined;
}

/** One page: its content and its `Link` header. */
export interface ListPage<Item> extends PageContent<Item> {
  readonly link: ApiResponse['headers'][string];
}

export interface PagingOptions<Item> {
  /** Identifies an item: the same on another page has the same key. */
  readonly keyOf: (item: Item) => string;
  /** What the list is, for the error if it does not end. */
  readonly purpose: RestPurpose;
  /** Pages of one list at most. The longest list that anybody has reported had 109. */
  readonly maxPages: number;
  /** How much memory an item takes, counted in ids. */
  readonly weightOf: (item: Item) => number;
  /** Called once for each page that arrived but is not as it should be. */
  readonly onBadPage: (error: ApiError) => void;
}

/** What was read. With an `error` it is not everything, but the items in it are good. */
export interface PagedList<Item> {
  readonly items: readonly Item[];
  readonly error: ApiError | undefined;
  /** Pages asked for, including one that failed. */
  readonly calls: number;
}

/**
 * Reads a list page by page, as long as the `Link` header of a page names a later one; no page is asked for
 * twice, whatever the headers say. One page without anything new is not the end; two in a row mean that the
 * list does not end. After a page with parts missing the next one is read all the same. Rejects only with
 * errors that are not an `ApiError`, such as the reason of an abort.
 */
export async function readPages<Item>(
  fetchPage: (page: number) => Promise<ListPage<Item>>,
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
      const found: ListPage<Item> = await fetchPage(page);
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
      const endless = `the list does not end, or is longer than any real one: it was not read further after ${calls} pages`;
      const error = isEndless
        ? notWhole(options.purpose, endless)
        : problemOf(found, { page, next }, options.purpose);
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

/**
 * Why the list may be incomplete. If a page with items names itself or an earlier one as the next, a cache that
 * ignores the query may have sent another page than the one that was asked for.
 */
function problemOf(
  { items, error, link }: ListPage<unknown>,
  { page, next }: { readonly page: number; readonly next: number | undefined },
  purpose: RestPurpose,
): ApiError | undefined {
  if (error !== undefined || next !== undefined) return error;
  const doubt = endDoubtOf(link, page);
  if (doubt === undefined || (doubt === 'leads_back' && items.length === 0)) return undefined;
  const detail = `the list may not have been read to its end: page ${page} ${doubtTexts[doubt]}`;
  return notWhole(purpose, detail);
}

const doubtTexts = {
  leads_back: 'names itself or an earlier page as the next one',
  no_page_number: 'names a next one without a page number',
  unreadable: 'has a Link header without any of the links next, last, prev and first',
} as const;

type LinkHeader = string | readonly string[] | undefined;

// Each link: <target> and its parameters. A comma or `<` inside a quoted value does not separate
// links. A quote that is never closed reaches to the end, so that the expression stays linear.
const link = /<([^<>]*)>((?:[^,<"]|"(?:[^"\\]|\\.)*"?)*)/gs;
const parameter = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;,"]*))/gs;

/** A link of the header. */
interface PageLink {
  readonly relations: readonly string[];
  /** Its page number, if it has a readable one. */
  readonly page: number | undefined;
  /** With a blank cursor the vendor ends a list that it pages by cursors. */
  readonly isEnd: boolean;
}

/**
 * The number of the page that the `Link` header (RFC 8288) calls "next", if it comes after `currentPage`.
 * Nothing else of the link is used: the key must go to no other host. Written here, because the parser at
 * hand discards the whole header if one link in it is malformed.
 */
export function nextPageOf(header: LinkHeader, currentPage: number): number | undefined {
  return pagesOf(linksOf(header), 'next').find((page) => page > currentPage);
}

/** Why it is not clear whether a page is the last one. */
export type EndDoubt = keyof typeof doubtTexts;

/**
 * Why the header leaves open whether the list goes on. It has ended if no next page is named, or only ones
 * with a blank `cursor`, or if the last page is an earlier one (for an empty list the vendor writes that
 * `next` is page 1 and `last` is page 0).
 */
export function endDoubtOf(header: LinkHeader, currentPage: number): EndDoubt | undefined {
  const links = linksOf(header);
  const isReadable = links.some((one) => one.relations.some((name) => pagingRelations.has(name)));
  if (!isReadable && pagingText(header).trim() !== '') return 'unreadable';
  const next = links.filter(({ relations, isEnd }) => relations.includes('next') && !isEnd);
  if (next.some(({ page }) => page === undefined)) return 'no_page_number';
  const isBeyondLast = pagesOf(links, 'last').some((page) => page < currentPage);
  return next.length > 0 && !isBeyondLast ? 'leads_back' : undefined;
}

const pagingRelations: ReadonlySet<string> = new Set(['next', 'last', 'prev', 'first']);

function pagesOf(links: readonly PageLink[], relation: string): readonly number[] {
  return links.flatMap(({ relations, page }) => (relations.includes(relation) ? (page ?? []) : []));
}

function pagingText(header: LinkHeader): string {
  return typeof header === 'string' ? header : (header ?? []).join(', ');
}

function linksOf(header: LinkHeader): readonly PageLink[] {
  return Array.from(pagingText(header).matchAll(link), ([, target = '', parameters = '']) => {
    const [beforeFragment = ''] = target.split('#', 1);
    const query = new URLSearchParams(beforeFragment.slice(beforeFragment.indexOf('?') + 1));
    const text = query.get('page') ?? '';
    const page = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return {
      relations: relationsOf(parameters),
      page: Number.isSafeInteger(page) ? page : undefined,
      isEnd: query.get('cursor') === '' && !query.has('page'),
    };
  });
}

/** The relation types of one link; if it has several `rel` parameters, the first one counts. */
function relationsOf(parameters: string): readonly string[] {
  for (const [, name = '', quoted, token = ''] of parameters.matchAll(parameter)) {
    if (name.toLowerCase() === 'rel') return (quoted ?? token).toLowerCase().split(/\s+/);
  }
  return [];
}
