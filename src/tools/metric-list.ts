import type { ApiError } from '../model/api-error.ts';

/** A metric that an application has. */
export interface ListedMetric {
  readonly name: string;
  /** Which values it has, as the REST API calls them; `undefined` if New Relic does not tell. */
  readonly values: readonly string[] | undefined;
}

export interface MetricListQuestion {
  readonly applicationId: string;
  /** By its id in the API that is asked; `undefined` for the application as a whole. */
  readonly hostId: string | undefined;
  /** Only metrics whose names contain this, in upper or lower case. */
  readonly like: string | undefined;
}

/** How a list ended; its metrics came page by page. */
export interface MetricListEnd {
  /** Why something is missing from it. */
  readonly error: ApiError | undefined;
  /** How much is read of a list at most, such as "the first 100 pages", if it is longer than that. */
  readonly cut: string | undefined;
}

/**
 * Lists the metrics of an application. A page may name a metric that another one named before. Rejects
 * with the signal's reason, or with an `ApiError` if nothing was asked for.
 */
export type ListMetrics = (
  question: MetricListQuestion,
  context: {
    readonly signal: AbortSignal;
    /** Called with each page as soon as it has arrived. */
    readonly onPage: (metrics: readonly ListedMetric[]) => void;
  },
) => Promise<MetricListEnd>;

export function isLike(name: string, like: string | undefined): boolean {
  return like === undefined || name.toLowerCase().includes(like.toLowerCase());
}
