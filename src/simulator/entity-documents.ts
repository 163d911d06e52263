import { own } from '../model/own.ts';
import { minuteMs } from '../model/time.ts';
import type { CallCounter } from './call-counter.ts';
import { entityGuidOf } from './entity-guid.ts';
import type { EntityAttributes } from './entity-query.ts';
import type { GraphqlObject } from './graphql-execution.ts';
import {
  metricNames,
  type SimulatedApplication,
  type SimulatedHost,
} from './simulated-application.ts';

/** The account as NerdGraph names it. */
export interface GraphqlAccount {
  readonly id: number;
  readonly name: string;
}

/** What an entity needs besides the record of its application. */
export interface EntityState {
  readonly account: GraphqlAccount;
  readonly nowMs: number;
  readonly listedHosts: readonly SimulatedHost[];
  readonly calls: CallCounter;
}

/** The summary is a mean over the newest complete minutes, as in the lists of REST. */
const summaryMinutes = 4;
const summaryDelayMs = 3 * minuteMs;
const apdexTarget = 0.5;

const severities: Readonly<Record<string, string>> = {
  green: 'NOT_ALERTING',
  orange: 'WARNING',
  red: 'CRITICAL',
};

export function alertSeverityOf(application: SimulatedApplication): string {
  return own(severities, application.healthStatus) ?? 'NOT_CONFIGURED';
}

function isReporting(application: SimulatedApplication): boolean {
  return application.silentSinceMs === undefined;
}

function tagsOf(
  application: SimulatedApplication,
  account: GraphqlAccount,
): Readonly<Record<string, string>> {
  return {
    account: account.name,
    accountId: String(account.id),
    language: application.language,
    nr_apm_application_id: String(application.id),
    ...application.tags,
  };
}

/** What a search can ask of an application, as texts. */
export function entityAttributesOf(
  application: SimulatedApplication,
  account: GraphqlAccount,
): EntityAttributes {
  const guid = entityGuidOf(account.id, application);
  const attributes: Readonly<Record<string, string>> = {
    id: guid,
    guid,
    name: application.name,
    accountId: String(account.id),
    domain: 'APM',
    type: 'APPLICATION',
    domainId: String(application.id),
    domainType: 'APM-APPLICATION',
    entityType: 'APM_APPLICATION_ENTITY',
    reporting: String(isReporting(application)),
    alertSeverity: alertSeverityOf(application),
  };
  return (name) => {
    const value = name.startsWith('tags.')
      ? own(tagsOf(application, account), name.slice('tags.'.length))
      : own(attributes, name);
    return value === undefined ? [] : [value];
  };
}

function summary(application: SimulatedApplication, state: EntityState): GraphqlObject | null {
  if (!isReporting(application)) return null;
  const toMs = Math.floor((state.nowMs - summaryDelayMs) / minuteMs) * minuteMs;
  const fromMs = toMs - summaryMinutes * minuteMs;
  const [web, other] = metricNames.map(
    (name) => state.calls.count(application, undefined, name, fromMs, toMs) / summaryMinutes,
  );
  const throughput = (web ?? 0) + (other ?? 0);
  const seconds = throughput === 0 ? 0 : application.responseTimeMs / 1000;
  return {
    throughput,
    webThroughput: web,
    nonWebThroughput: other,
    responseTimeAverage: seconds,
    webResponseTimeAverage: seconds,
    nonWebResponseTimeAverage: seconds,
    errorRate: 0,
    apdexScore: Math.max(0.3, 1 - application.responseTimeMs / 4000),
    hostCount: state.listedHosts.length,
    instanceCount: state.listedHosts.reduce((sum, host) => sum + host.instanceIds.length, 0),
  };
}

/** An application as an element of a search. */
export function entityOutline(
  application: SimulatedApplication,
  state: EntityState,
): GraphqlObject {
  const { account } = state;
  return {
    __typename: 'ApmApplicationEntityOutline',
    guid: entityGuidOf(account.id, application),
    name: application.name,
    accountId: account.id,
    account,
    domain: 'APM',
    type: 'APPLICATION',
    entityType: 'APM_APPLICATION_ENTITY',
    reporting: isReporting(application),
    alertSeverity: alertSeverityOf(application),
    permalink: `https://one.newrelic.com/redirect/entity/${entityGuidOf(account.id, application)}`,
    tags: Object.entries(tagsOf(application, account)).map(([key, value]) => ({
      key,
      values: [value],
    })),
    applicationId: application.id,
    language: application.language,
    runningAgentVersions: { minVersion: '8.9.0', maxVersion: '8.10.0' },
    settings: { apdexTarget, serverSideConfig: true },
    apmSummary: () => summary(application, state),
  };
}

/** An application as an entity that is asked for by its guid. */
export function entityDocument(
  application: SimulatedApplication,
  state: EntityState,
): GraphqlObject {
  return { ...entityOutline(application, state), __typename: 'ApmApplicationEntity' };
}
