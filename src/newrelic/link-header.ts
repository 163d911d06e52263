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
export function nextPageOf(
  header: string | readonly string[] | undefined,
  currentPage: number,
): number | undefined {
  if (header === undefined) return undefined;
  const text = typeof header === 'string' ? header : header.join(', ');
  for (const [, target = '', parameters = ''] of text.matchAll(link)) {
    const page = relationsOf(parameters).includes('next') ? pageOf(target) : undefined;
    if (page !== undefined && page > currentPage) return page;
  }
  return undefined;
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
