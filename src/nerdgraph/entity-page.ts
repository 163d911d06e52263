import { z } from 'zod';
import type { Application, ApplicationSummary } from '../model/application.ts';
import {
  entityIdOf,
  type InvalidSampleListener,
  isJsonObject,
  sampleOf,
} from '../newrelic/json.ts';
import { type CallPurpose, failureOf } from './failures.ts';

/** One application of a search. Its hosts come from another query. */
export interface FoundEntity {
  readonly application: Application;
  /** How many hosts New Relic counts, as a first idea of their number. */
  readonly hostCount: number | undefined;
}

/** One page of a search. */
export interface EntityPage {
  readonly entities: readonly FoundEntity[];
  /** The readable ids of entities that could not be read. */
  readonly unreadableIds: readonly string[];
  /** One clause for each entity without a readable id: nobody can tell which these are. */
  readonly unidentified: readonly string[];
  /** `undefined` on the last page. */
  readonly nextCursor: string | undefined;
}

const textSchema = z.string().min(1).optional().catch(undefined);
const anythingSchema = z.unknown();
const summarySchema = z
  .object({
    throughput: anythingSchema,
    responseTimeAverage: anythingSchema,
    apdexScore: anythingSchema,
    hostCount: anythingSchema,
    instanceCount: anythingSchema,
  })
  .partial();
const entitySchema = z.object({
  applicationId: z
    .unknown()
    .transform(entityIdOf)
    .pipe(z.string({ error: 'no numeric applicationId' })),
  name: z.string({ error: 'no name' }),
  reporting: z.boolean().optional().catch(undefined),
  alertSeverity: textSchema,
  language: textSchema,
  settings: z.object({ apdexTarget: anythingSchema }).partial().optional().catch(undefined),
  apmSummary: summarySchema.optional().catch(undefined),
});

type EntityRecord = z.infer<typeof entitySchema>;

/** A page has 200 entities. A million would block the whole process for seconds. */
const maxEntities = 1000;

/** Reads the value of `entitySearch`. Throws an `ApiError` if there is no list, or if it is too long. */
export function entityPageOf(
  part: unknown,
  purpose: CallPurpose,
  onInvalid: InvalidSampleListener,
): EntityPage {
  const { elements, nextCursor } = resultsOf(part, purpose);
  const entities: FoundEntity[] = [];
  const unreadableIds: string[] = [];
  const unidentified: string[] = [];
  for (const [index, element] of elements.entries()) {
    const record = entitySchema.safeParse(element);
    if (record.success) {
      entities.push(foundEntityOf(record.data, onInvalid));
      continue;
    }
    const id = isJsonObject(element) ? entityIdOf(element['applicationId']) : undefined;
    if (id !== undefined) unreadableIds.push(id);
    else
      unidentified.push(`element ${index}: ${record.error.issues[0]?.message ?? 'not readable'}`);
  }
  return { entities, unreadableIds, unidentified, nextCursor };
}

interface Results {
  readonly elements: readonly unknown[];
  readonly nextCursor: string | undefined;
}

function resultsOf(part: unknown, purpose: CallPurpose): Results {
  const results = isJsonObject(part) ? part['results'] : undefined;
  const elements = isJsonObject(results) ? results['entities'] : undefined;
  if (!isJsonObject(results) || !Array.isArray(elements)) {
    throw failureOf(purpose, 'schema', 'the answer has no list of entities');
  }
  if (elements.length > maxEntities) {
    const detail = `the answer lists ${elements.length} entities on one page, which has 200 at most`;
    throw failureOf(purpose, 'schema', detail);
  }
  const cursor = results['nextCursor'];
  return { elements, nextCursor: typeof cursor === 'string' && cursor !== '' ? cursor : undefined };
}

function foundEntityOf(record: EntityRecord, onInvalid: InvalidSampleListener): FoundEntity {
  const summary = record.apmSummary;
  return {
    application: {
      id: record.applicationId,
      name: record.name,
      language: record.language,
      healthStatus: healthStatusOf(record),
      reporting: record.reporting,
      // NerdGraph says only since when an application reports or does not.
      lastReportedAtMs: undefined,
      summary: summary === undefined ? undefined : summaryOf(record, onInvalid),
      hostIds: undefined,
      instances: sampleOf(summary?.instanceCount ?? undefined, onInvalid),
    },
    hostCount: sampleOf(summary?.hostCount ?? undefined, onInvalid),
  };
}

/** The words that the REST API has for New Relic's severities of open incidents. */
const healthStatuses: ReadonlyMap<string, string> = new Map([
  ['CRITICAL', 'red'],
  ['WARNING', 'orange'],
  ['NOT_ALERTING', 'green'],
]);

function healthStatusOf({ reporting, alertSeverity }: EntityRecord): string {
  if (reporting === false) return 'gray';
  return healthStatuses.get(alertSeverity ?? '') ?? 'unknown';
}

/**
 * Times are in seconds here. The error rate is left out: it is not documented whether it is a share
 * or a percentage.
 */
function summaryOf(
  { apmSummary, settings }: EntityRecord,
  onInvalid: InvalidSampleListener,
): ApplicationSummary {
  return {
    requestsPerMinute: sampleOf(apmSummary?.throughput ?? undefined, onInvalid),
    responseTimeSeconds: sampleOf(apmSummary?.responseTimeAverage ?? undefined, onInvalid),
    errorRatio: undefined,
    apdexScore: sampleOf(apmSummary?.apdexScore ?? undefined, onInvalid),
    apdexTargetSeconds: sampleOf(settings?.apdexTarget ?? undefined, onInvalid),
  };
}
