import type { Flags } from '../../cli/flag-table.ts';
import type { Outcome } from '../../cli/one-shot.ts';
import { buildOf } from '../../daemon/build.ts';
import { CommandError, type ToolPlatform } from '../../daemon/platform.ts';
import { accountsInUse } from '../../daemon/prepare-account.ts';
import { ApiError } from '../../model/api-error.ts';
import { bareApplication } from '../../model/application.ts';
import type { AccountInUse, AppEntry } from '../../model/config.ts';
import { printable } from '../../model/shown-text.ts';
import { minuteMs } from '../../model/time.ts';
import { type JsonObject, jsonIn, objectOf, parseJsonKeepingIds } from '../../newrelic/answer.ts';
import type { ApiResponse } from '../../newrelic/calls/transport.ts';
import { statusReason } from '../../newrelic/calls/transport-errors.ts';
import { answeredPartOf, verdictIn } from '../../newrelic/failures.ts';
import { isSearchable } from '../../newrelic/nerdgraph/discovery.ts';
import { rowText } from '../../newrelic/nerdgraph/nrql-answer.ts';
import { nextPageOf } from '../../newrelic/rest/paging.ts';
import { loadOrUsual, type OpenAccount, withAccounts } from '../survey/ask.ts';
import { withEachApi } from '../survey/both-apis.ts';
import { type Finding, findingsText } from '../survey/finding.ts';
import { accountsNamed } from '../survey/metrics-target.ts';
import { selectApplications } from '../survey/selection.ts';
import { otherRegionFindings } from '../survey/visible-accounts.ts';
import { filesOf, OutputFile } from '../write-whole.ts';
import { type Asked, type Call, calls, requestOf } from './calls.ts';
import { at, type FactAnswer, idOf, listAt, numberIn, type Results, type Silence } from './fact.ts';
import { planText, reportOf, reportTitle, type VerifiedAccount } from './report.ts';

/**
 * Asks New Relic what the exporter only believes, and reports which of it holds, in a form that everybody may
 * see. Ends with 1 if anything differs, or if an account has no answer. Rejects with a `CommandError` if there is
 * nothing to ask, or if the report cannot be written.
 */
export async function verify(flags: Flags, platform: ToolPlatform): Promise<Outcome> {
  const { verifyOutput: output } = flags;
  const config = await loadOrUsual(flags.configFile, platform);
  const named = accountsNamed(config, flags.account);
  const names = new Set(named.map(({ account }) => account.name));
  const inUse = accountsInUse(config).filter(({ account }) => names.has(account.name));
  if (inUse.length === 0) {
    const which = flags.account === '' ? '' : `--account: ${printable(flags.account)} has `;
    throw new CommandError(2, `${which}nothing to poll: look at "apps" of the configuration`);
  }
  const files = filesOf(config, flags.configFile);
  // It may have to be read before others see it.
  const kept = { files, title: reportTitle, mode: 0o600 };
  const file = output === '' ? undefined : new OutputFile(output, kept);
  // Before anything is asked: answers that cannot be kept are worth nothing.
  await file?.check();
  if (flags.dryRun) return { exitCode: 0, output: planText(inUse) };
  const verified = await withAccounts(inUse.flatMap(everyWay), platform, async (ways) => {
    const accounts: VerifiedAccount[] = [];
    for (const one of inUse) accounts.push(await verifiedAccount(one, ways, platform));
    return accounts;
  });
  const silences: Finding[] = [];
  for (const one of verified) silences.push(...(await silencesOf(one, platform)));
  platform.stderr.write(platform.redactor.redact(findingsText(silences)));
  const { text, summary, differs } = reportOf(verified, buildOf(platform.env));
  const report = platform.redactor.redact(text);
  await file?.write([report], platform.stopSignal);
  const shown = output === '' ? report : `${output}: ${summary}; read it before you send it\n`;
  return { exitCode: differs || silences.length > 0 ? 1 : 0, output: shown };
}

/** That New Relic has answered nothing about an account, or not all because of its limit; and where a refused key belongs. */
async function silencesOf(
  { account, results }: VerifiedAccount,
  platform: ToolPlatform,
): Promise<readonly Finding[]> {
  const all = [...results.values()];
  const failures = all.filter((result) => 'why' in result);
  const throttled = failures.find(({ reason }) => reason === 'throttled');
  const isAnswered = all.some((result) => 'status' in result && result.status < 400);
  if (isAnswered && throttled === undefined) return [];
  const what = `New Relic has answered ${isAnswered ? 'not everything' : 'nothing'}`;
  const message = `${what} (${(throttled ?? failures[0])?.why})`;
  const remedy = 'newrelic-exporter check-config --online says why, and what to do';
  const isRefused = !isAnswered && failures.some(({ reason }) => reason === 'auth');
  return [
    { severity: 'error', account: printable(account.name), message, remedy },
    ...(isRefused ? await otherRegionFindings(account, platform) : []),
  ];
}

/** The account with each API that can be asked, and with either header for the key. */
function everyWay(inUse: AccountInUse): readonly AccountInUse[] {
  return withEachApi(inUse).flatMap(({ account, entries }) =>
    (['Api-Key', 'X-Api-Key'] as const).map((apiKeyHeader) => {
      return { account: { ...account, apiKeyHeader }, entries };
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
    timeoutMs,
  };
  const results = new Map<string, FactAnswer | Silence>();
  for (const call of calls) {
    const asked = { ...known, ...subjectOf(results, entries) };
    const way = ways.find((one) => {
      const isOther = one.account.apiKeyHeader !== apiKeyHeader;
      return one.account.source.kind === call.api && isOther === (call.special === 'other header');
    });
    results.set(call.name, await answerTo(call, asked, way));
  }
  return { account, results, sent: ways.reduce((sum, way) => sum + way.calls, 0) };
}

/** The answer, or why there is none. Nothing is tried again. Rejects with the reason of a stop. */
async function answerTo(
  call: Call,
  asked: Asked,
  way: OpenAccount | undefined,
): Promise<FactAnswer | Silence> {
  if (way === undefined) {
    return { why: 'NerdGraph was not asked: the account has no account_id in the configuration' };
  }
  const request = requestOf(call, asked);
  if (typeof request === 'string') return { why: request };
  const { stopSignal, clock } = way.platform;
  try {
    const response = await way.asking.send({ ...request, mayRetry: false }, stopSignal);
    return answerIn(response, call, asked, clock.wallMs());
  } catch (error) {
    stopSignal.throwIfAborted();
    if (error instanceof ApiError) {
      return { why: `${call.name}: no answer (${error.reason})`, reason: error.reason };
    }
    if (error instanceof SyntaxError) return { why: `${call.name}: the answer is not JSON` };
    throw error;
  }
}

/** Where answers have their list, if they are none themselves. */
const lists = 'applications application_hosts metric_data.metrics results results.entities'.split(
  ' ',
);

/** Refusals that say something: about what was asked for; or, with the other header, about the key. */
function tellingStatuses({ special }: Call): readonly number[] {
  if (special === 'other header') return [401];
  return [400, 404, 405, 413, 422, ...(special === 'must be refused' ? [500] : [])];
}

function answerIn(
  { status, headers, body }: ApiResponse,
  call: Call,
  asked: Asked,
  atMs: number,
): FactAnswer | Silence {
  const isGood = status < 300;
  if (!isGood && !tellingStatuses(call).includes(status)) {
    return { why: `${call.name}: status ${status}`, reason: statusReason(status) };
  }
  const whole = objectOf(isGood ? parseJsonKeepingIds(body) : jsonIn(body));
  const document = call.api === 'rest' ? whole : answeredPartOf(whole);
  if (isGood && (document === undefined || Boolean(whole['error']))) {
    return { why: `${call.name}: the answer has nothing of what was asked for` };
  }
  const listed = lists.flatMap((path) => listAt(document, path));
  const items = Array.isArray(document) ? document.map(objectOf) : listed;
  const said = verdictIn(200, whole)?.said ?? '';
  return { asked, atMs, status, headers, document, items, said };
}

function trafficOf(item: JsonObject): number {
  const { throughput } = objectOf(item['application_summary'] ?? item['apmSummary']);
  return numberIn(throughput ?? 0);
}

/** Two of them to search, each empty where there is none. */
function namesIn(list: FactAnswer | undefined) {
  const names = (list?.items ?? []).map((item) => rowText(item['name']));
  const [name = '', otherName = ''] = new Set(names.filter(isSearchable));
  return { name, otherName };
}

/** What to ask about: the busiest application that the configuration selects, one of its hosts, another one. */
function subjectOf(results: Results, entries: readonly AppEntry[]) {
  const answers = ['applications', 'entities'].map((name) => results.get(name));
  const [list, search] = answers.map((one) => (one && 'items' in one ? one : undefined));
  const listed = [list, search].find((one) => one !== undefined && one.items.length > 0);
  const reporting = (listed?.items ?? [])
    .filter((item) => idOf(item) !== '' && item['reporting'] !== false)
    .toSorted((one, other) => trafficOf(other) - trafficOf(one));
  const applications = reporting.map((item) =>
    bareApplication({ id: idOf(item), name: rowText(item['name']) }),
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
