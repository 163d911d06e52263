import type { PollOutcome } from '../model/poll-outcome.ts';
import {
  choosesHost,
  hostSelectorOf,
  type SelectedApplication,
} from '../model/selected-application.ts';
import type { AppReading, Throughput } from '../model/snapshot.ts';

/** Host ids and names as far as they were asked for. */
export interface HostNameState {
  readonly names: ReadonlyMap<string, string>;
  readonly askedFor: ReadonlySet<string>;
  /** When to ask again although no new host appeared, because a name is missing. */
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

const askNamesAgainAfterMs = 10 * 60_000;
/** There are hosts whose name never comes. */
const longestWaitForNamesMs = 2 * 3_600_000;
/** A new host appears in the vendor's list some minutes after its start: the poll after a minute asks. */
const askForSelfAgainAfterMs = 50_000;
/** It may have another name there. */
const longestWaitForSelfMs = 30 * 60_000;

/** The hosts whose names matter; `undefined` if it is not known which hosts there are. */
function hostsToName({ application, entry }: SelectedApplication): readonly string[] | undefined {
  return entry.hosts === false ? [] : application.hostIds;
}

/** Host names are asked for only when a host appears whose name was never asked for. */
export function shouldAskHostNames(
  {
    selected,
    hostNames,
    reading,
  }: {
    readonly selected: SelectedApplication;
    readonly hostNames: HostNameState;
    readonly reading: AppReading | undefined;
  },
  nowMs: number,
): boolean {
  const selector = hostSelectorOf(selected);
  if (selector === undefined && !selected.entry.poll.hostNames) return false;
  if (hostNames.askAgainMs !== undefined && nowMs >= hostNames.askAgainMs) return true;
  if (selector?.kind === 'self') {
    const known = selected.namedHostIds ?? [];
    if (known.length === 0 && hostNames.askAgainMs === undefined) return true;
    // Other hosts come and go; one that has calls is the one that is meant.
    if (known.some((id) => hasCalls(reading?.hosts.get(id)))) return false;
  }
  return (hostsToName(selected) ?? []).some((id) => !hostNames.askedFor.has(id));
}

/** For a host that has ended, the vendor may say 0 as long as it lists it. */
function hasCalls(throughput: Throughput | undefined): boolean {
  return [...(throughput?.values() ?? [])].some((perMinute) => perMinute > 0);
}

/** What is known after a poll of the application that asked for names. */
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
  // What came before a failure is kept, and says nothing of the rest.
  if (hostNames === undefined || hostNamesError !== undefined) {
    const { incompleteAnswers } = known;
    // Without names it is not known which hosts to poll: then the next poll asks again.
    const waitMs = hostSelectorOf(selected) === undefined ? askNamesAgainAfterMs : 0;
    return { ...complete, askAgainMs: now.monotonicMs + waitMs, incompleteAnswers };
  }
  // The vendor may come to know a name a little later than the host, or never.
  const incompleteAnswers = known.incompleteAnswers + 1;
  const waitMs = waitAfter(incompleteAnswers, selected);
  return { ...complete, askAgainMs: now.monotonicMs + waitMs, incompleteAnswers };
}

/** Whether there is nothing more to find out. */
function isComplete(
  selected: SelectedApplication,
  { names, askedFor }: Pick<HostNameState, 'names' | 'askedFor'>,
): boolean {
  const selector = hostSelectorOf(selected);
  if (selector?.kind !== 'self') return names.size === askedFor.size;
  return [...names.values()].some((name) => choosesHost(selector, name));
}

function waitAfter(incompleteAnswers: number, selected: SelectedApplication): number {
  const isSelf = hostSelectorOf(selected)?.kind === 'self';
  const [firstMs, longestMs] = isSelf
    ? [askForSelfAgainAfterMs, longestWaitForSelfMs]
    : [askNamesAgainAfterMs, longestWaitForNamesMs];
  return Math.min(longestMs, firstMs * 2 ** (incompleteAnswers - 1));
}
