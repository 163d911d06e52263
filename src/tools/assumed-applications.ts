import { type Application, bareApplication } from '../model/application.ts';
import type { AppEntry } from '../model/config.ts';
import type { SelectedApplication } from '../model/selected-application.ts';
import { polledBy, selectorText } from '../model/selector.ts';
import type { DiscoveryCalls } from '../model/source.ts';
import type { CallCosts } from './call-costs.ts';

/** What a plan without New Relic assumes about each application. */
export interface Assumptions {
  readonly applicationsPerMatch: number;
  readonly hostsPerApplication: number;
}

/** What a discovery would find under the assumptions. */
export interface AssumedDiscovery {
  readonly applications: readonly SelectedApplication[];
  readonly discovery: DiscoveryCalls;
}

/** An entry by id or name is one application, one by pattern as many as assumed; all of them report. */
export function assumeApplications(
  entries: readonly AppEntry[],
  assumptions: Assumptions,
  costs: Pick<CallCosts, 'discovery'>,
): AssumedDiscovery {
  // A repeated selector chooses the same applications again.
  const bySelector = new Map<string, AppEntry>();
  for (const entry of polledBy(entries)) {
    const text = selectorText(entry.selector);
    if (!bySelector.has(text)) bySelector.set(text, entry);
  }
  const applications = [...bySelector].flatMap(([text, entry]) => {
    const count = entry.selector.kind === 'match' ? assumptions.applicationsPerMatch : 1;
    return Array.from({ length: count }, (_, index) => {
      const id = entry.selector.kind === 'id' ? entry.selector.id : `${text} ${index}`;
      const application = assumedApplication(id, assumptions.hostsPerApplication);
      return withAssumedHosts({ entry, application });
    });
  });
  return {
    applications,
    discovery: applications.length === 0 ? { calls: 0 } : costs.discovery(applications),
  };
}

/**
 * The application with the hosts that its entry chooses by name, under the assumption that this host
 * runs every application and that every pattern matches all hosts.
 */
export function withAssumedHosts(selected: SelectedApplication): SelectedApplication {
  const { entry } = selected;
  // Where New Relic only counts hosts, any ids will do.
  const hostIds = selected.application.hostIds ?? idsOf(selected.application.hostCount ?? 0);
  const application = { ...selected.application, hostIds };
  if (typeof entry.hosts === 'boolean') return { application, entry };
  const namedHostIds = entry.hosts.kind === 'self' ? [hostIds[0] ?? 'self'] : hostIds;
  return { application, entry, namedHostIds };
}

function assumedApplication(id: string, hosts: number): Application {
  return {
    ...bareApplication({ id, name: id }),
    reporting: true,
    hostIds: idsOf(hosts),
    instances: hosts,
  };
}

function idsOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${index + 1}`);
}
