import type { TransactionType } from '../model/application.ts';

/**
 * Remembers which throughput metrics an application has at all. A metric without calls in a window has
 * no row: if the application has the metric, that means 0, otherwise there is no value.
 */
export interface RecordedMetrics {
  /** Whether New Relic was asked which metrics the application has had in the last day. */
  isKnown(applicationId: string): boolean;
  /** New Relic was asked. */
  known(applicationIds: Iterable<string>): void;
  has(applicationId: string, type: TransactionType): boolean;
  saw(applicationId: string, type: TransactionType): void;
  /** Forgets all other applications. */
  keepOnly(applicationIds: ReadonlySet<string>): void;
}

export function createRecordedMetrics(): RecordedMetrics {
  const types = new Map<string, ReadonlySet<TransactionType>>();
  const askedFor = new Set<string>();

  return {
    isKnown: (applicationId) => askedFor.has(applicationId),
    known: (applicationIds) => {
      for (const id of applicationIds) askedFor.add(id);
    },
    has: (applicationId, type) => types.get(applicationId)?.has(type) === true,
    saw: (applicationId, type) => {
      const before = types.get(applicationId);
      if (before?.has(type) === true) return;
      types.set(applicationId, new Set([...(before ?? []), type]));
    },
    keepOnly: (applicationIds) => {
      for (const id of askedFor) if (!applicationIds.has(id)) askedFor.delete(id);
      for (const id of types.keys()) if (!applicationIds.has(id)) types.delete(id);
    },
  };
}
