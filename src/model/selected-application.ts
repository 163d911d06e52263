import type { Application } from './application.ts';
import type { AccountInUse, AppEntry, HostSelector } from './config.ts';
import { own } from './own.ts';
import { isReadOf } from './polled-series.ts';
import { type DaemonOperation, operationNames } from './telemetry.ts';
import { minuteMs } from './time.ts';

/** An application together with the entry that chose it. */
export interface SelectedApplication {
  readonly application: Application;
  readonly entry: AppEntry;
  /** The hosts that the entry chooses by their names, as far as these are known. */
  readonly namedHostIds?: readonly string[] | undefined;
}

/** Whether the selector chooses a host with this name. The case of letters does not matter. */
export function choosesHost(selector: HostSelector, hostName: string): boolean {
  if (selector.kind === 'match') {
    const { pattern, exclude } = selector;
    return pattern?.test(hostName) !== false && exclude?.test(hostName) !== true;
  }
  const lowerCase = hostName.toLowerCase();
  return selector.names.some((name) => name.toLowerCase() === lowerCase);
}

/** The same for choices of the same hosts: compiled patterns are compared by their source. */
export function hostChoiceText(hosts: boolean | HostSelector): string {
  if (typeof hosts === 'boolean') return String(hosts);
  if (hosts.kind === 'self') return `self=${hosts.names.join(' ')}`;
  return JSON.stringify([hosts.pattern?.source, hosts.exclude?.source]);
}

/** The vendor calls an application "reporting" if it sent anything in the last ten minutes. */
const reportingMemoryMs = 10 * minuteMs;

/**
 * Whether a poll can bring any values: not if the application has been silent for the whole window.
 */
export function isWorthPolling({ application, entry }: SelectedApplication): boolean {
  if (application.reporting !== false) return true;
  const { window, delayMs } = entry.poll;
  return window.kind === 'vendor_default' || window.lengthMs + delayMs > reportingMemoryMs;
}

/** Whether the vendor said which tags it has, and this one is not among them. */
function lacksTag({ application: { tags } }: SelectedApplication, tag: string): boolean {
  return tags !== undefined && !Object.hasOwn(tags, tag);
}

/** The tags of which no application has a value that asks for them. */
export function tagsWithoutValue(all: readonly SelectedApplication[]): readonly string[] {
  const asked = new Map<string, boolean>();
  for (const one of all) {
    for (const tag of Object.keys(one.entry.poll.tags ?? {})) {
      asked.set(tag, (asked.get(tag) ?? true) && lacksTag(one, tag));
    }
  }
  return [...asked].flatMap(([tag, isMissing]) => (isMissing ? tag : []));
}

/**
 * The labels of every series: those of the entry, and tags. In place of a tag that the application lacks stands
 * the label of the account, or an empty one.
 */
export function labelsOf({ application, entry }: SelectedApplication): AppEntry['labels'] {
  const { tags } = entry.poll;
  if (tags === undefined) return entry.labels;
  const ofTags = Object.entries(tags).map(([tag, label]) => [
    label,
    own(application.tags ?? {}, tag) ?? own(entry.labels, label) ?? '',
  ]);
  return { ...entry.labels, ...Object.fromEntries(ofTags) };
}

/** Whether a poll asks for values of the application as a whole. */
export function asksForApplication({ entry }: Pick<SelectedApplication, 'entry'>): boolean {
  return entry.application && entry.series.some((series) => isReadOf('applications', series));
}

/** Which hosts a poll asks for: none if all metrics of the entry are those of applications. */
export function hostChoiceOf({ hosts, series }: AppEntry): AppEntry['hosts'] {
  return series.some((one) => isReadOf('hosts', one)) ? hosts : false;
}

export function hostsToPoll({
  application,
  entry,
  namedHostIds,
}: SelectedApplication): readonly string[] {
  const choice = hostChoiceOf(entry);
  if (typeof choice === 'object') return namedHostIds ?? [];
  return choice ? (application.hostIds ?? []) : [];
}

/**
 * How many hosts there will be to poll. The host of this process counts as one until it was looked
 * up.
 */
export function expectedHosts(selected: SelectedApplication): number {
  const hosts = hostChoiceOf(selected.entry);
  const isUnknown = selected.namedHostIds === undefined;
  if (isUnknown && typeof hosts === 'object' && hosts.kind === 'self') return 1;
  const { hostIds, hostCount = 0 } = selected.application;
  return hostIds === undefined && hosts === true ? hostCount : hostsToPoll(selected).length;
}

/** How the entry chooses hosts by their names; `undefined` if it does not. */
export function hostSelectorOf({ entry }: SelectedApplication): HostSelector | undefined {
  const choice = hostChoiceOf(entry);
  return typeof choice === 'object' ? choice : undefined;
}

/** Whether its hosts are shown by their names: those that are chosen by their names always are. */
export function wantsHostNames({ hosts, poll }: AppEntry): boolean {
  return poll.hostNames || typeof hosts === 'object';
}

/** What New Relic is asked for of an account: counters of nothing else begin at 0. */
export function operationsOf({
  account: { source },
  entries,
  queries = [],
}: AccountInUse): readonly DaemonOperation[] {
  const polled = entries.filter(({ exclude }) => !exclude);
  const asks: Readonly<Record<DaemonOperation, boolean>> = {
    // NerdGraph also says in a list whether a key sees the account of a query that fails.
    list_applications: true,
    // Hosts of NerdGraph have no other names than those in its values.
    list_hosts:
      source.kind === 'rest' &&
      polled.some((entry) => hostChoiceOf(entry) !== false && wantsHostNames(entry)),
    application_metrics: polled.some((entry) => asksForApplication({ entry })),
    host_metrics: polled.some((entry) => hostChoiceOf(entry) !== false),
    query: queries.length > 0,
  };
  return operationNames.filter((operation) => asks[operation]);
}

/** The names to restrict a list of hosts to; `undefined` if all hosts are wanted. */
export function wantedHostNames(selected: SelectedApplication): readonly string[] | undefined {
  const selector = hostSelectorOf(selected);
  return selector?.kind === 'self' ? selector.names : undefined;
}

/**
 * The application with the hosts that its entry chooses by known names. If the discovery lists
 * hosts, only those that it lists.
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
 * Adds the hosts that the entry chooses by new names to the hosts of the application: the list of
 * host names may be newer than the last discovery.
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
