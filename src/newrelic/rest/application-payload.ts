import type { Application, ApplicationSummary } from '../../model/application.ts';
import {
  entityIdOf,
  epochMsOf,
  type InvalidSampleListener,
  isJsonObject,
  type JsonObject,
  loggedSampleOf,
  objectOf,
  textIn,
} from '../answer.ts';
import type { RestPurpose } from '../failures.ts';
import { listElementsOf, partsMissing, type RestContext } from './answer.ts';
import type { PageContent } from './paging.ts';

/** An element of the list of applications; without `application` if it could not be read. */
export interface PayloadApplication {
  readonly id: string;
  readonly application: Application | undefined;
}

/**
 * The applications of a list document. What cannot be read is left out and logged; the rest is kept. With an
 * `error`, nobody can tell which applications were left out. Throws an `ApiError` if there is no list, or
 * if it is too long.
 */
export function applicationPageOf(
  document: JsonObject,
  purpose: RestPurpose,
  { observer, logger }: RestContext,
): PageContent<PayloadApplication> {
  const leftOut = (problem: string): void => {
    logger.debug({ problem }, 'a part of the list of applications was left out');
  };
  const items: PayloadApplication[] = [];
  const unidentified: string[] = [];
  for (const [index, element] of listElementsOf(document, 'applications', purpose).entries()) {
    const record = objectOf(element);
    const id = entityIdOf(record['id']);
    if (id === undefined) {
      const problem = `element ${index} of the list: no numeric id`;
      unidentified.push(problem);
      leftOut(problem);
    } else {
      const application = payloadApplication(
        id,
        record,
        (problem) => leftOut(`application ${id}: ${problem}`),
        (reason) => observer.invalidSample(reason),
      );
      items.push({ id, application });
    }
  }
  const which = `, the first: ${unidentified[0]}`;
  return { items, error: partsMissing(unidentified.length, purpose, which) };
}

/**
 * Everything but the id and the name may be absent: an application that does not report has no summary and no
 * time. A member of the wrong type counts as absent.
 */
function payloadApplication(
  id: string,
  record: JsonObject,
  report: (problem: string) => void,
  onInvalid: InvalidSampleListener,
): Application | undefined {
  const { name, reporting, application_summary: summary } = record;
  if (typeof name !== 'string') {
    report('no name');
    return undefined;
  }
  const links = objectOf(record['links']);
  return {
    id,
    name,
    language: textIn(record['language']),
    healthStatus: textIn(record['health_status']),
    reporting: typeof reporting === 'boolean' ? reporting : undefined,
    lastReportedAtMs: epochMsOf(record['last_reported_at']),
    summary: isJsonObject(summary) ? summaryOf(summary, onInvalid) : undefined,
    hostIds: idsOf(links['application_hosts'], 'host', report),
    instances: idsOf(links['application_instances'], 'instance', report)?.length,
  };
}

/** Response times come in milliseconds and error rates in percent. */
function summaryOf(summary: JsonObject, onInvalid: InvalidSampleListener): ApplicationSummary {
  const valueOf = (member: unknown, divisor = 1): number | undefined => {
    const value = loggedSampleOf(member, onInvalid);
    return value === undefined ? undefined : value / divisor;
  };
  return {
    requestsPerMinute: valueOf(summary['throughput']),
    responseTimeSeconds: valueOf(summary['response_time'], 1000),
    errorRatio: valueOf(summary['error_rate'], 100),
    apdexScore: valueOf(summary['apdex_score']),
    apdexTargetSeconds: valueOf(summary['apdex_target']),
  };
}

function idsOf(
  values: unknown,
  kind: 'host' | 'instance',
  report: (problem: string) => void,
): readonly string[] | undefined {
  if (!Array.isArray(values)) return undefined;
  const ids = values.map(entityIdOf).filter((id) => id !== undefined);
  const unreadable = values.length - ids.length;
  if (unreadable > 0) report(`${kind} ids that are not numbers: ${unreadable}`);
  return [...new Set(ids)];
}

export interface HostName {
  readonly id: string;
  readonly name: string;
}

/**
 * The host names of a list document. A host without a readable id or name is left out. Throws an `ApiError`
 * if there is no list, or if it is too long.
 */
export function hostNamesOf(document: JsonObject, purpose: RestPurpose): HostName[] {
  return listElementsOf(document, 'application_hosts', purpose).flatMap((element) => {
    const { id: numeric, host } = objectOf(element);
    const id = entityIdOf(numeric);
    const name = textIn(host);
    return id === undefined || name === undefined ? [] : [{ id, name }];
  });
}
