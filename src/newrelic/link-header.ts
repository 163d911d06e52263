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

/**
 * Whether the header names a "next" page, but only one that is no later than `currentPage`: then
 * nobody can tell whether there are more pages. Not so when it says as well that the last page is an
 * earlier one: so the vendor writes of an empty list (`next` is page 1, `last` is page 0).
 */
export function leadsBack(header: LinkHeader, currentPage: number): boolean {
  const next = pagesOf(header, 'next');
  return (
    next.length > 0 &&
    next.every((page) => page <= currentPage) &&
    !pagesOf(header, 'last').some((page) => page < currentPage)
  );
}

/** The page numbers of the links with a relation, in their order; links without a number have none. */
function pagesOf(header: LinkHeader, relation: string): number[] {
  const text = typeof header === 'string' ? header : (header ?? []).join(', ');
  return Array.from(text.matchAll(link), ([, target = '', parameters = '']) =>
    relationsOf(parameters).includes(relation) ? pageOf(target) : undefined,
  ).filter((page) => page !== undefined);
}

/** The relation types of one link; of several `rel` parameters the first counts. */
function relationsOf(parameters: string): string[] {
  for (const [, name = '', quoted, token = ''] of parameters.matchAll(parameter)) {
    if (name.toLowerCase() === 'rel') return (quoted ?? token).toLowerCase().split(/\s+/);
  }
  return [];
}

function pageOf(target: string): number | undefined {
  const [beforeFragment = ''] = target.split('#', 1);
  const query = beforeFragment.slice(beforeFragment.indexOf('?') + 1);
  const text = new URLSearchParams(query).get('page') ?? '';
  const page = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(page) ? page : undefined;
}
