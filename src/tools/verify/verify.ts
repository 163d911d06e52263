import type { Flags } from '../../cli/flag-table.ts';
import type { Outcome } from '../../cli/one-shot.ts';
import { buildOf } from '../../daemon/build.ts';
import { CommandError, type ToolPlatform } from '../../daemon/platform.ts';
import { accountsInUse } from '../../daemon/prepare-account.ts';
import { ApiError } from '../../model/api-error.ts';
import { bareApplication } from '../../model/application.ts';
import type { AccountInUse, AccountSource, AppEntry } from '../../model/config.ts';
import { printable } from '../../model/shown-text.ts';
import { minuteMs } from '../../model/time.ts';
import { type JsonObject, jsonIn, objectOf, parseJsonKeepingIds } from '../../newrelic/answer.ts';
import type { ApiResponse } from '../../newrelic/calls/transport.ts';
import { answeredPartOf, verdictIn } from '../../newrelic/failures.ts';
import { isSearchable } from '../../newrelic/nerdgraph/discovery.ts';
import { nrqlTimeoutSeconds } from '../../newrelic/nerdgraph/graphql-client.ts';
import { textOf } from '../../newrelic/nerdgraph/nrql-answer.ts';
import { nextPageOf } from '../../newrelic/rest/paging.ts';
import { loadOrUsual, type OpenAccount, withAccounts } from '../ask.ts';
import { withSource } from '../compare/compare.ts';
import { restFacts } from '../compare/rest-facts.ts';
import { selectApplications } from '../selection.ts';
import { filesOf, OutputFile } from '../write-whole.ts';
import {
  type Answer,
  type Asked,
  at,
  type Call,
  type Fact,
  filled,
  idOf,
  lacking,
  listAt,
  numberIn,
  type Results,
} from './fact.ts';
import { nerdgraphFacts } from './nerdgraph-facts.ts';
import {
  callsFor,
  listCalls,
  planText,
  reportOf,
  reportTitle,
  type VerifiedAccount,
} from './report.ts';

/** Everything that the exporter believes of New Relic and can ask. */
export const facts: readonly Fact[] = [...nerdgraphFacts, ...restFacts];

/** It may have to be read before others see it. */
const reportMode = 0o600;

/**
 * Asks New Relic what the exporter only believes, and reports which of it holds, in a form that everybody may
 * see. Ends with 1 if anything differs, or if an account has no answer. Rejects with a `CommandError` if there is nothing to ask, or if the
 * report cannot be written.
 */
export async function verify(flags: Flags, platform: ToolPlatform): Promise<Outcome> {
  const { verifyOutput: output, dryRun, account: wanted } = flags;
  const config = await loadOrUsual(flags.configFile, platform);
  const all = accountsInUse(config);
  const inUse = all.filter(({ account: { name } }) => wanted === '' || name === wanted);
  if (inUse.length === 0) {
    const which = wanted === '' ? 'no account' : `--account: no account "${wanted}"`;
    throw new CommandError(2, `${which} has anything to poll: look at "apps" of the configuration`);
  }
  const file =
    output === ''
      ? undefined
      : new OutputFile(output, {
          files: filesOf(config, flags.configFile),
          title: reportTitle,
          mode: reportMode,
        });
  // Before anything is asked: answers that cannot be kept are worth nothing.
  await file?.check();
  if (dryRun) return { exitCode: 0, output: planText(facts, inUse) };
  const verified = await withAccounts(inUse.flatMap(everyWay), platform, async (ways) => {
    const accounts: VerifiedAccount[] = [];
    for (const one of inUse) accounts.push(await verifiedAccount(one, ways, platform));
    return accounts;
  });
  const silences = verified.flatMap(silenceOf);
  platform.stderr.write(platform.redactor.redact(silences.join('')));
  const { text, summary, differs } = reportOf(facts, verified, buildOf(platform.env));
  const report = platform.redactor.redact(text);
  await file?.write([report], platform.stopSignal);
  const shown = output === '' ? report : `${output}: ${summary}; read it before you send it\n`;
  return { exitCode: differs || silences.length > 0 ? 1 : 0, output: shown };
}

/** A line about an account that New Relic has answered nothing about, or not all because of its limit; else nothing. */
function silenceOf({ account, results }: VerifiedAccount): readonly string[] {
  const all = [...results.values()];
  const failures = all.filter((result) => typeof result === 'string');
  const throttled = failures.find((failure) => failure.endsWith('(throttled)'));
  const isAnswered = all.some((result) => typeof result === 'object' && result.status < 400);
  if (isAnswered && throttled === undefined) return [];
  const reason = throttled ?? failures[0];
  return [
    `account ${printable(account.name)}: New Relic has answered ${isAnswered ? 'not everything' : 'nothing'} (${reason}): newrelic-exporter check-config --online says why, and what to do\n`,
  ];
}

/** The account with each API that can be asked, and with either header for the key. */
function everyWay({ account, entries }: AccountInUse): readonly AccountInUse[] {
  const { accountId } = account.source;
  const sources: AccountSource[] = [{ kind: 'rest', accountId }];
  if (accountId !== undefined) sources.push({ kind: 'nerdgraph', accountId });
  return sources.flatMap((source) =>
    (['Api-Key', 'X-Api-Key'] as const).map((apiKeyHeader) => {
      return { account: { ...withSource(account, source), apiKeyHeader }, entries };
    }),
  );
}

async function verifiedAccount(
  { account, entries }: AccountInUse,
  all: readonly OpenAccount[],
  platform: ToolPlatform,
): Promise<VerifiedAccount> {
  const { source, apiKeyHeader, timeoutMs } = account;
  const ways = all.filter((way) => way.account.name === account.name);
  // Ends on whole five minutes: the windows of a series do, too.
  const settledMs = platform.clock.wallMs() - 10 * minuteMs;
  const known = {
    accountId: String(source.accountId ?? ''),
    toMs: settledMs - (settledMs % (5 * minuteMs)),
    timeoutSeconds: nrqlTimeoutSeconds(timeoutMs),
  };
  const results = new Map<string, Answer | string>();
  for (const call of callsFor(facts)) {
    const asked = { ...known, ...subjectOf(results, entries) };
    const way = ways.find((one) => {
      const isOther = one.account.apiKeyHeader !== apiKeyHeader;
      return one.account.source.kind === call.api && isOther === isOfOtherHeader(call);
    });
    results.set(call.name, await answerTo(call, asked, way));
  }
  return { account, results, sent: ways.reduce((sum, { calls }) => sum + calls, 0) };
}

function isOfOtherHeader({ special }: Call): boolean {
  return special === 'other header';
}

/** Failures that say something about what was asked for; with the other header, about the key. */
const tellingStatuses: readonly number[] = [400, 404, 405, 413, 422];
const keyStatuses: readonly number[] = [401];

/** The answer, or why there is none. Nothing is tried again. Rejects with the reason of a stop. */
async function answerTo(
  call: Call,
  asked: Asked,
  way: OpenAccount | undefined,
): Promise<Answer | string> {
  if (way === undefined) {
    return 'NerdGraph was not asked: the account has no account_id in the configuration';
  }
  const text = filled(call, asked);
  const lack = Object.entries(lacking).find(([name]) => text.includes(`{${name}}`));
  if (lack !== undefined) return lack[1];
  const { stopSignal, clock } = way.platform;
  try {
    const request = { ...call.request(text, asked), mayRetry: false } as const;
    const response = await way.asking.send(request, stopSignal);
    return answerIn(response, call, asked, clock.wallMs());
  } catch (error) {
    stopSignal.throwIfAborted();
    if (error instanceof ApiError) return `${call.name}: no answer (${error.reason})`;
    if (error instanceof SyntaxError) return `${call.name}: the answer is not JSON`;
    throw error;
  }
}

/** Where answers have their list, if they are none themselves. */
const lists = [
  'applications',
  'application_hosts',
  'metric_data.metrics',
  'results',
  'results.entities',
];

/** What New Relic says of the failure that a document is; empty if it says nothing. */
function saidIn(document: unknown): string {
  return verdictIn(200, document)?.said ?? '';
}

function answerIn(
  { status, headers, body }: ApiResponse,
  call: Call,
  asked: Asked,
  atMs: number,
): Answer | string {
  const isGood = status < 300;
  const ofQueries =
    call.special === 'must be refused' ? [...tellingStatuses, 500] : tellingStatuses;
  const telling = isOfOtherHeader(call) ? keyStatuses : ofQueries;
  if (!isGood && !telling.includes(status)) return `${call.name}: status ${status}`;
  const whole = objectOf(isGood ? parseJsonKeepingIds(body) : jsonIn(body));
  const document = call.api === 'rest' ? whole : answeredPartOf(whole);
  if (isGood && (document === undefined || Boolean(whole['error']))) {
    return `${call.name}: the answer has nothing of what was asked for`;
  }
  const listed = lists.flatMap((path) => listAt(document, path));
  const items = Array.isArray(document) ? document.map(objectOf) : listed;
  return { asked, atMs, status, headers, document, items, said: saidIn(whole) };
}

function trafficOf(item: JsonObject): number {
  const { throughput } = objectOf(item['application_summary'] ?? item['apmSummary']);
  return numberIn(throughput ?? 0);
}

/** Two names of applications to search, each empty where the list has none. */
function namesIn(search: Answer | undefined) {
  const items = search?.items ?? [];
  const names = items.map((item) => textOf(item['name']));
  const [name = '', otherName = ''] = new Set(names.filter(isSearchable));
  return { name, otherName };
}

/** What to ask about: the busiest application that the configuration selects, one of its hosts, another one. */
function subjectOf(results: Results, entries: readonly AppEntry[]) {
  const answers = listCalls.map((name) => results.get(name));
  const [list, search] = answers.map((one) => (typeof one === 'object' ? one : undefined));
  const listed = [list, search].find((one) => one !== undefined && one.items.length > 0);
  const reporting = (listed?.items ?? [])
    .filter((item) => idOf(item) !== '' && item['reporting'] !== false)
    .toSorted((one, other) => trafficOf(other) - trafficOf(one));
  const applications = reporting.map((item) =>
    bareApplication({ id: idOf(item), name: textOf(item['name']) }),
  );
  const [first] = selectApplications(entries, applications).selected;
  const applicationId = first?.application.id ?? '';
  const application = reporting.find((item) => idOf(item) === applicationId);
  const [hostId] = [at(application, 'links.application_hosts') ?? []].flat();
  const cursor = at(search?.document, 'results.nextCursor');
  return {
    applicationId,
    otherId: reporting.map(idOf).find((id) => id !== applicationId) ?? '',
    ...namesIn(search),
    hostId: idOf({ id: hostId }),
    page: String(nextPageOf(list?.headers['link'], 1) ?? ''),
    cursor: typeof cursor === 'string' ? cursor : '',
  };
}
