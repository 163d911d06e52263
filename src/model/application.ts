/** What a transaction is: `web` is New Relic's `HttpDispatcher`, `other` is `OtherTransaction/all`. */
export type TransactionType = 'web' | 'other';

export const transactionTypes: readonly TransactionType[] = ['web', 'other'];

/** The vendor's rolling summary of an application, already in base units. */
export interface ApplicationSummary {
  readonly requestsPerMinute: number | undefined;
  readonly responseTimeSeconds: number | undefined;
  readonly errorRatio: number | undefined;
  readonly apdexScore: number | undefined;
  readonly apdexTargetSeconds: number | undefined;
}

/**
 * One application as a discovery found it. Ids are opaque decimal strings: they may exceed 2^53.
 * `undefined` means that the vendor did not say.
 */
export interface Application {
  readonly id: string;
  readonly name: string;
  readonly language: string | undefined;
  readonly healthStatus: string | undefined;
  readonly reporting: boolean | undefined;
  readonly lastReportedAtMs: number | undefined;
  readonly summary: ApplicationSummary | undefined;
  /** `undefined` when the vendor left the list out, which is not the same as an empty one. */
  readonly hostIds: readonly string[] | undefined;
  readonly instanceIds: readonly string[] | undefined;
}
