import type { SelectedApplication } from '../model/selector.ts';
import { hostsToPoll } from './demand.ts';
import type { PollOutcome } from './poll-outcome.ts';

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

/** Host names are asked for only when a host appears whose name was never asked for. */
export function shouldAskHostNames(
  {
    selected,
    hostNames,
  }: { readonly selected: SelectedApplication; readonly hostNames: HostNameState },
  nowMs: number,
): boolean {
  if (!selected.entry.poll.hostNames) return false;
  if (hostNames.askAgainMs !== undefined && nowMs >= hostNames.askAgainMs) return true;
  return hostsToPoll(selected).some((id) => !hostNames.askedFor.has(id));
}

/** What is known after a poll that asked for the names of these hosts. */
export function hostNamesAfter(
  known: HostNameState,
  hostIds: readonly string[],
  { hostNames, hostNamesError }: Pick<PollOutcome, 'hostNames' | 'hostNamesError'>,
  now: { readonly monotonicMs: number },
): HostNameState {
  const askedFor = new Set(hostIds);
  const names = [...askedFor].flatMap((id): [string, string][] => {
    const name = hostNames?.get(id) ?? known.names.get(id);
    return name === undefined ? [] : [[id, name]];
  });
  const complete = { names: new Map(names), askedFor, askAgainMs: undefined, incompleteAnswers: 0 };
  if (names.length === askedFor.size) return complete;
  // What came before a failure is kept, and says nothing of the rest.
  if (hostNames === undefined || hostNamesError !== undefined) {
    const { incompleteAnswers } = known;
    return { ...complete, askAgainMs: now.monotonicMs + askNamesAgainAfterMs, incompleteAnswers };
  }
  // The vendor may come to know a name a little later than the host, or never.
  const incompleteAnswers = known.incompleteAnswers + 1;
  const waitMs = askNamesAgainAfterMs * 2 ** (incompleteAnswers - 1);
  const askAgainMs = now.monotonicMs + Math.min(longestWaitForNamesMs, waitMs);
  return { ...complete, askAgainMs, incompleteAnswers };
}
