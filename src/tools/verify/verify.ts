import { access, open, rm } from 'node:fs/promises';
import type { Flags } from '../../cli/flag-table.ts';
import type { Outcome } from '../../cli/one-shot.ts';
import { buildOf } from '../../daemon/build.ts';
import { CommandError, type ToolPlatform } from '../../daemon/platform.ts';
import { accountsInUse } from '../../daemon/prepare-account.ts';
import { ApiError } from '../../model/api-error.ts';
import { bareApplication } from '../../model/application.ts';
import type { AccountInUse, AppEntry } from '../../model/config.ts';
import { selectApplications } from '../../model/selector.ts';
import { minuteMs } from '../../model/time.ts';
import { rangeAt } from '../../model/window.ts';
import { entityIdOf, jsonIn, objectOf, parseJsonKeepingIds } from '../../newrelic/answer.ts';
import { nrqlTimeoutSeconds } from '../../newrelic/nerdgraph/graphql-client.ts';
import { nextPageOf } from '../../newrelic/rest/paging.ts';
import { loadOrUsual, type OpenAccount, withAccounts } from '../ask.ts';
import { writeWhole } from '../backfill/parts.ts';
import { withSource } from '../compare/compare.ts';
import { applicationList, restFacts } from '../compare/rest-facts.ts';
import {
  type Answer,
  type Asked,
  at,
  type Call,
  type Fact,
  listAt,
  needs,
  partOf,
  type Results,
} from './fact.ts';
import { entityList, nerdgraphFacts } from './nerdgraph-facts.ts';
import { callsOf, planText, reportOf, type VerifiedAccount } from './report.ts';

/** Everything that the exporter believes of New Relic and can ask. */
export const facts: readonly Fact[] = [...nerdgraphFacts, ...restFacts];

/**
 * Asks New Relic what the exporter only believes, and reports which of it holds, in a form that everybody may
 * see. Ends with 1 if anything differs. Rejects with a `CommandError` if there is nothing to ask, or if the
 * report cannot be written.
 */
export async function verify(flags: Flags, platform: ToolPlatform): Promise<Outcome> {
  const { verifyOutput: output, dryRun, account: wanted } = flags;
  const all = accountsInUse(await loadOrUsual(flags.configFile, platform));
  const inUse = all.filter(({ account: { name } }) => wanted === '' || name === wanted);
  if (inUse.length === 0) {
    throw new CommandError(2, `--account: no account "${wanted}" has anything to poll`);
  }
  if (dryRun) return { exitCode: 0, output: planText(facts, inUse) };
  // Before anything is asked: answers that cannot be kept are worth nothing.
  await orOutputError(output, async () => checkWritable(output));
  const verified = await withAccounts(inUse.flatMap(everyWay), platform, async (ways) => {
    const accounts: VerifiedAccount[] = [];
    for (const one of inUse) accounts.push(await verifiedAccount(one, ways, platform));
    return accounts;
  });
  const { text, summary, differs } = reportOf(facts, verified, buildOf(platform.env));
  const report = platform.redactor.redact(text);
  await orOutputError(output, async () => writeWhole(output, [report], platform.stopSignal));
  const shown = output === '' ? report : `${output}: ${summary}; read it before you send it\n`;
  return { exitCode: differs ? 1 : 0, output: shown };
}

/** Leaves a file that is there as it is, and none where there was none. */
async function checkWritable(output: string): Promise<void> {
  const isThere = await access(output).then(
    () => true,
    () => false,
  );
  await (await open(output, 'a')).close();
  if (!isThere) await rm(output);
}

async function orOutputError(output: string, work: () => Promise<void>): Promise<void> {
  if (output === '') return;
  try {
    await work();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(2, `--output: the report cannot be written: ${reason}`, {
      cause: error,
    });
  }
}

/** The account with each API that can be asked, and with either header for the key. */
function everyWay({ account, entries }: AccountInUse): readonly AccountInUse[] {
  const { accountId } = account.source;
  const rest = withSource(account, { kind: 'rest', accountId });
  const sources =
    accountId === undefined
      ? [rest]
      : [rest, withSource(account, { kind: 'nerdgraph', accountId })];
  return sources.flatMap((one) =>
    (['Api-Key', 'X-Api-Key'] as const).map((apiKeyHeader) => ({
      account: { ...one, apiKeyHeader },
      entries,
    })),
  );
}

async function verifiedAccount(
  { account, entries }: AccountInUse,
  all: readonly OpenAccount[],
  platform: ToolPlatform,
): Promise<VerifiedAccount> {
  const ways = all.filter((way) => way.account.name === account.name);
  const wayOf = ({ api, otherHeader }: Call): OpenAccount | undefined =>
    ways.find(
      (way) =>
        way.account.source.kind === api &&
        (way.account.apiKeyHeader !== account.apiKeyHeader) === (otherHeader ?? false),
    );
  // Ends on whole five minutes: the windows of a series do, too.
  const settledMs = platform.clock.wallMs() - 10 * minuteMs;
  const window = rangeAt(settledMs - (settledMs % (5 * minuteMs)), 30 * minuteMs, 0);
  const timeoutSeconds = nrqlTimeoutSeconds(account.timeoutMs);
  const results = new Map<Call, Answer | string>();
  const askAll = async (calls: readonly Call[], asked: Asked): Promise<void> => {
    for (const call of calls) {
      if (results.has(call)) continue;
      const lacking = call.needs.find((need) => asked[need] === '');
      const way = wayOf(call);
      if (lacking !== undefined || way === undefined) {
        results.set(call, needs[lacking ?? 'accountId']);
      } else results.set(call, await answerTo(call, asked, way));
    }
  };
  const accountId = String(account.source.accountId ?? '');
  const nothing = { applicationId: '', otherId: '', hostId: '', page: '', cursor: '' };
  const known = { accountId, window, timeoutSeconds };
  const first = callsOf(facts).filter((call) => call.needs.every((need) => need === 'accountId'));
  await askAll(first, { ...nothing, ...known });
  const asked = { ...known, ...subjectOf(results, entries) };
  await askAll(callsOf(facts), asked);
  const calls = ways.reduce((sum, way) => sum + way.calls, 0);
  return { account, asked, results, calls };
}

/** Failures that say something about what was asked for; with the other header, also about the key. */
const tellingStatuses: readonly number[] = [400, 404, 405, 413, 422];
const keyStatuses: readonly number[] = [401];

/** The answer, or why there is none. Nothing is tried again. Rejects with the reason of a stop. */
async function answerTo(call: Call, asked: Asked, way: OpenAccount): Promise<Answer | string> {
  const { asking, platform } = way;
  try {
    const request = { ...call.request(asked), isOptional: true } as const;
    const { status, headers, body } = await asking.send(request, platform.stopSignal);
    const telling = call.otherHeader === true ? keyStatuses : tellingStatuses;
    if (status >= 300 && !telling.includes(status)) return `${call.name}: status ${status}`;
    const document = objectOf(status < 300 ? parseJsonKeepingIds(body) : jsonIn(body));
    return { status, headers, document, atMs: platform.clock.wallMs() };
  } catch (error) {
    platform.stopSignal.throwIfAborted();
    if (error instanceof ApiError) return `${call.name}: no answer (${error.reason})`;
    if (error instanceof SyntaxError) return `${call.name}: the answer is not JSON`;
    throw error;
  }
}

interface Candidate {
  readonly id: string;
  readonly name: string;
  readonly isReporting: boolean;
  readonly traffic: number;
  readonly hosts: readonly unknown[];
}

/** What to ask about: the busiest application that the configuration selects, one of its hosts, another one. */
function subjectOf(results: Results, entries: readonly AppEntry[]) {
  const [list, search] = [applicationList, entityList].map((call) => {
    const result = results.get(call);
    return typeof result === 'object' ? result : undefined;
  });
  const inRest = listAt(list?.document, 'applications').map((one): Candidate => {
    const hosts = at(one, 'links', 'application_hosts');
    return {
      id: entityIdOf(one['id']) ?? '',
      name: String(one['name']),
      isReporting: one['reporting'] !== false,
      traffic: Number(at(one, 'application_summary', 'throughput') ?? 0),
      hosts: Array.isArray(hosts) ? hosts : [],
    };
  });
  const inNerdgraph = listAt(partOf(search), 'results', 'entities').map(
    (one): Candidate => ({
      id: entityIdOf(one['applicationId']) ?? '',
      name: String(one['name']),
      isReporting: one['reporting'] !== false,
      traffic: Number(at(one, 'apmSummary', 'throughput') ?? 0),
      hosts: [],
    }),
  );
  const candidates = inRest.length > 0 ? inRest : inNerdgraph;
  const { selected } = selectApplications(entries, candidates.map(bareApplication));
  const wanted = new Set(selected.map(({ application: { id } }) => id));
  const [first] = candidates
    .filter(({ id, isReporting }) => isReporting && wanted.has(id))
    .toSorted((one, other) => other.traffic - one.traffic);
  return {
    applicationId: first?.id ?? '',
    otherId: candidates.find(({ id }) => id !== first?.id)?.id ?? '',
    hostId: entityIdOf(first?.hosts[0]) ?? '',
    page: String(nextPageOf(list?.headers['link'], 1) ?? ''),
    cursor: String(at(partOf(search), 'results', 'nextCursor') ?? ''),
  };
}
