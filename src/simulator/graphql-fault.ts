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
  /** Good data with an error beside it, by default the vendor's notice of a deprecated field. */
  | { readonly kind: 'warning'; readonly message?: string | undefined }
  /** The numbers of NRQL results are texts. */
  | { readonly kind: 'numbers_as_text' };

const kinds: Readonly<Record<GraphqlFault['kind'], true>> = {
  graphql_error: true,
  null_nrql: true,
  truncated: true,
  warning: true,
  numbers_as_text: true,
};

export function isGraphqlFault(fault: { readonly kind: string }): fault is GraphqlFault {
  return Object.hasOwn(kinds, fault.kind);
}
