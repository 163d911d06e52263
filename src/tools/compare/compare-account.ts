import type { Application } from '../../model/application.ts';
import type { Clock } from '../../model/clock.ts';
import type { AppEntry } from '../../model/config.ts';
import type { PollOutcome } from '../../model/poll-outcome.ts';
import {
  asksForApplication,
  isWorthPolling,
  type SelectedApplication,
} from '../../model/selected-application.ts';
import { selectApplications } from '../../model/selector.ts';
import { countOf } from '../../model/shown-text.ts';
import type { Discovery, Question, Source } from '../../model/source.ts';
import { hourMs, minuteMs } from '../../model/time.ts';
import { pollUntilSettled } from '../../poll/account-poller.ts';
import type { Context } from '../../poll/context.ts';
import { discoverWithin } from '../../poll/discovery-state.ts';
import { longestDiscoveryMs } from '../account-discovery.ts';
import { pollOnce } from '../poll-once.ts';
import {
  type ComparedValue,
  comparedValues,
  isShort,
  type NamedHosts,
  namedHostsOf,
  type OfBoth,
  sumOf,
} from './compare-values.ts';

/** What both APIs say of one account. */
export interface ComparedAccount {
  readonly kind: 'compared';
  readonly account: string;
  readonly applications: OfBoth<number>;
  readonly oneSided: readonly OneSidedApplication[];
  readonly renamed: readonly RenamedApplication[];
  /** Whether values of whole applications are wanted. */
  readonly asksForApplications: boolean;
  /** Hosts by their names, of the applications that were polled. */
  readonly hosts: OfBoth<number>;
  /** The applications that NerdGraph has clearly fewer hosts of. */
  readonly shortOfHosts: readonly NamedHosts[];
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

/** An API of New Relic, open for one account. */
export interface OpenApi {
  readonly source: Source;
  readonly vendorClock: Context['vendorClock'];
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
  const { concurrency } = toCompare;
  const options = { wallMs: dependencies.wallMs(), concurrency, signal: dependencies.signal };
  const ask: Ask = async ({ source }, questions) =>
    timed(clock, async () =>
      pollUntilSettled(source, async () => pollOnce(source, questions, options)),
    );
  const { answers, elapsedMs } = await pollTwice(toCompare, lists.pairs, ask);
  const named = await countHosts(toCompare.nerdgraph, answers, ask);
  return {
    kind: 'compared',
    account,
    applications: lists.applications,
    asksForApplications: answers.some(({ selected }) => asksForApplication(selected.rest)),
    hosts: named.hosts,
    shortOfHosts: named.shortOfHosts,
    oneSided: lists.oneSided,
    renamed: lists.renamed,
    calls: { rest: toCompare.rest.calls(), nerdgraph: toCompare.nerdgraph.calls() },
    elapsedMs: {
      rest: rest.elapsedMs + elapsedMs.rest,
      nerdgraph: nerdgraph.elapsedMs + elapsedMs.nerdgraph + named.elapsedMs,
    },
    values: answers.flatMap(({ selected, ...outcomes }) =>
      comparedValues({ account, ...selected.rest, ...outcomes }),
    ),
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
  api: OpenApi,
  entries: readonly AppEntry[],
  { clock, signal }: CompareAccountDependencies,
): Promise<Discovery> {
  const selectors = entries.map(({ selector }) => selector);
  return discoverWithin(longestDiscoveryMs, { ...api, clock }, { selectors }, [], signal);
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

type Ask = (api: OpenApi, questions: readonly Question[]) => Promise<Timed<Outcomes>>;

type Outcomes = ReadonlyMap<string, PollOutcome>;

/** What both APIs answered about an application. */
interface Answered extends OfBoth<PollOutcome> {
  readonly selected: OfBoth<SelectedApplication>;
}

interface Polled {
  readonly answers: readonly Answered[];
  readonly elapsedMs: OfBoth<number>;
}

/** Asks about applications that are worth it by at least one list, as the daemon decides it. */
async function pollTwice(
  apis: OfBoth<OpenApi>,
  pairs: readonly OfBoth<SelectedApplication>[],
  ask: Ask,
): Promise<Polled> {
  const worth = pairs.filter((pair) => isWorthPolling(pair.rest) || isWorthPolling(pair.nerdgraph));
  const questions = (api: keyof OfBoth<unknown>): readonly Question[] =>
    worth.map((pair) => settledQuestion(pair[api].application, pair.rest.entry));
  const nerdgraph = await ask(apis.nerdgraph, questions('nerdgraph'));
  const rest = await ask(apis.rest, questions('rest'));
  const answers = worth.map((selected) => ({
    selected,
    rest: outcomeOf(rest.result, selected.rest.application),
    nerdgraph: outcomeOf(nerdgraph.result, selected.rest.application),
  }));
  return { answers, elapsedMs: { rest: rest.elapsedMs, nerdgraph: nerdgraph.elapsedMs } };
}

interface CountedHosts {
  readonly hosts: OfBoth<number>;
  readonly shortOfHosts: readonly NamedHosts[];
  readonly elapsedMs: number;
}

/**
 * Counts the hosts that the answers name. REST lists those of the last hour, so where NerdGraph is short
 * of them in the window, it is asked about that hour before this is held against it.
 */
async function countHosts(
  nerdgraph: OpenApi,
  answers: readonly Answered[],
  ask: Ask,
): Promise<CountedHosts> {
  const doubtful = answers.filter(
    (one) =>
      isShort(namedHostsOf(one.selected.rest.application, one)) &&
      one.selected.rest.application.reporting !== false &&
      one.nerdgraph.error === undefined,
  );
  const { result: ofLastHour, elapsedMs } = await ask(
    nerdgraph,
    doubtful.map(({ selected }) =>
      lastHourQuestion(selected.nerdgraph.application, selected.rest.entry),
    ),
  );
  const named = answers.map(({ selected, rest, nerdgraph: inWindow }) => {
    const { application } = selected.rest;
    return namedHostsOf(application, {
      rest,
      nerdgraph: ofLastHour.get(application.id) ?? inWindow,
    });
  });
  return {
    hosts: {
      rest: sumOf(named.map(({ rest }) => rest)) ?? 0,
      nerdgraph: sumOf(named.map((one) => one.nerdgraph)) ?? 0,
    },
    shortOfHosts: named.filter((one) => ofLastHour.has(one.id) && isShort(one)),
    elapsedMs,
  };
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
const settledAfterMs = 10 * minuteMs;
/** As long as the window that REST has by default, which NerdGraph does not have. */
const defaultLengthMs = 30 * minuteMs;
/** As long as REST lists a host that has ended. */
const listedAfterEndMs = hourMs;

/** Asks for the values of a window that both APIs have whole. */
function settledQuestion(application: Application, entry: AppEntry): Question {
  const { window, delayMs } = entry.poll;
  const lengthMs = window.kind === 'range' ? window.lengthMs : defaultLengthMs;
  return questionOf(application, entry, lengthMs, Math.max(delayMs, settledAfterMs));
}

/** Asks NerdGraph for what REST lists: the hosts of the last hour. */
function lastHourQuestion(application: Application, entry: AppEntry): Question {
  return questionOf(application, entry, listedAfterEndMs, 0);
}

/** Asks for the names of the hosts as well: they are what both APIs have in common. */
function questionOf(
  application: Application,
  entry: AppEntry,
  lengthMs: number,
  delayMs: number,
): Question {
  const poll = { ...entry.poll, window: { kind: 'range' as const, lengthMs }, delayMs };
  return {
    kind: 'application',
    selected: { application, entry: { ...entry, poll } },
    askHostNames: entry.hosts !== false,
    hostNames: new Map(),
    isListed: () => true,
  };
}

/** An application that the entries choose from one list only. */
export interface OneSidedApplication extends Pick<Application, 'id' | 'name' | 'reporting'> {
  /** `unclear`: the other list has it but could not read it, or was not asked for it alone yet. */
  readonly onlyIn: keyof OfBoth<unknown> | 'unclear';
}

/** Whether an application that only one list has matters: a silent one has no values. */
export function isObjection({ onlyIn, reporting }: OneSidedApplication): boolean {
  return onlyIn !== 'unclear' && reporting !== false;
}

/** An application that has another name in NerdGraph. */
export interface RenamedApplication extends OfBoth<string> {
  readonly id: string;
}

/** What the entries choose from both lists, joined by the id of the application. */
export interface JoinedLists {
  readonly applications: OfBoth<number>;
  /** The applications that both lists have. */
  readonly pairs: readonly OfBoth<SelectedApplication>[];
  readonly renamed: readonly RenamedApplication[];
  readonly oneSided: readonly OneSidedApplication[];
}

function joinedLists(
  entries: readonly AppEntry[],
  { rest, nerdgraph }: OfBoth<Discovery>,
): JoinedLists {
  const restOnes = chosenById(entries, rest);
  const nerdgraphOnes = chosenById(entries, nerdgraph);
  const pairs = [...restOnes].flatMap(([id, one]) => {
    const other = nerdgraphOnes.get(id);
    return other === undefined ? [] : [{ rest: one, nerdgraph: other }];
  });
  return {
    applications: { rest: restOnes.size, nerdgraph: nerdgraphOnes.size },
    pairs,
    renamed: pairs.flatMap(renamedOf),
    oneSided: [
      ...oneSidedOf('rest', restOnes, nerdgraphOnes, nerdgraph),
      ...oneSidedOf('nerdgraph', nerdgraphOnes, restOnes, rest),
    ],
  };
}

type ChosenById = ReadonlyMap<string, SelectedApplication>;

function chosenById(entries: readonly AppEntry[], { applications }: Discovery): ChosenById {
  const { selected } = selectApplications(entries, applications);
  return new Map(selected.map((one) => [one.application.id, one]));
}

function oneSidedOf(
  onlyIn: keyof OfBoth<unknown>,
  list: ChosenById,
  other: ChosenById,
  { pendingIds, unreadableIds }: Discovery,
): readonly OneSidedApplication[] {
  const unclear = new Set([...pendingIds, ...unreadableIds]);
  return [...list.values()]
    .filter(({ application }) => !other.has(application.id))
    .map(({ application: { id, name, reporting } }) => ({
      id,
      name,
      reporting,
      onlyIn: unclear.has(id) ? 'unclear' : onlyIn,
    }));
}

function renamedOf(pair: OfBoth<SelectedApplication>): readonly RenamedApplication[] {
  const { id, name: rest } = pair.rest.application;
  const { name: nerdgraph } = pair.nerdgraph.application;
  return rest === nerdgraph ? [] : [{ id, rest, nerdgraph }];
}
