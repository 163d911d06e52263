/** NerdGraph of the simulated account. The defaults follow the vendor, as far as it is documented. */
export interface GraphqlOptions {
  /** Default 1234567. */
  readonly accountId?: number | undefined;
  /** Entities in a page of a search. Default 200. */
  readonly entityPageSize?: number | undefined;
  /** NRQL queries of the account in a minute; more get `TOO_MANY_REQUESTS`. Default 3000. */
  readonly nrqlPerMinute?: number | undefined;
  /** Requests in flight, of all keys together; more get a 429. Default 25. */
  readonly concurrency?: number | undefined;
  /** The same NRQL in a minute; more get a 429. Default 120. */
  readonly repeatsPerMinute?: number | undefined;
  /** How a wrong key is refused: with 401, or with 200 and `BAD_API_KEY`. Default `http_401`. */
  readonly badKey?: 'http_401' | 'in_errors' | undefined;
  /** The grid that time ranges are moved to. Default one minute. */
  readonly snapMs?: number | undefined;
  /** The type of `appId` in facets; the vendor's is unknown. Default `string`. */
  readonly appIds?: 'string' | 'number' | undefined;
  /**
   * How fast NRQL is: a query over more rows than its timeout allows gets `TIMEOUT`, at once. A row is
   * a metric of a host. Default: endlessly fast.
   */
  readonly rowsPerSecond?: number | undefined;
  /** A longer NRQL is refused. Default 4096. */
  readonly maxNrqlCharacters?: number | undefined;
  /**
   * Whether documents are checked against the schema; its part here is small. Default true. Without it,
   * fields that are not known are left out of answers.
   */
  readonly checksDocuments?: boolean | undefined;
  /** A query over more rows is "a little too big". Default: none is. */
  readonly mostRows?: number | undefined;
}

/** Options with every default applied. */
export type Settled<Options> = {
  readonly [Key in keyof Options]-?: Exclude<Options[Key], undefined>;
};

export type GraphqlSettings = Settled<GraphqlOptions>;

const defaults: GraphqlSettings = {
  accountId: 1_234_567,
  entityPageSize: 200,
  nrqlPerMinute: 3000,
  concurrency: 25,
  repeatsPerMinute: 120,
  badKey: 'http_401',
  snapMs: 60_000,
  appIds: 'string',
  rowsPerSecond: Number.POSITIVE_INFINITY,
  maxNrqlCharacters: 4096,
  checksDocuments: true,
  mostRows: Number.POSITIVE_INFINITY,
};

export function graphqlSettingsOf(options: GraphqlOptions): GraphqlSettings {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) };
}
