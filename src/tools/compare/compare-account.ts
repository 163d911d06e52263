import type { Application } from '../../model/application.ts';
import type { AppEntry } from '../../model/config.ts';
import type { PollOutcome } from '../../model/poll-outcome.ts';
import {
  asksForApplication,
  isWorthPolling,
  type SelectedApplication,
} from '../../model/selected-application.ts';
import { countOf } from '../../model/shown-text.ts';
import type { ApplicationQuestion, Discovery } from '../../model/source.ts';
import { hourMs, minuteMs } from '../../model/time.ts';
import { pollUntilSettled } from '../../poll/account-poller.ts';
import { type OpenAccount } from '../survey/ask.ts';
import { selectApplications } from '../survey/selection.ts';
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

/**
 * Discovers the account and polls what its entries choose, once with NerdGraph and then with REST.
 * Rejects with the reason of a stop.
 */
export async function compareAccount(apis: OfBoth<OpenAccount>): Promise<AccountComparison> {
  const { rest, nerdgraph } = apis;
  const { entries, account } = rest;
  const notCompared = (reason: string): UncomparedAccount => ({
    kind: 'not compared',
    account: account.name,
    reason,
  });
  const elapsedMs = { rest: 0, nerdgraph: 0 };
  const timed = async <Result>(
    api: keyof OfBoth<unknown>,
    work: (open: OpenAccount) => Promise<Result>,
  ): Promise<Result> => {
    const { clock } = rest.platform;
    const startMs = clock.monotonicMs();
    const result = await work(apis[api]);
    elapsedMs[api] += clock.monotonicMs() - startMs;
    return result;
  };

  const selectors = entries.map(({ selector }) => selector);
  const discover = async (open: OpenAccount): Promise<Discovery> => open.discover({ selectors });
  const discoveries = {
    nerdgraph: await timed('nerdgraph', discover),
    rest: await timed('rest', discover),
  };
  for (const [api, name] of [['rest', 'REST'] as const, ['nerdgraph', 'NerdGraph'] as const]) {
    const { complete, error } = discoveries[api];
    const reason = error?.message ?? 'no answer';
    if (!complete) return notCompared(`the discovery with ${name} failed: ${reason}`);
  }
  const lists = joinedLists(entries, discoveries);
  const doubt = doubtAboutAccount(lists);
  if (doubt !== undefined) return notCompared(doubt);

  const wallMs = rest.asking.vendorClock.wallMs();
  const ask: Ask = async (api, questions) =>
    timed(api, async (open) =>
      pollUntilSettled(open.source, async () => open.poll(questions, wallMs)),
    );
  const answers = await pollTwice(lists.pairs, ask);
  const named = await countHosts(answers, ask);
  return {
    kind: 'compared',
    account: account.name,
    applications: lists.applications,
    asksForApplications: answers.some(({ selected }) => asksForApplication(selected.rest)),
    hosts: named.hosts,
    shortOfHosts: named.shortOfHosts,
    oneSided: lists.oneSided,
    renamed: lists.renamed,
    calls: { rest: rest.calls, nerdgraph: nerdgraph.calls },
    elapsedMs,
    values: answers.flatMap(({ selected, ...outcomes }) =>
      comparedValues({ account: account.name, ...selected.rest, ...outcomes }),
    ),
  };
}

/** Lists without anything in common are hardly of the same account. */
function doubtAboutAccount({ applications, pairs, oneSided }: JoinedLists): string | undefined {
  if (pairs.length > 0 || !oneSided.some(isObjection)) return undefined;
  const { rest, nerdgraph } = applications;
  const lists = `the lists of REST (${countOf(rest, 'application')}) and NerdGraph (${nerdgraph}) have nothing in common`;
  return `${lists}: check account_id, which must be that of the account of the API key, and whether the user of the key may see the account`;
}

type Ask = (
  api: keyof OfBoth<unknown>,
  questions: readonly ApplicationQuestion[],
) => Promise<ReadonlyMap<string, PollOutcome>>;

/** What both APIs answered about an application. */
interface Answered extends OfBoth<PollOutcome> {
  readonly selected: OfBoth<SelectedApplication>;
}

/** Asks about applications that are worth it by at least one list, as the daemon decides it. */
async function pollTwice(
  pairs: readonly OfBoth<SelectedApplication>[],
  ask: Ask,
): Promise<readonly Answered[]> {
  const worth = pairs.filter((pair) => isWorthPolling(pair.rest) || isWorthPolling(pair.nerdgraph));
  const outcomesOf = async (api: keyof OfBoth<unknown>): ReturnType<Ask> =>
    ask(
      api,
      worth.map((pair) => settledQuestion(pair[api].application, pair.rest.entry)),
    );
  const nerdgraph = await outcomesOf('nerdgraph');
  const rest = await outcomesOf('rest');
  return worth.map((selected) => {
    const { id } = selected.rest.application;
    return { selected, rest: outcomeOf(rest, id), nerdgraph: outcomeOf(nerdgraph, id) };
  });
}

interface CountedHosts {
  readonly hosts: OfBoth<number>;
  readonly shortOfHosts: readonly NamedHosts[];
}

/**
 * Counts the hosts that the answers name. REST lists those of the last hour, so where NerdGraph is short
 * of them in the window, it is asked about that hour before this is held against it.
 */
async function countHosts(answers: readonly Answered[], ask: Ask): Promise<CountedHosts> {
  const doubtful = answers.filter(
    (one) =>
      isShort(namedHostsOf(one.selected.rest.application, one)) &&
      one.selected.rest.application.reporting !== false &&
      one.nerdgraph.error === undefined,
  );
  const ofLastHour = await ask(
    'nerdgraph',
    doubtful.map(({ selected }) =>
      lastHourQuestion(selected.nerdgraph.application, selected.rest.entry),
    ),
  );
  const named = answers.map(({ selected: { rest }, ...outcomes }) => {
    const { application } = rest;
    const nerdgraph = ofLastHour.get(application.id) ?? outcomes.nerdgraph;
    return namedHostsOf(application, { rest: outcomes.rest, nerdgraph });
  });
  return {
    hosts: {
      rest: sumOf(named.map(({ rest }) => rest)) ?? 0,
      nerdgraph: sumOf(named.map(({ nerdgraph }) => nerdgraph)) ?? 0,
    },
    shortOfHosts: named.filter((one) => ofLastHour.has(one.id) && isShort(one)),
  };
}

function outcomeOf(outcomes: ReadonlyMap<string, PollOutcome>, id: string): PollOutcome {
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
function settledQuestion(application: Application, entry: AppEntry): ApplicationQuestion {
  const { window, delayMs } = entry.poll;
  const lengthMs = window.kind === 'range' ? window.lengthMs : defaultLengthMs;
  return questionOf(application, entry, lengthMs, Math.max(delayMs, settledAfterMs));
}

/** Asks NerdGraph for what REST lists: the hosts of the last hour. */
function lastHourQuestion(application: Application, entry: AppEntry): ApplicationQuestion {
  return questionOf(application, entry, listedAfterEndMs, 0);
}

/** Asks for the names of the hosts as well: they are what both APIs have in common. */
function questionOf(
  application: Application,
  entry: AppEntry,
  lengthMs: number,
  delayMs: number,
): ApplicationQuestion {
  const window = { kind: 'range' as const, lengthMs };
  const poll = { ...entry.poll, window, delayMs, hostNames: true };
  return { kind: 'application', selected: { application, entry: { ...entry, poll } } };
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
