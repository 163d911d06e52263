import type { Application } from './application.ts';
import type { AppEntry, HostSelector, PatternSource } from './config.ts';

/** An application together with the entry that chose it. */
export interface SelectedApplication {
  readonly application: Application;
  readonly entry: AppEntry;
  /** The hosts that the entry chooses, where it chooses them by their names, as far as those are known. */
  readonly namedHostIds?: readonly string[] | undefined;
}

/** Whether the selector chooses a host of this name. Host names are the same in any case of letters. */
export function choosesHost(selector: HostSelector, hostName: string): boolean {
  if (selector.kind === 'match') return selector.pattern.test(hostName);
  const lowerCase = hostName.toLowerCase();
  return selector.names.some((name) => name.toLowerCase() === lowerCase);
}

/** Whether the two choose the same hosts; a compiled pattern is compared by what was written. */
export function isSameHostChoice(
  left: boolean | HostSelector<PatternSource>,
  right: boolean | HostSelector<PatternSource>,
): boolean {
  return hostChoiceText(left) === hostChoiceText(right);
}

function hostChoiceText(hosts: boolean | HostSelector<PatternSource>): string {
  if (typeof hosts === 'boolean') return String(hosts);
  return hosts.kind === 'match' ? `match=${hosts.pattern.source}` : `self=${hosts.names.join(' ')}`;
}

/** The vendor calls an application "reporting" that sent anything in the last ten minutes. */
const reportingMemoryMs = 10 * 60_000;

/**
 * Whether asking for throughput can bring anything: not when the application has been silent for
 * all of the time that the window covers.
 */
export function isWorthPolling({ application, entry }: SelectedApplication): boolean {
  if (application.reporting !== false) return true;
  const { window, delayMs } = entry.poll;
  return window.kind === 'vendor_default' || window.lengthMs + delayMs > reportingMemoryMs;
}

/** The hosts to ask for. */
export function hostsToPoll({
  application,
  entry,
  namedHostIds,
}: SelectedApplication): readonly string[] {
  if (typeof entry.hosts === 'object') return namedHostIds ?? [];
  return entry.hosts ? (application.hostIds ?? []) : [];
}

/** How many hosts there will be to ask for: the host of this process is taken to be there at first. */
export function expectedHosts(selected: SelectedApplication): number {
  const { hosts } = selected.entry;
  const isUnknown = selected.namedHostIds === undefined;
  if (isUnknown && typeof hosts === 'object' && hosts.kind === 'self') return 1;
  return hostsToPoll(selected).length;
}

/** How the entry chooses hosts by their names; `undefined` if it does not. */
export function hostSelectorOf({ entry }: SelectedApplication): HostSelector | undefined {
  return typeof entry.hosts === 'object' ? entry.hosts : undefined;
}

/** The names that a list of hosts is to be restricted to; `undefined`: all of them are wanted. */
export function wantedHostNames(selected: SelectedApplication): readonly string[] | undefined {
  const selector = hostSelectorOf(selected);
  return selector?.kind === 'self' ? selector.names : undefined;
}

/**
 * The application with the hosts that its entry chooses by the names that are known. A discovery that
 * lists hosts knows best which of them there are.
 */
export function withNamedHosts(
  { application, entry }: SelectedApplication,
  names: ReadonlyMap<string, string>,
): SelectedApplication {
  const selector = hostSelectorOf({ application, entry });
  if (selector === undefined) return { application, entry };
  const ids = application.hostIds ?? [...names.keys()];
  const namedHostIds = ids.filter((id) => {
    const name = names.get(id);
    return name !== undefined && choosesHost(selector, name);
  });
  return { application, entry, namedHostIds };
}

/**
 * Adds the hosts that the entry chooses out of new names to those that the application has: the list
 * of host names may be newer than the last discovery.
 */
export function withNewHosts(
  selected: SelectedApplication,
  names: ReadonlyMap<string, string> | undefined,
): SelectedApplication {
  const { application } = selected;
  const selector = hostSelectorOf(selected);
  if (selector?.kind !== 'self' || names === undefined || application.hostIds === undefined) {
    return selected;
  }
  const listed = new Set(application.hostIds);
  const found = [...names].filter(([id, name]) => !listed.has(id) && choosesHost(selector, name));
  if (found.length === 0) return selected;
  const hostIds = [...application.hostIds, ...found.map(([id]) => id)];
  return { ...selected, application: { ...application, hostIds } };
}
