/** `docs` has no space before `rel`, `observed` has one. Both occur. */
export type LinkStyle = 'docs' | 'observed';

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** The `Link` header; `undefined` when everything fits on one page. */
  readonly link: string | undefined;
}

export interface PageRequest {
  /** As in the query. Everything but a positive whole number means page 1. */
  readonly page: string | undefined;
  readonly pageSize: number;
  readonly path: string;
  readonly linkStyle: LinkStyle;
}

/** The vendor's links have its own host, whatever host the request was sent to. */
const linkOrigin = 'https://api.newrelic.com';

function linkHeader(request: PageRequest, page: number, lastPage: number): string {
  const separator = request.linkStyle === 'docs' ? ';' : '; ';
  const link = (rel: string, target: number): string =>
    `<${linkOrigin}${request.path}?page=${target}>${separator}rel="${rel}"`;
  return [
    ...(page < lastPage ? [link('next', page + 1), link('last', lastPage)] : []),
    ...(page > 1 ? [link('first', 1), link('prev', Math.min(page - 1, lastPage))] : []),
  ].join(', ');
}

/** Cuts a page out of a list. A page past the end is empty and has no next page. */
export function pageOf<Item>(all: readonly Item[], request: PageRequest): Page<Item> {
  const wanted = /^[1-9]\d{0,8}$/.test(request.page ?? '') ? Number(request.page) : 1;
  const lastPage = Math.max(1, Math.ceil(all.length / request.pageSize));
  const items = all.slice((wanted - 1) * request.pageSize, wanted * request.pageSize);
  return { items, link: lastPage === 1 ? undefined : linkHeader(request, wanted, lastPage) };
}
