import type { Flags } from '../../cli/flag-table.ts';
import type { Outcome } from '../../cli/one-shot.ts';
import { CommandError, type ToolPlatform } from '../../daemon/platform.ts';
import { accountsInUse } from '../../daemon/prepare-account.ts';
import type { Application } from '../../model/application.ts';
import type { AppEntry } from '../../model/config.ts';
import { nothingToAskOutcome } from '../../model/poll-outcome.ts';
import {
  asksForApplication,
  choosesHost,
  hostSelectorOf,
  isWorthPolling,
} from '../../model/selected-application.ts';
import { countOf, countText, printable } from '../../model/shown-text.ts';
import type { ApplicationQuestion } from '../../model/source.ts';
import { minuteMs } from '../../model/time.ts';
import { pollUntilSettled } from '../../poll/account-poller.ts';
import { loadForCommand, noAccountId, type OpenAccount, withAccounts } from '../survey/ask.ts';
import { apiNames, bothApis, type OfBoth, ofBoth, withEachApi } from '../survey/both-apis.ts';
import { type DiscoveredAccount, discovered } from '../survey/discovered-account.ts';
import { aligned } from '../survey/plain-text.ts';
import {
  agreeing,
  type ComparedValue,
  comparedValues,
  hostCountOf,
  itself,
  type PolledTwice,
  valueLines,
} from './compare-values.ts';

/**
 * Prints whether REST and NerdGraph give the same values for the configured applications. Ends with 1
 * if they do not, or if that could not be found out. Rejects with a `CommandError` if the configuration
 * allows no comparison.
 */
export async function compare(flags: Flags, platform: ToolPlatform): Promise<Outcome> {
  const { accounts, apps } = await loadForCommand(flags.configFile, platform);
  const inUse = accountsInUse({ accounts, apps });
  const withId = inUse.filter(({ account }) => account.source.accountId !== undefined);
  const all = await withAccounts(withId.flatMap(withEachApi), platform, async (opened) =>
    Promise.all(
      inUse.map(async ({ account: { name } }): Promise<Comparison> => {
        const [rest, nerdgraph] = opened.filter((open) => open.account.name === name);
        return rest === undefined || nerdgraph === undefined
          ? { account: name, reason: noAccountId, facts: [], values: [] }
          : compareAccount({ rest, nerdgraph });
      }),
    ),
  );
  const failures = all.flatMap(({ account, reason }) =>
    reason === undefined ? [] : [`account ${account}: not compared: ${reason}\n`],
  );
  const failureText = platform.redactor.redact(failures.join(''));
  const { isSafe, sentence } = judgementOf(all);
  if (withId.length === 0) throw new CommandError(2, `${failureText}${sentence}`);
  platform.stderr.write(failureText);
  const values = all.flatMap((one) => one.values);
  const lines = [...all.flatMap(comparisonLines), ...valueLines(values, flags.all), sentence, ''];
  return { exitCode: isSafe ? 0 : 1, output: platform.redactor.redact(lines.join('\n')) };
}

/** A title with its text. Some titles are marks, as the verdicts of values are. */
type TitledFact = readonly [title: string, text: string];

/** What both APIs say of one account. */
interface Comparison {
  readonly account: string;
  /** Why it could not be compared. */
  readonly reason?: string;
  readonly facts: readonly TitledFact[];
  readonly values: readonly ComparedValue[];
}

function comparisonLines({ account, facts }: Comparison): readonly string[] {
  if (facts.length === 0) return [];
  return [`account ${account}`, ...aligned(facts).map((line) => `  ${line}`), ''];
}

const disagreeing = ['differs', 'only REST', 'only NerdGraph'];
/** What the marks say of a switch: the first of these that has any decides. */
const switchJudgements = [
  ['Do not switch yet: look at', disagreeing],
  ['Switching cannot be judged: look at', ['not compared', 'not read', 'not found yet']],
  ['Switching cannot be judged: look at', ['few hosts', 'not busy']],
  ['Switching is safe:', agreeing],
] as const;

/** Whether NerdGraph may replace REST, and a sentence that says so, with what to look at. */
function judgementOf(all: readonly Comparison[]) {
  const found = all.flatMap(({ reason, facts, values }) => [
    ...(reason === undefined ? [] : ['not compared']),
    ...facts.map(([title]) => title),
    ...values.map(({ verdict }) => verdict),
  ]);
  const [first] = switchJudgements.flatMap(([says, marks]) => {
    const counts = countsText(found, marks);
    return counts === '' ? [] : { isSafe: marks === agreeing, sentence: `${says} ${counts}.` };
  });
  const sentence = 'Switching cannot be judged: there are no applications to compare.';
  return first ?? { isSafe: false, sentence };
}

/** How many of all marks are each of these; empty if none is. */
function countsText(all: readonly string[], marks: readonly string[]): string {
  const counts = marks.map((mark) => [all.filter((one) => one === mark).length, mark] as const);
  const some = counts.filter(([count]) => count > 0);
  return some.map(([count, mark]) => `${countText(count)} ${mark}`).join(', ');
}

/**
 * Discovers the account and polls what its entries choose, with NerdGraph and then with REST. Rejects with
 * the reason of a stop.
 */
async function compareAccount(apis: OfBoth<OpenAccount>): Promise<Comparison> {
  const account = apis.rest.account.name;
  const inTurn = async <Result>(ask: (open: OpenAccount) => Promise<Result>) => {
    const nerdgraph = await ask(apis.nerdgraph);
    return { nerdgraph, rest: await ask(apis.rest) };
  };
  const lists = listsOf(await inTurn(discovered));
  if ('reason' in lists) return { account, reason: lists.reason, facts: [], values: [] };

  const wallMs = apis.rest.asking.vendorClock.wallMs();
  const worth = lists.pairs.filter((pair) => bothApis.some((api) => isWorthPolling(pair[api])));
  const outcomes = await inTurn(async (open) => {
    const questions = worth.map((pair) =>
      settledQuestion(pair[open.account.source.kind].application, pair.rest.entry),
    );
    return pollUntilSettled(open.source, async () => open.poll(questions, wallMs));
  });
  const polled = worth.map(({ rest: selected }) => {
    const { id } = selected.application;
    return { selected, outcomes: ofBoth((api) => outcomes[api].get(id) ?? nothingToAskOutcome) };
  });
  const hosts = await Promise.all(polled.map(async (one) => countedHosts(one, apis.nerdgraph)));
  const hostCounts = ofBoth((api) => hosts.reduce((sum, { counts }) => sum + counts[api], 0));
  const values = polled.flatMap((one) => comparedValues(account, one));
  const verdicts = values.map(({ verdict }) => verdict);
  const isWhole = worth.some(({ rest }) => asksForApplication(rest));
  const hasHosts = hostCounts.rest > 0 || !isWhole;
  const calls = ofBoth((api) => apis[api].calls);
  const facts: readonly TitledFact[] = [
    ...lists.facts,
    ['hosts', bothText(hostCounts, countText)],
    ...hosts.flatMap(({ facts: few }) => few),
    ['values', countsText(verdicts, [...agreeing, ...disagreeing, 'not read']) || 'none'],
    ...(worth.length === 0
      ? [nothingShared]
      : idleFacts(values, [...(isWhole ? ['application'] : []), ...(hasHosts ? ['host'] : [])])),
    ['calls', bothText(calls, countText)],
  ];
  return { account, facts, values };
}

const nothingShared: TitledFact = ['not compared', 'no application that reports is in both lists'];

function bothText<Value>(both: OfBoth<Value>, textOf: (value: Value) => string): string {
  return bothApis.map((api) => `${apiNames[api]} ${textOf(both[api])}`).join(', ');
}

/** What the entries choose from both lists, joined by the ids of the applications; or why that proves nothing. */
function listsOf(found: OfBoth<DiscoveredAccount>) {
  const failed = bothApis.find((api) => found[api].failure !== undefined);
  if (failed !== undefined) {
    return { reason: `the discovery with ${apiNames[failed]} failed: ${found[failed].failure}` };
  }
  const chosen = ofBoth(
    (api) => new Map(found[api].selected.map((one) => [one.application.id, one] as const)),
  );
  const pairs = [...chosen.rest].flatMap(([id, rest]) => {
    const nerdgraph = chosen.nerdgraph.get(id);
    return nerdgraph === undefined ? [] : [{ rest, nerdgraph }];
  });
  const oneSided = bothApis.flatMap((api) => {
    const other = api === 'rest' ? 'nerdgraph' : 'rest';
    const { pendingIds, unreadableIds } = found[other].discovery;
    const unclear = new Set([...pendingIds, ...unreadableIds]);
    const only = [...chosen[api].values()].filter((one) => !chosen[other].has(one.application.id));
    return only.map(({ application: { id, name, reporting } }): TitledFact => {
      const title = `${id} ${printable(name)}`;
      if (unclear.has(id)) return ['not found yet', title];
      // A silent one has no values.
      if (reporting === false) return ['not reporting', `${title}, only ${apiNames[api]}`];
      return [`only ${apiNames[api]}`, title];
    });
  });
  const counts = ofBoth((api) => chosen[api].size);
  if (pairs.length === 0 && oneSided.some(([title]) => title.startsWith('only'))) {
    // They are hardly of the same account.
    const { rest, nerdgraph } = counts;
    const lists = `the lists of REST (${countOf(rest, 'application')}) and NerdGraph (${nerdgraph})`;
    return {
      reason: `${lists} have nothing in common: check account_id, which must be that of the account of the API key, and whether the user of the key may see the account`,
    };
  }
  const renamed = pairs.flatMap(({ rest: { application }, nerdgraph }): readonly TitledFact[] => {
    const names = { rest: application.name, nerdgraph: nerdgraph.application.name };
    if (names.rest === names.nerdgraph) return [];
    return [['other name', `${application.id}: ${bothText(names, printable)}`]];
  });
  const listed: TitledFact = ['applications', bothText(counts, countText)];
  return { pairs, facts: [listed, ...oneSided, ...renamed] };
}

/** By then late data has arrived, and both APIs answer from the same. */
const settledAfterMs = 10 * minuteMs;
/** As long as the window that REST has by default, which NerdGraph does not have. */
const defaultLengthMs = 30 * minuteMs;

/** Asks for the values of a window that both APIs have whole, and for the names of hosts: only REST has ids. */
function settledQuestion(application: Application, entry: AppEntry): ApplicationQuestion {
  const { window, delayMs } = entry.poll;
  const lengthMs = window.kind === 'range' ? window.lengthMs : defaultLengthMs;
  const settled = { kind: 'range', lengthMs } as const;
  const waitMs = Math.max(delayMs, settledAfterMs);
  const poll = { ...entry.poll, window: settled, delayMs: waitMs, hostNames: true };
  return { kind: 'application', selected: { application, entry: { ...entry, poll } } };
}

/**
 * Counts the hosts by their names. REST lists those of the last hour, so where NerdGraph has clearly fewer in
 * the window, it is asked about that hour before this is held against it.
 */
async function countedHosts({ selected, outcomes }: PolledTwice, open: OpenAccount) {
  const { id, name, reporting } = selected.application;
  const counts = ofBoth((api) => hostCountOf(outcomes[api]));
  const isFew = (count: number): boolean => count < counts.rest / 2;
  const isDoubtful = reporting !== false && outcomes.nerdgraph.error === undefined;
  if (!isFew(counts.nerdgraph) || !isDoubtful) return { counts, facts: [] };
  const { names } = await open.hostNames(id);
  const selector = hostSelectorOf(selected);
  const chosen = [...names.values()].filter(
    (one) => selector === undefined || choosesHost(selector, one),
  );
  const both = { ...counts, nerdgraph: Math.max(counts.nerdgraph, chosen.length) };
  const few: TitledFact = ['few hosts', `${id} ${printable(name)}: ${bothText(both, countText)}`];
  return { counts: both, facts: isFew(both.nerdgraph) ? [few] : [] };
}

/** A wrong question to NerdGraph and an idle account look alike: that both agree shows only above 0. */
function idleFacts(
  values: readonly ComparedValue[],
  wanted: readonly string[],
): readonly TitledFact[] {
  if (values.some(({ verdict }) => !agreeing.includes(verdict))) return [];
  const busy = values.filter(({ rest = 0, nerdgraph = 0 }) => Math.min(rest, nerdgraph) > 0);
  const scopes = new Set<string>(
    busy.map(({ host }) => (host === itself ? 'application' : 'host')),
  );
  const advice = 'run compare again while there is traffic';
  return wanted
    .filter((scope) => !scopes.has(scope))
    .map((scope) => ['not busy', `no ${scope} has a value above 0: ${advice}`]);
}
