import { isDeepStrictEqual } from 'node:util';

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
 * One application as a discovery found it. Ids are opaque decimal strings, because they may exceed
 * 2^53. `undefined` means that the vendor did not say.
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
  /** How many hosts the vendor counts, where it does not list them. Default: it did not say. */
  readonly hostCount?: number | undefined;
  /** How many instances the vendor lists. */
  readonly instances: number | undefined;
  /** The values of its tags, those of one tag in one text. Default: the vendor did not say. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
}

/** What it is called, when nothing else of it is known, or may be shown. */
export function bareApplication(
  known: Pick<Application, 'id' | 'name'> & Partial<Application>,
): Application {
  return {
    id: known.id,
    name: known.name,
    language: known.language,
    healthStatus: undefined,
    reporting: undefined,
    lastReportedAtMs: undefined,
    summary: undefined,
    hostIds: undefined,
    instances: undefined,
    tags: known.tags,
  };
}

/**
 * The application as it was found now, made of known parts where these are the same. So comparing
 * identities shows what has changed, and long lists are not kept twice.
 */
export function mergedApplication(known: Application, found: Application): Application {
  const { summary } = known;
  // What was left out stays as polls have shown it.
  const hostIds = found.hostIds ?? known.hostIds;
  const tags = found.tags ?? known.tags;
  const merged = {
    ...found,
    ...(tags && { tags }),
    summary: isDeepStrictEqual(summary, found.summary) ? summary : found.summary,
    hostIds: isDeepStrictEqual(known.hostIds, hostIds) ? known.hostIds : hostIds,
  };
  return isDeepStrictEqual(known, merged) ? known : merged;
}
