import type { Throughput } from '../model/snapshot.ts';
import type { ApplicationStatus } from '../model/status.ts';

/** Requests per minute by transaction type; a type without a value is left out. */
export function throughputJson(throughput: Throughput | undefined): unknown {
  return Object.fromEntries(throughput ?? []);
}

/** The hosts of an application that failed, and if wanted each of its hosts. */
export function hostsJson(
  { hostIds, failedHostIds, hostNames, reading }: ApplicationStatus,
  withAll: boolean,
): object {
  const identityOf = (id: string): object => ({ id, name: hostNames.get(id) ?? id });
  const failedHosts = Array.from(failedHostIds, identityOf);
  if (!withAll) return { failedHosts };
  const hostDetails = hostIds.map((id) => ({
    ...identityOf(id),
    isFailed: failedHostIds.has(id),
    requestsPerMinute: throughputJson(reading?.hosts.get(id)),
  }));
  return { failedHosts, hostDetails };
}
