/** The parameters of a request, decoded. */
export interface Query {
  /** The value of a parameter; of a repeated one the last, as the vendor's framework reads it. */
  last(name: string): string | undefined;
  /** Every value of a list parameter such as `names[]`. */
  all(name: string): readonly string[];
  /** Whether the parameter is `true`. */
  flag(name: string): boolean;
}

export function parseQuery(text: string): Query {
  const parameters = new URLSearchParams(text);
  const last = (name: string): string | undefined => parameters.getAll(name).at(-1);
  return {
    last,
    all: (name) => parameters.getAll(name),
    flag: (name) => last(name) === 'true',
  };
}
