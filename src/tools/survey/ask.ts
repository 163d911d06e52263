import { setMaxListeners } from 'node:events';
import { flagTable } from '../../cli/flag-table.ts';
import { type Diagnostic, renderDiagnostics } from '../../config/diagnostic.ts';
import { loadConfig, parseConfig } from '../../config/load-config.ts';
import { Account, type AccountContext, type Asking } from '../../daemon/accounts.ts';
import { buildOf } from '../../daemon/build.ts';
import { orCommandError } from '../../daemon/config-files.ts';
import type { ToolPlatform } from '../../daemon/platform.ts';
import { type PreparedAccount, prepareAccount } from '../../daemon/prepare-account.ts';
import { ApiError } from '../../model/api-error.ts';
import type { AccountConfig, AccountInUse, AppEntry, Config, Query } from '../../model/config.ts';
import { type PollOutcome, type QueryOutcome, queryOutcomeOf } from '../../model/poll-outcome.ts';
import { type Problem, problemsOfProcess } from '../../model/problem.ts';
import { countOf, printable } from '../../model/shown-text.ts';
import type {
  ApplicationQuestion,
  Discovery,
  HostNames,
  Polled,
  Question,
  Source,
  Wanted,
} from '../../model/source.ts';
import type { AccountDetails } from '../../model/status.ts';
import type { ApiObserver, Logger, Operation } from '../../model/telemetry.ts';
import { minuteMs } from '../../model/time.ts';
import {
  countingFailures,
  createUnexpectedAnswers,
  type JsonObject,
  objectOf,
  parseJson,
} from '../../newrelic/answer.ts';
import { commandPatienceMs, Keys } from '../../newrelic/calls/keys.ts';
import type { ApiRequest, RawTransport } from '../../newrelic/calls/transport.ts';
import { answeredPartOf, documentIn, type NerdGraphPurpose } from '../../newrelic/failures.ts';
import { listHosts } from '../../newrelic/nerdgraph/discovery.ts';
import {
  createGraphqlClient,
  nrqlDocument,
  nrqlTimeoutSeconds,
} from '../../newrelic/nerdgraph/graphql-client.ts';
import { createRestClient } from '../../newrelic/rest/rest-source.ts';
import { nothingToDiscover } from '../../poll/discovery-state.ts';
import { ProblemLog } from '../../poll/problem-log.ts';
import { createLogger } from '../../publish/logger.ts';
import { createSelfMetrics } from '../../publish/self-metrics.ts';

/**
 * Reads the configuration for a command, which shows its warnings on standard error. All its errors become
 * one message and exit code 2.
 */
export async function loadForCommand(path: string, platform: ToolPlatform): Promise<Config> {
  const { config, warnings } = await orCommandError(async () => loadConfig(path, platform));
  showWarnings(warnings, platform);
  return config;
}

/** The first of them in full. */
export function showWarnings(warnings: readonly Diagnostic[], { stderr }: ToolPlatform): void {
  if (warnings.length > 0) stderr.write(`${renderDiagnostics(warnings)}\n`);
}

/** For users without a configuration: one account, with the key in the usual variable. */
const withoutFile = 'apps: [{ match: "." }]';

/**
 * The configuration; without a file at the usual place, that of one account with the usual key. It has an
 * entry, if only of no account: one of queries alone has none that says how to ask for values.
 */
export async function loadOrUsual(path: string, platform: ToolPlatform): Promise<Config> {
  const source = { fileName: path, directory: '/' };
  const { config: usual } = await parseConfig(withoutFile, source, platform);
  if (path === flagTable.configFile.defaultText && (await isAbsent(path, platform))) return usual;
  const config = await loadForCommand(path, platform);
  return config.apps.length > 0 ? config : { ...config, apps: usual.apps };
}

async function isAbsent(path: string, { readFile }: ToolPlatform): Promise<boolean> {
  try {
    await readFile(path);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
}

/** Groups, and calls of a group, that wait for their turn together: `concurrency` decides how many are sent. */
const mostWaiting = 100;

/** An account that is asked, at the pace that its key allows; it polls nothing by itself. */
export class OpenAccount {
  readonly account: AccountConfig;
  readonly entries: readonly AppEntry[];
  readonly queries: readonly Query[];
  readonly platform: ToolPlatform;
  readonly source: Source;
  readonly asking: Asking;
  /** Calls that were sent so far, retries included. */
  calls = 0;
  readonly #running: Account;

  constructor(
    prepared: PreparedAccount,
    raw: RawTransport,
    context: AccountContext & {
      readonly platform: ToolPlatform;
      /** Of all accounts together. */
      readonly progress: { answers: number };
    },
  ) {
    const { platform, progress, metrics } = context;
    const apiObserver = (name: string): ApiObserver => {
      const observer = metrics.apiObserver(name);
      return {
        ...observer,
        started: (operation) => {
          this.calls += 1;
          const what = `${printable(name)}: ${operation}`;
          platform.progress.show(
            () => `${countOf(progress.answers, 'answer')} from New Relic, ${what}`,
          );
          observer.started(operation);
        },
        ended: (...how) => {
          progress.answers += 1;
          observer.ended(...how);
        },
      };
    };
    this.account = prepared.account;
    this.entries = prepared.entries;
    this.queries = prepared.queries ?? [];
    this.platform = platform;
    const ownMetrics = { ...metrics, apiObserver };
    this.#running = new Account(prepared, raw, { ...context, metrics: ownMetrics });
    this.source = this.#running.source;
    this.asking = this.#running.asking;
  }

  /** What is known of it; writes to the log what is wrong: 429s, and the clock. */
  judged(): AccountDetails {
    this.#running.poller.judge.judge();
    return this.#running.poller.judge.status();
  }

  /** Rejects with the reason of a stop. */
  async discover(wanted: Wanted, knownIds: readonly string[] = []): Promise<Discovery> {
    const { stopSignal } = this.platform;
    stopSignal.throwIfAborted();
    if (wanted.selectors.length === 0) return nothingToDiscover;
    return this.source.discover(wanted, knownIds, stopSignal);
  }

  /**
   * Polls each application once. What fails is in the outcomes, by the ids of the applications. Rejects with
   * the reason of a stop.
   *
   * @param wallMs the time that all windows are cut from
   */
  async poll(
    questions: readonly ApplicationQuestion[],
    wallMs: number = this.platform.clock.wallMs(),
  ): Promise<ReadonlyMap<string, PollOutcome>> {
    const outcomes = new Map<string, PollOutcome>();
    for (const one of await this.#polled(questions, wallMs)) {
      if (one.kind === 'application') {
        outcomes.set(one.question.selected.application.id, one.outcome);
      }
    }
    return outcomes;
  }

  /** Asks a query once. Rejects with the reason of a stop. */
  async query(query: Query): Promise<QueryOutcome> {
    const wallMs = this.platform.clock.wallMs();
    const [polled] = await this.#polled([{ kind: 'query', query }], wallMs);
    if (polled?.kind === 'query') return polled.outcome;
    return queryOutcomeOf(new ApiError('client', 'the source said nothing about the query.'));
  }

  /**
   * Reads the names of an application's hosts, as far as they can be read.
   *
   * @param wanted names that one host may have: other hosts may be left out
   */
  async hostNames(applicationId: string, wanted?: readonly string[]): Promise<HostNames> {
    const { asking } = this;
    const { name, source, timeoutMs } = this.account;
    const signal = this.platform.stopSignal;
    if (source.kind === 'rest') {
      return createRestClient(asking).hostNames(applicationId, { signal }, wanted);
    }
    const { accountId } = source;
    const unexpected = createUnexpectedAnswers(name, asking);
    const how = { accountId, timeoutMs: () => timeoutMs, unexpected };
    const client = createGraphqlClient({ ...asking, ...how });
    const wallMs = (): number => asking.vendorClock.wallMs();
    return listHosts(applicationId, { client, wallMs }, signal);
  }

  /** The text without secrets. */
  redacted(text: string): string {
    return this.platform.redactor.redact(text);
  }

  async close(): Promise<void> {
    await this.#running.close();
  }

  async #polled(questions: readonly Question[], wallMs: number): Promise<readonly Polled[]> {
    const { source } = this;
    const { stopSignal } = this.platform;
    stopSignal.throwIfAborted();
    // Every call listens to it.
    const signal = AbortSignal.any([stopSignal]);
    setMaxListeners(0, signal);
    const all: Polled[] = [];
    const groups = source.groups(questions, []).values();
    await eachOf(groups, mostWaiting, async (group) => {
      const job = { key: keyOf(group), size: 1, dueMs: 0, periodMs: minuteMs };
      const options = { job, signal, windowsAtMs: wallMs };
      for await (const polled of source.poll(() => group, options)) all.push(polled);
    });
    stopSignal.throwIfAborted();
    return all;
  }
}

function keyOf([first]: readonly Question[]): string {
  return first?.kind === 'query' ? first.query.name : (first?.selected.application.id ?? '');
}

/** Asks a query as it is written, with a little less time than the call has. */
export function nrqlRequest(
  operation: Operation,
  {
    accountId,
    nrql,
    timeoutMs,
  }: {
    readonly accountId: number | undefined;
    readonly nrql: string;
    readonly timeoutMs: number;
  },
): ApiRequest {
  const timeout = nrqlTimeoutSeconds(timeoutMs);
  const variables = { account: accountId, nrql, timeout };
  const body = JSON.stringify({ query: nrqlDocument, variables });
  return { operation, target: '/graphql', body, answerSize: 'large' };
}

/**
 * What `read` makes of the value of `nrql` that a query is answered with. Rejects with an `ApiError`, also one of
 * `read`, or with the reason of a stop.
 */
export async function askNrql<Value>(
  open: OpenAccount,
  purpose: NerdGraphPurpose,
  nrql: string,
  read: (part: JsonObject) => Value,
): Promise<Value> {
  const { operation, accountId } = purpose;
  const { timeoutMs } = open.account;
  return askPart(open, purpose, nrqlRequest(operation, { accountId, nrql, timeoutMs }), read);
}

/**
 * What `read` makes of the part of NerdGraph's answer that was asked for. Rejects with an `ApiError`, also one of
 * `read`, or with the reason of a stop.
 */
export async function askPart<Value>(
  { asking, platform }: OpenAccount,
  purpose: NerdGraphPurpose,
  request: ApiRequest,
  read: (part: JsonObject) => Value,
): Promise<Value> {
  const response = await asking.send(request, platform.stopSignal);
  return countingFailures(response, purpose, asking.observer, () =>
    read(objectOf(answeredPartOf(documentIn(response, purpose, parseJson)))),
  );
}

/** Why NerdGraph is not asked about an account, and what to do about it. */
export const noAccountId =
  'account_id is not in the configuration, and NerdGraph needs it: add it to the account; newrelic-exporter check-config --online proposes the line';

const alone = { shard: { ordinal: 0, total: 1 }, reload: undefined, problemsSinceMs: undefined };

/** What is wrong with the clocks, and with keys that several accounts have. */
export function problemsOfAll(accounts: readonly OpenAccount[]): readonly Problem[] {
  return problemsOfProcess(
    alone,
    accounts.map((account) => account.judged()),
  );
}

const ignore = (): void => undefined;
/** The log of who tells all that there is to say. */
export const noLog: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Takes one item after the other, as many together as there are workers. */
export async function eachOf<Item>(
  items: Iterator<Item, undefined>,
  workers: number,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (let next = items.next(); next.done !== true; next = items.next()) await run(next.value);
    }),
  );
}

/**
 * Opens accounts, each with its own key, budget and connections as in the daemon, asks them something and
 * closes them. Rejects with a `CommandError` if a key or a file cannot be read.
 *
 * @param most calls of a key in flight, of all its accounts together. Default: as many as New Relic allows
 * @param logger gets the warnings. Default: a log on standard error
 */
export async function withAccounts<Result>(
  all: readonly AccountInUse[],
  platform: ToolPlatform,
  ask: (accounts: readonly OpenAccount[]) => Promise<Result>,
  own: Readonly<{ most?: number; logger?: Logger | undefined }> = {},
): Promise<Result> {
  const options = { logLevel: 'warn', logFormat: 'auto' } as const;
  const logger = own.logger ?? (await createLogger(options, platform));
  const metrics = createSelfMetrics(buildOf(platform.env), {
    status: () => [],
    seriesOf: () => 0,
    droppedSeriesOf: () => 0,
    nextTurn: platform.nextTurn,
  });
  const sink = {
    publish: () => undefined,
    remove: () => undefined,
    accountUp: () => undefined,
    removeAccount: () => undefined,
    leftOutOf: () => ({ duplicate: 0, max_series: 0, fault: 0 }),
  };
  const { most = Number.POSITIVE_INFINITY } = own;
  const keys = new Keys({ clock: platform.clock, patienceMs: commandPatienceMs, most });
  const context = { platform, sink, metrics, logger, keys };
  const prepared = await Promise.all(all.map(async (one) => prepareAccount(one, context)));
  const progress = { answers: 0 };
  const accounts = await Promise.all(
    prepared.map(async (one) => {
      const raw = await platform.openTransport(one.wire);
      return new OpenAccount(one, raw, { ...context, platform, progress });
    }),
  );
  const over = new AbortController();
  const log = new ProblemLog({}, { clock: platform.clock, logger });
  const told = log.watch(() => problemsOfAll(accounts), over.signal);
  try {
    return await ask(accounts);
  } finally {
    over.abort();
    await told;
    await Promise.all(accounts.map(async (account) => account.close()));
  }
}
