import { z } from 'zod';
import type { Application, ApplicationSummary } from '../../model/application.ts';
import { entityIdOf, type InvalidSampleListener, objectOf, sampleOf } from '../answer.ts';
import { type NerdGraphPurpose, notWhole } from '../failures.ts';
import type { UnexpectedAnswers } from './unexpected-answers.ts';

export interface EntityPage {
  /** Without hosts: a search does not name them. */
  readonly applications: readonly Application[];
  /** The readable ids of entities that could not be read. */
  readonly unreadableIds: readonly string[];
  /** One clause for each entity without a readable id: nobody can tell which these are. */
  readonly unidentified: readonly string[];
  /** What tells each listed entity from the others, whatever became of it. */
  readonly listed: readonly string[];
  /** How many entities the pages of the search have together. */
  readonly count: number;
  /** `undefined` on the last page. */
  readonly nextCursor: string | undefined;
}

const textSchema = z.string().min(1).optional().catch(undefined);
const valuesSchema = z.record(z.string(), z.unknown()).optional().catch(undefined);
const tagSchema = z.object({ key: z.string(), values: z.array(z.string()) });
const entitySchema = z.object({
  applicationId: z
    .unknown()
    .transform(entityIdOf)
    .pipe(z.string({ error: 'no numeric applicationId' })),
  name: z.string({ error: 'no name' }),
  reporting: z.boolean().optional().catch(undefined),
  alertSeverity: textSchema,
  tags: z.array(tagSchema).optional().catch(undefined),
  language: textSchema,
  settings: valuesSchema,
  apmSummary: valuesSchema,
});

type EntityRecord = z.infer<typeof entitySchema>;

/** A page has 200 entities. A million would block the whole process for seconds. */
const maxEntities = 1000;

export interface PageReading {
  readonly purpose: NerdGraphPurpose;
  readonly unexpected: UnexpectedAnswers;
  readonly onInvalid: InvalidSampleListener;
  /** The tags that are wanted; `everyTag` stands for all. Default: none. */
  readonly tags?: readonly string[] | undefined;
}

/** No tag is called so. Only commands read them all. */
export const everyTag = '*';

/**
 * Reads the value of `entitySearch`, and leaves out entities of other accounts than the one asked for.
 * Throws an `ApiError` if there is no list, if it is too long, or if it does not say how long it is.
 */
export function entityPageOf(part: unknown, reading: PageReading): EntityPage {
  const { purpose, unexpected } = reading;
  const { elements, ...results } = resultsOf(part, purpose);
  const applications: Application[] = [];
  const unreadableIds: string[] = [];
  const unidentified: string[] = [];
  const listed: string[] = [];
  for (const [index, element] of elements.entries()) {
    const { guid, applicationId, accountId } = objectOf(element);
    const id = entityIdOf(applicationId);
    const key = typeof guid === 'string' ? guid : id;
    if (key !== undefined) listed.push(key);
    const owner = entityIdOf(accountId);
    if (owner !== undefined && owner !== String(purpose.accountId)) {
      unexpected.saw('foreign_entity', { app_id: id, account_id: owner });
      continue;
    }
    const record = entitySchema.safeParse(element);
    if (record.success) applications.push(applicationOf(record.data, reading));
    else if (id !== undefined) unreadableIds.push(id);
    else
      unidentified.push(`element ${index}: ${record.error.issues[0]?.message ?? 'not readable'}`);
  }
  return { applications, unreadableIds, unidentified, listed, ...results };
}

function resultsOf(part: unknown, purpose: NerdGraphPurpose) {
  const { count, results } = objectOf(part);
  const { entities: elements, nextCursor: cursor } = objectOf(results);
  if (!Array.isArray(elements)) throw notWhole(purpose, 'the answer has no list of entities');
  if (elements.length > maxEntities) {
    const detail = `the answer lists ${elements.length} entities on one page, which has 200 at most`;
    throw notWhole(purpose, detail);
  }
  if (typeof count !== 'number') {
    throw notWhole(purpose, 'the answer does not say how many entities there are');
  }
  const nextCursor = typeof cursor === 'string' && cursor !== '' ? cursor : undefined;
  return { elements, count, nextCursor };
}

function applicationOf(record: EntityRecord, { onInvalid, tags = [] }: PageReading): Application {
  const { hostCount, instanceCount } = record.apmSummary ?? {};
  return {
    id: record.applicationId,
    name: record.name,
    language: record.language,
    healthStatus: healthStatusOf(record),
    reporting: record.reporting,
    // NerdGraph says only since when an application reports or does not.
    lastReportedAtMs: undefined,
    summary: record.apmSummary && summaryOf(record, onInvalid),
    hostIds: undefined,
    hostCount: sampleOf(hostCount ?? undefined, onInvalid),
    instances: sampleOf(instanceCount ?? undefined, onInvalid),
    tags: tags.length === 0 ? undefined : tagTexts(record.tags, tags),
  };
}

/** The wanted ones. A tag may have several values, in no order, in one entry or in several. */
function tagTexts(stated: EntityRecord['tags'], wanted: readonly string[]): Application['tags'] {
  if (stated === undefined) return undefined;
  const tags = wanted.includes(everyTag) ? new Set(stated.map(({ key }) => key)) : wanted;
  const texts = [...tags].flatMap((tag) => {
    const values = stated.flatMap(({ key, values: own }) => (key === tag ? own : []));
    return values.length === 0 ? [] : [[tag, [...new Set(values)].toSorted().join(',')] as const];
  });
  return Object.fromEntries(texts);
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
  { apmSummary = {}, settings = {} }: EntityRecord,
  onInvalid: InvalidSampleListener,
): ApplicationSummary {
  const { throughput, responseTimeAverage, apdexScore } = apmSummary;
  return {
    requestsPerMinute: sampleOf(throughput ?? undefined, onInvalid),
    responseTimeSeconds: sampleOf(responseTimeAverage ?? undefined, onInvalid),
    errorRatio: undefined,
    apdexScore: sampleOf(apdexScore ?? undefined, onInvalid),
    apdexTargetSeconds: sampleOf(settings['apdexTarget'] ?? undefined, onInvalid),
  };
}
