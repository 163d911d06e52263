import type { ApiError } from '../../model/api-error.ts';
import type { Application } from '../../model/application.ts';
import {
  entityIdOf,
  type InvalidSampleListener,
  isJsonObject,
  type JsonObject,
  loggedSampleOf,
  objectOf,
  textIn,
  type UnexpectedAnswers,
} from '../answer.ts';
import { type NerdGraphPurpose, notWhole } from '../failures.ts';

export interface EntityPage {
  /** A search does not name their hosts. */
  readonly applications: readonly Application[];
  /** The readable ids of entities that could not be read. */
  readonly unreadableIds: readonly string[];
  /** What tells each listed entity from the others, whatever became of it. */
  readonly listed: readonly string[];
  /** Says that entities have no readable id: nobody can tell which these are. */
  readonly error: ApiError | undefined;
  /** How many entities the pages of the search have together. */
  readonly count: number;
  /** `undefined` on the last page. */
  readonly nextCursor: string | undefined;
}

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
  const unidentified: number[] = [];
  const listed: string[] = [];
  for (const [index, element] of elements.entries()) {
    const entity = objectOf(element);
    const { guid, applicationId, accountId, name } = entity;
    const id = entityIdOf(applicationId);
    const key = textIn(guid) ?? id;
    if (key !== undefined) listed.push(key);
    const owner = entityIdOf(accountId);
    if (owner !== undefined && owner !== String(purpose.accountId)) {
      unexpected.saw('foreign_entity', { app_id: id, account_id: owner });
    } else if (id === undefined) unidentified.push(index);
    else if (typeof name !== 'string') unreadableIds.push(id);
    else applications.push(entityApplication(id, name, entity, reading));
  }
  const [first] = unidentified;
  const which = `(${unidentified.length}), the first: element ${first}: no numeric applicationId`;
  const error =
    first === undefined ? undefined : notWhole(purpose, `parts of the list were left out ${which}`);
  return { applications, unreadableIds, listed, error, ...results };
}

function resultsOf(part: unknown, purpose: NerdGraphPurpose) {
  const { count, results } = objectOf(part);
  const { entities: elements, nextCursor } = objectOf(results);
  if (!Array.isArray(elements)) throw notWhole(purpose, 'the answer has no list of entities');
  if (elements.length > maxEntities) {
    const detail = `the answer lists ${elements.length} entities on one page, which has 200 at most`;
    throw notWhole(purpose, detail);
  }
  if (typeof count !== 'number') {
    throw notWhole(purpose, 'the answer does not say how many entities there are');
  }
  return { elements, count, nextCursor: textIn(nextCursor) };
}

/** All but the id and the name may be absent. A member of the wrong type counts as absent. */
function entityApplication(
  id: string,
  name: string,
  { language, reporting, alertSeverity, apmSummary, settings, tags }: JsonObject,
  { onInvalid, tags: wanted = [] }: PageReading,
): Application {
  const valueOf = (member: unknown) => loggedSampleOf(member ?? undefined, onInvalid);
  const { hostCount, instanceCount, ...summary } = objectOf(apmSummary);
  return {
    id,
    name,
    language: textIn(language),
    healthStatus: reporting === false ? 'gray' : (alertSeverities.get(alertSeverity) ?? 'unknown'),
    reporting: typeof reporting === 'boolean' ? reporting : undefined,
    // NerdGraph says only since when an application reports or does not.
    lastReportedAtMs: undefined,
    summary: isJsonObject(apmSummary)
      ? {
          requestsPerMinute: valueOf(summary['throughput']),
          // In seconds here.
          responseTimeSeconds: valueOf(summary['responseTimeAverage']),
          // It is not documented whether it is a share or a percentage.
          errorRatio: undefined,
          apdexScore: valueOf(summary['apdexScore']),
          apdexTargetSeconds: valueOf(objectOf(settings)['apdexTarget']),
        }
      : undefined,
    // Polls name those of the others.
    hostIds: reporting === false ? [] : undefined,
    hostCount: valueOf(hostCount),
    instances: valueOf(instanceCount),
    tags: wanted.length === 0 ? undefined : tagTexts(tags, wanted),
  };
}

/** The words that the REST API has for New Relic's severities of open incidents. */
const alertSeverities: ReadonlyMap<unknown, string> = new Map([
  ['CRITICAL', 'red'],
  ['WARNING', 'orange'],
  ['NOT_ALERTING', 'green'],
]);

/**
 * The wanted ones; `undefined` if a tag cannot be read. A tag may have several values, in no order, in
 * one entry or in several.
 */
function tagTexts(tags: unknown, wanted: readonly string[]): Application['tags'] {
  if (!Array.isArray(tags) || !tags.every(isTag)) return undefined;
  const keys = wanted.includes(everyTag) ? new Set(tags.map(({ key }) => key)) : wanted;
  const texts = [...keys].flatMap((tag) => {
    const values = tags.flatMap(({ key, values: own }) => (key === tag ? own : []));
    return values.length === 0 ? [] : [[tag, [...new Set(values)].toSorted().join(',')] as const];
  });
  return Object.fromEntries(texts);
}

function isTag(tag: unknown): tag is { readonly key: string; readonly values: readonly string[] } {
  const { key, values } = objectOf(tag);
  const areTexts = Array.isArray(values) && values.every((value) => typeof value === 'string');
  return typeof key === 'string' && areTexts;
}
