import { z } from 'zod';
import type { Application, ApplicationSummary } from '../../model/application.ts';
import { excerptOf } from '../answer.ts';
import {
  entityIdOf,
  epochMsOf,
  type InvalidSampleListener,
  type JsonObject,
  objectOf,
  sampleOf,
} from '../json.ts';
import { type CallSubject, listElementsOf, partsMissing, type RestContext } from './answer.ts';
import type { PageContent } from './paging.ts';

/** An element of the list of applications; without `application` if it could not be read. */
export interface ListedApplication {
  readonly id: string;
  readonly application: Application | undefined;
}

// Only what is needed. Everything but the id and the name may be absent: an application that does
// not report has no summary and no time. A member of the wrong type counts as absent.
const summarySchema = z
  .object({
    throughput: z.unknown(),
    response_time: z.unknown(),
    error_rate: z.unknown(),
    apdex_score: z.unknown(),
    apdex_target: z.unknown(),
  })
  .partial();
const textSchema = z.string().min(1).optional().catch(undefined);
const idListSchema = z.array(z.unknown()).optional().catch(undefined);
const applicationSchema = z.object({
  id: z
    .unknown()
    .transform(entityIdOf)
    .pipe(z.string({ error: 'no numeric id' })),
  name: z.string({ error: 'no name' }),
  language: textSchema,
  health_status: textSchema,
  reporting: z.boolean().optional().catch(undefined),
  last_reported_at: z.unknown().optional().transform(epochMsOf),
  application_summary: summarySchema.optional().catch(undefined),
  links: z
    .object({ application_hosts: idListSchema, application_instances: idListSchema })
    .optional()
    .catch(undefined),
});

/**
 * The applications of a list document. What cannot be read is left out and logged; the rest is kept. With an
 * `error`, nobody can tell which applications were left out. Throws an `ApiError` if there is no list, or
 * if it is too long.
 */
export function applicationPageOf(
  document: JsonObject,
  subject: CallSubject,
  { observer, logger }: RestContext,
): PageContent<ListedApplication> {
  const leftOut = (problem: string): void => {
    logger.debug({ problem }, 'a part of the list of applications was left out');
  };
  const items: ListedApplication[] = [];
  const unidentified: string[] = [];
  for (const [index, element] of listElementsOf(document, 'applications', subject).entries()) {
    const record = applicationSchema.safeParse(element);
    if (record.success) {
      const { id } = record.data;
      const application = applicationOf(
        record.data,
        (problem) => leftOut(`application ${id}: ${problem}`),
        (reason) => observer.invalidSample(reason),
      );
      items.push({ id, application });
      continue;
    }
    const id = entityIdOf(objectOf(element)['id']);
    const what = id === undefined ? `element ${index} of the list` : `application ${id}`;
    const problem = `${what}: ${excerptOf(record.error.issues[0]?.message ?? 'not readable')}`;
    leftOut(problem);
    if (id === undefined) unidentified.push(problem);
    else items.push({ id, application: undefined });
  }
  const which = `, the first: ${unidentified[0]}`;
  return { items, error: partsMissing(unidentified.length, subject, which) };
}

function applicationOf(
  record: z.infer<typeof applicationSchema>,
  report: (problem: string) => void,
  onInvalid: InvalidSampleListener,
): Application {
  const summary = record.application_summary;
  return {
    id: record.id,
    name: record.name,
    language: record.language,
    healthStatus: record.health_status,
    reporting: record.reporting,
    lastReportedAtMs: record.last_reported_at,
    summary: summary === undefined ? undefined : summaryOf(summary, onInvalid),
    hostIds: idsOf(record.links?.application_hosts, 'host', report),
    instances: idsOf(record.links?.application_instances, 'instance', report)?.length,
  };
}

/** Response times come in milliseconds and error rates in percent. */
function summaryOf(
  summary: z.infer<typeof summarySchema>,
  onInvalid: InvalidSampleListener,
): ApplicationSummary {
  return {
    requestsPerMinute: sampleOf(summary.throughput, onInvalid),
    responseTimeSeconds: dividedBy(1000, sampleOf(summary.response_time, onInvalid)),
    errorRatio: dividedBy(100, sampleOf(summary.error_rate, onInvalid)),
    apdexScore: sampleOf(summary.apdex_score, onInvalid),
    apdexTargetSeconds: sampleOf(summary.apdex_target, onInvalid),
  };
}

function dividedBy(divisor: number, value: number | undefined): number | undefined {
  return value === undefined ? undefined : value / divisor;
}

function idsOf(
  values: readonly unknown[] | undefined,
  kind: 'host' | 'instance',
  report: (problem: string) => void,
): readonly string[] | undefined {
  if (values === undefined) return undefined;
  const ids = new Set<string>();
  let unreadable = 0;
  for (const value of values) {
    const id = entityIdOf(value);
    if (id === undefined) unreadable += 1;
    else ids.add(id);
  }
  if (unreadable > 0) report(`${kind} ids that are not numbers: ${unreadable}`);
  return [...ids];
}

export interface HostName {
  readonly id: string;
  readonly name: string;
}

/**
 * The host names of a list document. A host without a readable id or name is left out. Throws an `ApiError`
 * if there is no list, or if it is too long.
 */
export function hostNamesOf(document: JsonObject, subject: CallSubject): HostName[] {
  return listElementsOf(document, 'application_hosts', subject).flatMap((element) => {
    const { id: numeric, host: name } = objectOf(element);
    const id = entityIdOf(numeric);
    return id === undefined || typeof name !== 'string' || name === '' ? [] : [{ id, name }];
  });
}
