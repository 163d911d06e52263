import type { PollOutcome } from '../model/poll-outcome.ts';
import type { Values } from '../model/polled-series.ts';
import {
  choosesHost,
  hostChoiceOf,
  hostSelectorOf,
  type SelectedApplication,
  wantsHostNames,
} from '../model/selected-application.ts';
import type { AppReading } from '../model/snapshot.ts';

/** What is known about the host names of one application. */
export interface HostNameState {
  readonly names: ReadonlyMap<string, string>;
  readonly askedFor: ReadonlySet<string>;
  /** When to ask again even if no new host appears, because a name is missing. */
  readonly askAgainMs: number | undefined;
  /** Answers in a row that left a host without a name. */
  readonly incompleteAnswers: number;
}

/** Before anything was asked for. */
export const noHostNames: HostNameState = {
  names: new Map(),
  askedFor: new Set(),
  askAgainMs: undefined,
  incompleteAnswers: 0,
};

const waitAfterFailureMs = 10 * 60_000;
/**
 * A new host appears in the vendor's list some minutes after its start. A little less than a minute, so that
 * the next poll asks.
 */
const firstWaitMs = 50_000;
/** Some hosts never get a name, and that of this process may have another one there. */
const longestWaitMs = 3_600_000;

/** The hosts whose names matter; `undefined` if it is not known which hosts there are. */
function hostsToName({ application, entry }: SelectedApplication): readonly string[] | undefined {
  return hostChoiceOf(entry) === false ? [] : application.hostIds;
}

/**
 * Whether to ask for host names: only when a host appears whose name was never asked for, or to ask again.
 *
 * @param reading what is shown of the application
 */
export function shouldAskHostNames(
  hostNames: HostNameState,
  selected: SelectedApplication,
  reading: AppReading | undefined,
  nowMs: number,
): boolean {
  const selector = hostSelectorOf(selected);
  if (!wantsHostNames(selected.entry)) return false;
  if (hostNames.askAgainMs !== undefined && nowMs >= hostNames.askAgainMs) return true;
  if (selector?.kind === 'self') {
    const known = selected.namedHostIds ?? [];
    if (known.length === 0 && hostNames.askAgainMs === undefined) return true;
    // Other hosts come and go. A known host that has calls is the right one.
    if (known.some((id) => hasCalls(reading?.hosts.get(id)))) return false;
  }
  return (hostsToName(selected) ?? []).some((id) => !hostNames.askedFor.has(id));
}

/** The vendor may report 0 for a host that has ended, as long as it lists it. */
function hasCalls(values: Values | undefined): boolean {
  return values?.some((value) => value !== undefined && value > 0) === true;
}

export function hostNamesAfter(
  known: HostNameState,
  selected: SelectedApplication,
  { hostNames, hostNamesError }: Pick<PollOutcome, 'hostNames' | 'hostNamesError'>,
  now: { readonly monotonicMs: number },
): HostNameState {
  const askedFor = new Set(hostsToName(selected) ?? (hostNames ?? known.names).keys());
  const names = [...askedFor].flatMap((id): [string, string][] => {
    const name = hostNames?.get(id) ?? known.names.get(id);
    return name === undefined ? [] : [[id, name]];
  });
  const complete = { names: new Map(names), askedFor, askAgainMs: undefined, incompleteAnswers: 0 };
  if (isComplete(selected, complete)) return complete;
  // Names that came before a failure are kept, but say nothing about the rest.
  if (hostNames === undefined || hostNamesError !== undefined) {
    // Where hosts are chosen by name, it is not known which to poll: the next poll asks again.
    const waitMs = hostSelectorOf(selected) === undefined ? waitAfterFailureMs : 0;
    const { incompleteAnswers } = known;
    return { ...complete, askAgainMs: now.monotonicMs + waitMs, incompleteAnswers };
  }
  // The vendor may learn a name a little later than the host, or never.
  const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** known.incompleteAnswers);
  const incompleteAnswers = known.incompleteAnswers + 1;
  return { ...complete, askAgainMs: now.monotonicMs + waitMs, incompleteAnswers };
}

/** Whether there is nothing more to find out. */
function isComplete(selected: SelectedApplication, { names, askedFor }: HostNameState): boolean {
  const selector = hostSelectorOf(selected);
  if (selector?.kind !== 'self') return names.size === askedFor.size;
  return [...names.values()].some((name) => choosesHost(selector, name));
}
