import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../model/api-error.ts';
import type { Now } from '../model/clock.ts';
import type { AccountInUse, AppEntry } from '../model/config.ts';
import type { QueryOutcome } from '../model/poll-outcome.ts';
import { isWorthPolling } from '../model/selected-application.ts';
import { polledBy, selectorText } from '../model/selector.ts';
import type { Discovery, Wanted } from '../model/source.ts';
import { hourMs } from '../model/time.ts';
import type { AppState } from './app-state.ts';
import type { DiscoveryChange } from './reconcile.ts';

/** Whether New Relic answers what is asked again and again: lists, or where there are none, queries. */
export interface AskedState {
  /** Whether the last list, or one of the last two queries, succeeded; `undefined` before the first one ended. */
  readonly up: boolean | undefined;
  readonly error: Error | undefined;
  /** Monotonic time at which the last failures ended; `undefined` if there were none. */
  readonly recoveredMs: number | undefined;
}

export const neverAsked: AskedState = { up: undefined, error: undefined, recoveredMs: undefined };

function recoveredAfter({ up, recoveredMs }: AskedState, isUp: boolean, nowMs: number) {
  return isUp && up === false ? nowMs : recoveredMs;
}

/** Whether New Relic answers queries. Where it has answered, only two failures in a row count. */
export function askedAfterQuery(
  before: AskedState,
  outcome: QueryOutcome,
  nowMs: number,
): AskedState {
  const { error, unauthorized } = outcome;
  // What is wrong with a query is an answer, and so is NerdGraph's own failure, without a status of HTTP.
  const isAnswer =
    [undefined, 'client', 'too_large', 'schema'].includes(error?.reason) ||
    (error?.reason === 'server' && error.status === undefined);
  const isUp = isAnswer && !unauthorized;
  const up = isUp || (before.up === true && before.error === undefined);
  const recoveredMs = recoveredAfter(before, up, nowMs);
  return { up, error: isUp ? undefined : error, recoveredMs };
}

/** What is known about the discoveries of an account. */
export interface DiscoveryState extends AskedState {
  /** Wall time at which the last complete one ended. */
  readonly lastSuccessMs: number | undefined;
  /** How many applications the last complete one was told of. */
  readonly listed: number | undefined;
  /** How many of these entries exclude. */
  readonly excluded: number;
  /** Whether the vendor ever answered: with a list, a part of one, or an HTTP error. */
  readonly answered: boolean;
  /** Monotonic time of the first failure since the last complete discovery. */
  readonly failingSinceMs: number | undefined;
  /**
   * The selectors that choose nothing, as they were written. The array stays the same as long as
   * nothing in it changes.
   */
  readonly missingSelectors: readonly string[];
}

export const initialDiscovery: DiscoveryState = {
  ...neverAsked,
  lastSuccessMs: undefined,
  listed: undefined,
  excluded: 0,
  answered: false,
  failingSinceMs: undefined,
  missingSelectors: [],
};

/** @param found the entries that choose nothing, if the discovery can tell, and how many are excluded */
export function discoveryAfter(
  before: DiscoveryState,
  { applications, complete, error }: Discovery,
  { missing, excluded }: Pick<DiscoveryChange, 'missing' | 'excluded'>,
  now: Now,
): DiscoveryState {
  const status = error instanceof ApiError ? error.status : undefined;
  return {
    up: complete,
    error: complete ? undefined : error,
    lastSuccessMs: complete ? now.wallMs : before.lastSuccessMs,
    listed: complete ? applications.length : before.listed,
    excluded: complete ? excluded : before.excluded,
    answered: before.answered || complete || applications.length > 0 || status !== undefined,
    failingSinceMs: complete ? undefined : (before.failingSinceMs ?? now.monotonicMs),
    recoveredMs: recoveredAfter(before, complete, now.monotonicMs),
    missingSelectors: missingAfter(before.missingSelectors, missing),
  };
}

function missingAfter(
  before: readonly string[],
  missing: readonly AppEntry[] | undefined,
): readonly string[] {
  const selectors = missing?.map(({ selector }) => selectorText(selector));
  return selectors === undefined || isDeepStrictEqual(selectors, before) ? before : selectors;
}

/** Whether what a discovery last said about an application is too old to be shown. */
export function isDiscoveryStale(
  { failingSinceMs }: DiscoveryState,
  { selected, discoveredMs }: Pick<AppState, 'selected' | 'discoveredMs'>,
  nowMs: number,
): boolean {
  if (failingSinceMs === undefined) return false;
  return nowMs - Math.max(failingSinceMs, discoveredMs) >= selected.entry.poll.staleAfterMs;
}

/**
 * Whether the vendor refused the key (401, 403): until that changes, other calls would fail as
 * well.
 */
export function isUnauthorized(error: Error | undefined): error is ApiError {
  return error instanceof ApiError && error.reason === 'auth';
}

/**
 * The entries that would show only the host of this process, and show nothing because the vendor
 * does not know it. A host that was not looked for yet does not count.
 */
export function entriesWithoutHost(states: Iterable<AppState>): readonly AppEntry[] {
  const hasHost = new Map<AppEntry, boolean>();
  for (const state of states) {
    const { entry } = state.selected;
    if (!entry.application && typeof entry.hosts === 'object' && entry.hosts.kind === 'self') {
      hasHost.set(entry, (hasHost.get(entry) ?? false) || mayHaveHost(state));
    }
  }
  return [...hasHost].flatMap(([entry, hasOne]) => (hasOne ? [] : entry));
}

function mayHaveHost({ pollsEnded, selected, failing }: AppState): boolean {
  // The host of a silent application is not looked up.
  const isUnknown = selected.namedHostIds === undefined && isWorthPolling(selected);
  const isFound = (selected.namedHostIds ?? []).length > 0;
  return isFound || isUnknown || pollsEnded === 0 || failing.size > 0;
}

/** What discoveries look for, and how often. */
export interface Sought extends Wanted {
  readonly intervalMs: number;
}

/** Where no list is asked for, there is nothing to do until a reload. */
const withoutListsMs = hourMs;

/** What to look for in an account with these entries. */
export function discoveryOptionsOf(entries: readonly AppEntry[]): Sought {
  const polled = polledBy(entries);
  const intervalsMs = new Set(polled.map(({ poll }) => poll.discoveryIntervalMs));
  return {
    selectors: polled.map(({ selector }) => selector),
    intervalMs: polled.length > 0 ? Math.min(...intervalsMs) : withoutListsMs,
    tags: taggedKeys(polled),
  };
}

/** Whether an account asks for lists of applications at all: not if it has nothing but queries. */
export function seeksAny(entries: readonly AppEntry[]): boolean {
  return entries.some(({ exclude }) => !exclude);
}

function taggedKeys(entries: readonly AppEntry[]): readonly string[] {
  return [...new Set(entries.flatMap(({ poll }) => Object.keys(poll.tags ?? {})))].toSorted();
}

/** Whether a discovery for one of them finds what the other one wants. */
export function wantSameApplications(left: AccountInUse, right: AccountInUse): boolean {
  return (
    isDeepStrictEqual(left.account.shard, right.account.shard) &&
    isDeepStrictEqual(taggedKeys(left.entries), taggedKeys(right.entries)) &&
    isDeepStrictEqual(selectorsOf(left.entries), selectorsOf(right.entries))
  );
}

/** As they were written: compiled patterns are compared by their source. */
function selectorsOf(entries: readonly AppEntry[]): readonly (readonly [boolean, string])[] {
  return entries.map(({ exclude, selector }) => [exclude, selectorText(selector)]);
}

/** What a discovery that looks for nothing finds. */
export const nothingToDiscover: Discovery = {
  applications: [],
  complete: true,
  unreadableIds: [],
  pendingIds: [],
  calls: 0,
  error: undefined,
};
