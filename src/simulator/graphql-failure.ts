/** A field of NerdGraph that fails: it becomes null, and the answer gets an error with its path. */
export class GraphqlFailure extends Error {
  override readonly name = 'GraphqlFailure';
  readonly extensions: Readonly<Record<string, string>>;

  constructor(errorClass: string, message: string, classification?: string) {
    super(message);
    this.extensions = extensionsOf(errorClass, classification);
  }
}

/** One element of `errors` in an answer. */
export interface GraphqlError {
  readonly message: string;
  readonly locations?: readonly { readonly line: number; readonly column: number }[] | undefined;
  /** Names as in the answer (aliases), and positions in lists. */
  readonly path?: readonly (string | number)[] | undefined;
  readonly extensions: Readonly<Record<string, string>>;
}

/** What the vendor says about a failure beside its message. */
export function extensionsOf(
  errorClass: string,
  classification?: string,
): Readonly<Record<string, string>> {
  return { errorClass, ...(classification === undefined ? {} : { classification }) };
}

/**
 * What is beyond this simulator, and may be right. The class is its own, so that nobody takes it for a
 * refusal of the vendor.
 */
export function notSimulated(what: string): GraphqlFailure {
  return new GraphqlFailure('NOT_SIMULATED', `the simulator does not know ${what}`);
}

/** A mistake in a query language of the vendor, such as NRQL. */
export function invalidInput(message: string): GraphqlFailure {
  return new GraphqlFailure('INVALID_INPUT', message);
}
