type LinkHeader = string | readonly string[] | undefined;

// Each link: <target> and its parameters. A comma or `<` inside a quoted value separates nothing; a
// quote that is never closed reaches to the end, so that the expression stays linear.
const link = /<([^<>]*)>((?:[^,<"]|"(?:[^"\\]|\\.)*"?)*)/gs;
const parameter = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;,"]*))/gs;

/**
 * The number of the page that the `Link` header (RFC 8288) calls "next", if it is a page after
 * `currentPage`; `undefined` ends the list. Nothing else of the link is ever used: its host is not
 * the one that was asked when a proxy or another base URL is configured, and the key belongs to
 * that one alone.
 *
 * Ours, because the parser at hand throws away the whole header, valid links included, when one
 * link of it is malformed.
 */
export function nextPageOf(header: LinkHeader, currentPage: number): number | undefined {
  return pagesOf(header, 'next').find((page) => page > currentPage);
}

/** Why nobody can tell whether a page is the last one. */
export type EndDoubt = 'leads_back' | 'no_page_number';

/**
 * The header names a "next" page, but none that can be asked for: `leads_back` when all of them are
 * no later than `currentPage`, `no_page_number` when one of them has no page number, as when the
 * vendor pages by `cursor`. `undefined` where the header says that the list has ended: it names no
 * next page, only ones with a blank `cursor`, or says as well that the last page is an earlier
 * one (so the vendor writes of an empty list: `next` is page 1, `last` is page 0).
 */
export function endDoubtOf(header: LinkHeader, currentPage: number): EndDoubt | undefined {
  const next = targetsOf(header, 'next').filter((target) => !hasBlankCursor(target));
  const pages = next.map(pageOf);
  if (pages.includes(undefined)) return 'no_page_number';
  const isBeyondLast = pagesOf(header, 'last').some((page) => page < currentPage);
  return next.length > 0 && !isBeyondLast ? 'leads_back' : undefined;
}

/** The page numbers of the links with a relation, in their order; links without a number have none. */
function pagesOf(header: LinkHeader, relation: string): number[] {
  return targetsOf(header, relation)
    .map(pageOf)
    .filter((page) => page !== undefined);
}

function targetsOf(header: LinkHeader, relation: string): string[] {
  const text = typeof header === 'string' ? header : (header ?? []).join(', ');
  return Array.from(text.matchAll(link), ([, target = '', parameters = '']) =>
    relationsOf(parameters).includes(relation) ? target : undefined,
  ).filter((target) => target !== undefined);
}

/** The relation types of one link; of several `rel` parameters the first counts. */
function relationsOf(parameters: string): string[] {
  for (const [, name = '', quoted, token = ''] of parameters.matchAll(parameter)) {
    if (name.toLowerCase() === 'rel') return (quoted ?? token).toLowerCase().split(/\s+/);
  }
  return [];
}

function pageOf(target: string): number | undefined {
  const text = queryOf(target).get('page') ?? '';
  const page = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(page) ? page : undefined;
}

/** How the vendor ends a list that it pages by cursors. */
function hasBlankCursor(target: string): boolean {
  const query = queryOf(target);
  return query.get('cursor') === '' && !query.has('page');
}

function queryOf(target: string): URLSearchParams {
  const [beforeFragment = ''] = target.split('#', 1);
  return new URLSearchParams(beforeFragment.slice(beforeFragment.indexOf('?') + 1));
}
