import type { Application } from '../model/application.ts';
import type { Clock } from '../model/clock.ts';
import type { AppEntry } from '../model/config.ts';
import type { PollOutcome } from '../model/poll-outcome.ts';
import { isWorthPolling, type SelectedApplication } from '../model/selected-application.ts';
import type { Discovery, Question, Source } from '../model/source.ts';
import { discoverWithin } from '../poller/discovery-state.ts';
import { longestDiscoveryMs } from './account-discovery.ts';
import {
  isObjection,
  type JoinedLists,
  joinedLists,
  type OfBoth,
  type OneSidedApplication,
  type RenamedApplication,
} from './compare-lists.ts';
import { pollOnce } from './compare-polls.ts';
import { type ComparedValue, comparedValues } from './compare-values.ts';
import { countOf } from './one-shot.ts';

/** What both APIs say of one account. */
export interface ComparedAccount {
  readonly kind: 'compared';
  readonly account: string;
  readonly applications: OfBoth<number>;
  readonly oneSided: readonly OneSidedApplication[];
  readonly renamed: readonly RenamedApplication[];
  /** Hosts that are listed for the applications that both lists have. */
  readonly hosts: OfBoth<number>;
  /** Calls that were sent, retries included. */
  readonly calls: OfBoth<number>;
  readonly elapsedMs: OfBoth<number>;
  readonly values: readonly ComparedValue[];
}

/** An account that could not be compared, and why. */
export interface UncomparedAccount {
  readonly kind: 'not compared';
  readonly account: string;
  readonly reason: string;
}

export type AccountComparison = ComparedAccount | UncomparedAccount;

/** An API of the vendor, open for one account. */
export interface OpenApi {
  readonly source: Source;
  /** Calls that were sent so far. */
  calls(): number;
}

export interface ToCompare extends OfBoth<OpenApi> {
  readonly account: string;
  readonly entries: readonly AppEntry[];
  readonly concurrency: number;
}

export interface CompareAccountDependencies {
  readonly clock: Clock;
  /** The vendor's wall time. */
  readonly wallMs: () => number;
  readonly signal: AbortSignal;
}

/**
 * Discovers the account and polls what its entries choose, once with NerdGraph and then with REST.
 * Rejects with the signal's reason.
 */
export async function compareAccount(
  toCompare: ToCompare,
  dependencies: CompareAccountDependencies,
): Promise<AccountComparison> {
  const { account, entries } = toCompare;
  const { clock } = dependencies;
  const nerdgraph = await timed(clock, async () =>
    discovered(toCompare.nerdgraph, entries, dependencies),
  );
  const rest = await timed(clock, async () => discovered(toCompare.rest, entries, dependencies));
  const reason = failureOf('REST', rest.result) ?? failureOf('NerdGraph', nerdgraph.result);
  if (reason !== undefined) return { kind: 'not compared', account, reason };

  const lists = joinedLists(entries, { rest: rest.result, nerdgraph: nerdgraph.result });
  const doubt = doubtAboutAccount(lists);
  if (doubt !== undefined) return { kind: 'not compared', account, reason: doubt };
  const polled = await pollTwice(toCompare, lists.pairs, dependencies);
  return {
    kind: 'compared',
    account,
    applications: lists.applications,
    hosts: lists.hosts,
    oneSided: lists.oneSided,
    renamed: lists.renamed,
    calls: { rest: toCompare.rest.calls(), nerdgraph: toCompare.nerdgraph.calls() },
    elapsedMs: {
      rest: rest.elapsedMs + polled.elapsedMs.rest,
      nerdgraph: nerdgraph.elapsedMs + polled.elapsedMs.nerdgraph,
    },
    values: polled.values,
  };
}

interface Timed<Result> {
  readonly result: Result;
  readonly elapsedMs: number;
}

async function timed<Result>(clock: Clock, work: () => Promise<Result>): Promise<Timed<Result>> {
  const startMs = clock.monotonicMs();
  const result = await work();
  return { result, elapsedMs: clock.monotonicMs() - startMs };
}

async function discovered(
  { source }: OpenApi,
  entries: readonly AppEntry[],
  { clock, signal }: CompareAccountDependencies,
): Promise<Discovery> {
  const selectors = entries.map(({ selector }) => selector);
  return discoverWithin(longestDiscoveryMs, { source, clock }, selectors, [], signal);
}

function failureOf(api: string, { complete, error }: Discovery): string | undefined {
  if (complete) return undefined;
  return `the discovery with ${api} failed: ${error?.message ?? 'no answer'}`;
}

/** Lists without anything in common are hardly of the same account. */
function doubtAboutAccount({ applications, pairs, oneSided }: JoinedLists): string | undefined {
  if (pairs.length > 0 || !oneSided.some(isObjection)) return undefined;
  const { rest, nerdgraph } = applications;
  const lists = `the lists of REST (${countOf(rest, 'application')}) and NerdGraph (${nerdgraph}) have nothing in common`;
  return `${lists}: check account_id, which must be that of the account of the API key, and whether the user of the key may see the account`;
}

interface Polled {
  readonly values: readonly ComparedValue[];
  readonly elapsedMs: OfBoth<number>;
}

/** Asks about applications that are worth it by at least one list, as the daemon decides it. */
async function pollTwice(
  { account, concurrency, rest, nerdgraph }: ToCompare,
  pairs: readonly OfBoth<SelectedApplication>[],
  { clock, wallMs, signal }: CompareAccountDependencies,
): Promise<Polled> {
  const worth = pairs.filter((pair) => isWorthPolling(pair.rest) || isWorthPolling(pair.nerdgraph));
  const options = { wallMs: wallMs(), concurrency, signal };
  const ofNerdgraph = await timed(clock, async () => {
    const questions = worth.map((pair) => questionOf(pair.nerdgraph.application, pair.rest.entry));
    return pollOnce(nerdgraph.source, questions, options);
  });
  const ofRest = await timed(clock, async () => {
    const questions = worth.map((pair) => questionOf(pair.rest.application, pair.rest.entry));
    return pollOnce(rest.source, questions, options);
  });
  const values = worth.flatMap(({ rest: { application, entry } }) => {
    const outcomes = {
      rest: outcomeOf(ofRest.result, application),
      nerdgraph: outcomeOf(ofNerdgraph.result, application),
    };
    return comparedValues({ account, application, entry, ...outcomes });
  });
  return { values, elapsedMs: { rest: ofRest.elapsedMs, nerdgraph: ofNerdgraph.elapsedMs } };
}

function outcomeOf(
  outcomes: ReadonlyMap<string, PollOutcome>,
  { id }: Pick<Application, 'id'>,
): PollOutcome {
  const outcome = outcomes.get(id);
  if (outcome === undefined) throw new Error(`the source left out the application ${id}`);
  return outcome;
}

/** By then late data has arrived, and both APIs answer from the same. */
const settledAfterMs = 10 * 60_000;
/** As long as the window that REST has by default, which NerdGraph does not have. */
const defaultLengthMs = 30 * 60_000;

/** Asks for the names of the hosts as well: they are what both APIs have in common. */
function questionOf(application: Application, entry: AppEntry): Question {
  const { window, delayMs } = entry.poll;
  const poll = {
    ...entry.poll,
    window:
      window.kind === 'range' ? window : { kind: 'range' as const, lengthMs: defaultLengthMs },
    delayMs: Math.max(delayMs, settledAfterMs),
  };
  return {
    selected: { application, entry: { ...entry, poll } },
    askHostNames: entry.hosts !== false,
    hostNames: new Map(),
    isListed: () => true,
  };
}
