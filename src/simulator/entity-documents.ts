import { own } from '../model/own.ts';
import type { CallCounter } from './call-counter.ts';
import { apdexTarget } from './documents.ts';
import type { GraphqlObject } from './graphql.ts';
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

/** What a search can ask of an application, by name: its tags as `tags.x`. */
export type EntityAttributes = Readonly<Record<string, string>>;

const severities: Readonly<Record<string, string>> = {
  green: 'NOT_ALERTING',
  orange: 'WARNING',
  red: 'CRITICAL',
};

/** The vendor's identity of an application: base64 without padding. */
export function entityGuidOf(accountId: number, { id }: { readonly id: number }): string {
  const text = `${accountId}|APM|APPLICATION|${id}`;
  return Buffer.from(text).toString('base64').replaceAll('=', '');
}

function alertSeverityOf({ healthStatus }: SimulatedApplication): string {
  return own(severities, healthStatus) ?? 'NOT_CONFIGURED';
}

function isReporting({ silentSinceMs }: SimulatedApplication): boolean {
  return silentSinceMs === undefined;
}

function tagsOf(
  application: SimulatedApplication,
  account: GraphqlAccount,
): readonly (readonly [key: string, value: string])[] {
  return [
    ['account', account.name],
    ['accountId', String(account.id)],
    ['language', application.language],
    ['nr_apm_application_id', String(application.id)],
    ...Object.entries(application.tags),
  ];
}

export function entityAttributesOf(
  application: SimulatedApplication,
  account: GraphqlAccount,
): EntityAttributes {
  const tags = tagsOf(application, account).map(([key, value]) => [`tags.${key}`, value]);
  return {
    ...Object.fromEntries(tags),
    name: application.name,
    accountId: String(account.id),
    domain: 'APM',
    type: 'APPLICATION',
    domainId: String(application.id),
    reporting: String(isReporting(application)),
    alertSeverity: alertSeverityOf(application),
  };
}

/** What an entity needs besides the record of its application. */
export interface EntityState {
  readonly account: GraphqlAccount;
  readonly calls: CallCounter;
  /** Those that are listed. */
  readonly hosts: readonly SimulatedHost[];
}

function summary(application: SimulatedApplication, state: EntityState): GraphqlObject | null {
  if (!isReporting(application)) return null;
  const throughput = metricNames.reduce(
    (sum, name) => sum + state.calls.recentRate(application, undefined, name),
    0,
  );
  return {
    throughput,
    responseTimeAverage: throughput === 0 ? 0 : application.responseTimeMs / 1000,
    errorRate: application.errorRatio,
    apdexScore: Math.max(0.3, 1 - application.responseTimeMs / 4000),
    hostCount: state.hosts.length,
    instanceCount: state.hosts.reduce((sum, host) => sum + host.instanceIds.length, 0),
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
    reporting: isReporting(application),
    alertSeverity: alertSeverityOf(application),
    tags: tagsOf(application, account).map(([key, value]) => ({ key, values: [value] })),
    applicationId: application.id,
    language: application.language,
    settings: { apdexTarget },
    apmSummary: () => summary(application, state),
  };
}
