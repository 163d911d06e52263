import { z } from 'zod';
import type { Application, ApplicationSummary } from '../../model/application.ts';
import { excerptOf } from '../answer.ts';
import {
  entityIdOf,
  epochMsOf,
  type InvalidSampleListener,
  isJsonObject,
  type JsonObject,
  sampleOf,
} from '../json.ts';
import { type CallSubject, listElementsOf } from './answer.ts';

/** The applications of one page, and which parts of the page could not be read. */
export interface ApplicationPage {
  readonly applications: readonly Application[];
  /**
   * One clause for each application that was left out entirely or without some of its host or
   * instance ids.
   */
  readonly malformed: readonly string[];
  readonly unreadableIds: readonly string[];
  /**
   * Those clauses of `malformed` that are about applications without a readable id: nobody can tell
   * which these are.
   */
  readonly unidentified: readonly string[];
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
 * The applications of a list document. One that cannot be read is left out and named in
 * `malformed`; the others are kept. Throws an `ApiError` if there is no list, or if it is too long.
 */
export function applicationPageOf(
  document: JsonObject,
  subject: CallSubject,
  onInvalid: InvalidSampleListener,
): ApplicationPage {
  const elements = listElementsOf(document, 'applications', subject);
  const applications: Application[] = [];
  const malformed: string[] = [];
  const unreadableIds: string[] = [];
  const unidentified: string[] = [];
  for (const [index, element] of elements.entries()) {
    const record = applicationSchema.safeParse(element);
    if (record.success) {
      const report = (problem: string): void => {
        malformed.push(`application ${record.data.id}: ${problem}`);
      };
      applications.push(applicationOf(record.data, report, onInvalid));
    } else {
      const id = isJsonObject(element) ? entityIdOf(element['id']) : undefined;
      const what = id === undefined ? `element ${index} of the list` : `application ${id}`;
      const problem = `${what}: ${excerptOf(record.error.issues[0]?.message ?? 'not readable')}`;
      malformed.push(problem);
      if (id === undefined) unidentified.push(problem);
      else unreadableIds.push(id);
    }
  }
  return { applications, malformed, unreadableIds, unidentified };
}

type ApplicationRecord = z.infer<typeof applicationSchema>;

function applicationOf(
  record: ApplicationRecord,
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

const hostSchema = z.object({
  id: z.unknown().transform(entityIdOf).pipe(z.string()),
  host: z.string().min(1),
});

/**
 * The host names of a list document. A host without a readable id or name is left out, so that it
 * is shown by its id. Throws an `ApiError` if there is no list, or if it is too long.
 */
export function hostNamesOf(document: JsonObject, subject: CallSubject): HostName[] {
  return listElementsOf(document, 'application_hosts', subject).flatMap((element) => {
    const host = hostSchema.safeParse(element);
    return host.success ? [{ id: host.data.id, name: host.data.host }] : [];
  });
}
