/** An answer of NerdGraph, a 200, in which something is wrong. It needs a request to NerdGraph. */
export type GraphqlFault =
  /**
   * The fields that read data (`nrql`, `entitySearch`) are null, each with an error. `partial`: only the
   * one with this name or alias; the others keep their data.
   */
  | {
      readonly kind: 'graphql_error';
      readonly errorClass: string;
      readonly message: string;
      readonly classification?: string | undefined;
      readonly partial?: string | undefined;
    }
  /** The fields that read data are null, without an error. */
  | { readonly kind: 'null_nrql' }
  /** Only the first `rows` facets of each NRQL; the rest is in `otherResult`. */
  | { readonly kind: 'truncated'; readonly rows: number }
  /**
   * Only the first rows of each NRQL, or the first entities of a page that claims to be the last. The sums
   * (`totalResult`, `count`) stay true. With an error beside it; or without, and then without
   * `otherResult`.
   */
  | { readonly kind: 'short'; readonly keep: number; readonly sign: 'error' | 'none' }
  /** Good data that the metadata of NRQL has something to say about. */
  | { readonly kind: 'messages'; readonly message: string }
  /** The first facet of each NRQL is there twice, each time with half of its calls. */
  | { readonly kind: 'facet_twice' }
  /** The rows of NRQL do not repeat the members of `facet` by name. */
  | { readonly kind: 'bare_facets' }
  /** NRQL states a window whose ends are so much later than those of its data. */
  | {
      readonly kind: 'other_window';
      readonly beginMinutes: number;
      readonly endMinutes: number;
    }
  /** What another question would be answered: the one in which `replace` stands as `by`. */
  | { readonly kind: 'other_answer'; readonly replace: string; readonly by: string }
  /** One entity more than there are, of another account. The count knows of it. */
  | { readonly kind: 'foreign_entity'; readonly accountId: number }
  /** Each page has the first entities, and a cursor that was never there before. */
  | { readonly kind: 'endless_list' }
  /** Good data with an error beside it, by default the vendor's notice of a deprecated field. */
  | { readonly kind: 'warning'; readonly message?: string | undefined }
  /** The numbers of NRQL results are texts. */
  | { readonly kind: 'numbers_as_text' };

const kinds: Readonly<Record<GraphqlFault['kind'], true>> = {
  graphql_error: true,
  null_nrql: true,
  truncated: true,
  short: true,
  messages: true,
  facet_twice: true,
  bare_facets: true,
  other_window: true,
  other_answer: true,
  foreign_entity: true,
  endless_list: true,
  warning: true,
  numbers_as_text: true,
};

export function isGraphqlFault(fault: { readonly kind: string }): fault is GraphqlFault {
  return Object.hasOwn(kinds, fault.kind);
}
