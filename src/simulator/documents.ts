import { minuteMs } from '../model/time.ts';
import type { SimulatedApplication, SimulatedHost } from './simulated-application.ts';

type Json = Readonly<Record<string, unknown>>;

/** What an application's document needs besides its record. */
export interface DocumentState {
  readonly nowMs: number;
  readonly listedHosts: readonly SimulatedHost[];
  /** Mean over the newest complete minutes: of web requests if it has them. */
  readonly throughput: number;
}

const applicationTemplates = {
  'application.servers': '/v2/servers?ids={server_ids}',
  'application.server': '/v2/servers/{server_id}',
  'application.application_hosts': '/v2/application/{application_id}/hosts?ids={host_ids}',
  'application.application_host': '/v2/application/{application_id}/hosts/{host_id}',
  'application.application_instances':
    '/v2/application/{application_id}/instances?ids={instance_ids}',
  'application.application_instance': '/v2/application/{application_id}/instances/{instance_id}',
  'application.alert_policy': '/v2/alert_policies/{alert_policy_id}',
} as const;

const hostTemplates = {
  'application_host.application': '/v2/applications/{application_id}',
  'application_host.application_instances':
    '/v2/application/{application_id}/instances?ids={instance_ids}',
  'application_host.application_instance':
    '/v2/application/{application_id}/instances/{instance_id}',
  'application_host.server': '/v2/servers/{server_id}',
} as const;

/** The vendor rounds nearly all numbers to three significant digits. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

/** Whole seconds, with the offset that the vendor always writes. */
export function formatTimestamp(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}+00:00`;
}

/** In seconds. */
export const apdexTarget = 0.5;
const endUserApdexTarget = 7;
function apdexScore(responseTimeMs: number): number {
  return Number(Math.max(0.3, 1 - responseTimeMs / 4000).toFixed(2));
}

function summaryDocument(application: SimulatedApplication, state: DocumentState): Json {
  const instances = state.listedHosts.reduce((sum, host) => sum + host.instanceIds.length, 0);
  return {
    response_time: state.throughput === 0 ? 0 : application.responseTimeMs,
    throughput: rounded(state.throughput),
    error_rate: application.healthStatus === 'red' ? 4.21 : 0,
    apdex_target: apdexTarget,
    apdex_score: apdexScore(application.responseTimeMs),
    host_count: state.listedHosts.length,
    instance_count: instances,
    ...(['other', 'both'].includes(application.kind) ? { concurrent_instance_count: 1 } : {}),
  };
}

function linksDocument(application: SimulatedApplication, hosts: readonly SimulatedHost[]): Json {
  const { alertPolicyId } = application;
  return {
    application_instances: hosts.flatMap((host) => host.instanceIds),
    ...(alertPolicyId === undefined ? {} : { alert_policy: alertPolicyId }),
    servers: [],
    application_hosts: hosts.map((host) => host.id),
  };
}

/** One element of the list. A silent application has no summaries and no links to hosts. */
export function applicationDocument(application: SimulatedApplication, state: DocumentState): Json {
  const reporting = application.silentSinceMs === undefined;
  // It is accurate to a few minutes.
  const lastReportedMs = Math.floor(state.nowMs / minuteMs) * minuteMs;
  return {
    id: application.id,
    name: application.name,
    language: application.language,
    health_status: reporting ? application.healthStatus : 'gray',
    reporting,
    ...(reporting
      ? {
          last_reported_at: formatTimestamp(lastReportedMs),
          application_summary: summaryDocument(application, state),
        }
      : {}),
    ...(reporting && application.endUser
      ? {
          end_user_summary: {
            response_time: 4.61,
            throughput: rounded(state.throughput / 3),
            apdex_target: endUserApdexTarget,
            apdex_score: 0.91,
          },
        }
      : {}),
    settings: {
      app_apdex_threshold: apdexTarget,
      end_user_apdex_threshold: endUserApdexTarget,
      enable_real_user_monitoring: true,
      use_server_side_config: false,
    },
    links: linksDocument(application, state.listedHosts),
  };
}

/** The list and its other member: templates that look like paging but are not. */
export function applicationsDocument(applications: readonly Json[]): Json {
  return { applications, links: applicationTemplates };
}

/** One element of the list of hosts. It does not say whether or when the host reported. */
export function hostDocument(
  application: SimulatedApplication,
  host: SimulatedHost,
  throughput: number,
): Json {
  return {
    id: host.id,
    application_name: application.name,
    host: host.name,
    language: application.language,
    health_status: application.healthStatus,
    application_summary: {
      response_time: throughput === 0 ? 0 : application.responseTimeMs,
      throughput: rounded(throughput),
      error_rate: 0,
      apdex_score: apdexScore(application.responseTimeMs),
      instance_count: host.instanceIds.length,
    },
    links: { application: application.id, application_instances: host.instanceIds },
  };
}

export function hostsDocument(hosts: readonly Json[]): Json {
  return { application_hosts: hosts, links: hostTemplates };
}
