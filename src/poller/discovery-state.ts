import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { AppEntry, Selector } from '../model/config.ts';
import { isWorthPolling } from '../model/selected-application.ts';
import { selectorText } from '../model/selector.ts';
import type { Discovery, Source } from '../model/source.ts';
import type { AppState } from './app-state.ts';

/** How the discovery of the account fares. */
export interface DiscoveryState {
  /** Whether the last one succeeded; `undefined` before the first one ended. */
  readonly up: boolean | undefined;
  readonly error: Error | undefined;
  /** Whether the vendor ever answered, with a list, a part of one, or an HTTP error. */
  readonly answered: boolean;
  /** Monotonic time of the first failure since the last complete one. */
  readonly failingSinceMs: number | undefined;
  /** The entries that choose nothing; the same list as before as long as it says the same. */
  readonly missing: readonly AppEntry[];
  /** Their selectors as written; likewise. */
  readonly missingSelectors: readonly string[];
}

export const initialDiscovery: DiscoveryState = {
  up: undefined,
  error: undefined,
  answered: false,
  failingSinceMs: undefined,
  missing: [],
  missingSelectors: [],
};

/** @param missing the entries that choose nothing, if the discovery can tell */
export function discoveryAfter(
  before: DiscoveryState,
  { applications, complete, error }: Discovery,
  missing: readonly AppEntry[] | undefined,
  nowMs: number,
): DiscoveryState {
  return {
    up: complete,
    error: complete ? undefined : error,
    answered: before.answered || complete || applications.length > 0 || hasStatus(error),
    failingSinceMs: complete ? undefined : (before.failingSinceMs ?? nowMs),
    ...missingAfter(before, missing),
  };
}

/** With ten thousand of them, whoever shows or logs them sees by the list alone that nothing changed. */
function missingAfter(
  { missing, missingSelectors }: DiscoveryState,
  next: readonly AppEntry[] | undefined,
): Pick<DiscoveryState, 'missing' | 'missingSelectors'> {
  const selectors = next?.map(({ selector }) => selectorText(selector));
  const isSame =
    selectors?.length === missingSelectors.length &&
    selectors.every((selector, index) => selector === missingSelectors[index]);
  if (next === undefined || selectors === undefined || isSame) return { missing, missingSelectors };
  return { missing: next, missingSelectors: selectors };
}

/** Whether what the discovery once said of an application is too old to be shown. */
export function isDiscoveryStale(
  { failingSinceMs }: DiscoveryState,
  { selected, discoveredMs }: Pick<AppState, 'selected' | 'discoveredMs'>,
  nowMs: number,
): boolean {
  if (failingSinceMs === undefined) return false;
  return nowMs - Math.max(failingSinceMs, discoveredMs) >= selected.entry.poll.staleAfterMs;
}

function hasStatus(error: Error | undefined): boolean {
  return error instanceof ApiError && error.status !== undefined;
}

/** The vendor refused the key (401, 403): asking on before that changes would be a storm. */
export function isUnauthorized(error: Error | undefined): error is ApiError {
  return error instanceof ApiError && error.reason === 'auth';
}

/**
 * The entries that show nothing because the host of this process, which is all that they are to show,
 * is not known to the vendor. Those that were not looked for yet are not among them.
 */
export function hostlessEntries(states: Iterable<AppState>): readonly AppEntry[] {
  const hasHost = new Map<AppEntry, boolean>();
  for (const state of states) {
    const { entry } = state.selected;
    if (!entry.application && typeof entry.hosts === 'object' && entry.hosts.kind === 'self') {
      hasHost.set(entry, (hasHost.get(entry) ?? false) || mayHaveHost(state));
    }
  }
  return [...hasHost].flatMap(([entry, hasOne]) => (hasOne ? [] : entry));
}

function mayHaveHost({ pollsEnded, selected, failedSinceMs, hostNames }: AppState): boolean {
  // One of a silent application is not even asked for; one that has just gone may be back by another id.
  const isNotFound = hostNames.incompleteAnswers > 0 || !isWorthPolling(selected);
  const isLookedFor = pollsEnded > 0 && failedSinceMs.size === 0 && isNotFound;
  return !isLookedFor || (selected.namedHostIds ?? []).length > 0;
}

/**
 * One discovery; one that takes too long is an incomplete one, with what it has found by then.
 * Rejects with the signal's reason.
 */
export async function discoverWithin(
  deadlineMs: number,
  { source, clock }: { readonly source: Pick<Source, 'discover'>; readonly clock: Clock },
  selectors: readonly Selector[],
  knownIds: readonly string[],
  signal: AbortSignal,
): Promise<Discovery> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const onAbort = (): void => {
    controller.abort(signal.reason);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  const cancelTimer = clock.after(deadlineMs, () => {
    controller.abort(deadlineError(deadlineMs));
  });
  try {
    return await source.discover(selectors, knownIds, controller.signal);
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', onAbort);
  }
}

function deadlineError(deadlineMs: number): ApiError {
  const seconds = Math.round(deadlineMs / 1000);
  return new ApiError(
    'timeout',
    `the discovery did not end within ${seconds} s: the vendor answers too slowly, or the budget is too small; what was found by then is used`,
  );
}
