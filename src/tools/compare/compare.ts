import { loadForCommand, renderWarnings } from '../../cli/command-config.ts';
import type { Flags } from '../../cli/flag-table.ts';
import type { Outcome } from '../../cli/one-shot.ts';
import { Account, type AccountContext } from '../../daemon/accounts.ts';
import { CommandError, type ToolPlatform } from '../../daemon/platform.ts';
import {
  accountsInUse,
  type PreparedAccount,
  prepareAccount,
} from '../../daemon/prepare-account.ts';
import type { AccountConfig, AccountSource } from '../../model/config.ts';
import type { ApiObserver } from '../../model/telemetry.ts';
import { askingDependencies } from '../account-discovery.ts';
import { type AccountComparison, compareAccount, type OpenApi } from './compare-account.ts';
import { comparisonText, judgementOf } from './compare-text.ts';

/**
 * Prints whether REST and NerdGraph give the same values for the configured applications. Ends with 1
 * if they do not, or if that could not be found out. Rejects with a `CommandError` if the configuration
 * allows no comparison.
 */
export async function compare(flags: Flags, platform: ToolPlatform): Promise<Outcome> {
  const { config, warnings } = await loadForCommand(flags.configFile, platform);
  platform.stderr.write(renderWarnings(warnings));
  const dependencies = await askingDependencies(platform);
  const prepared = await Promise.all(
    accountsInUse({ accounts: config.accounts, apps: config.apps }).map(async (inUse) =>
      prepareAccount(inUse, dependencies),
    ),
  );
  const accounts = await Promise.all(prepared.map(async (one) => compared(one, dependencies)));
  const judgement = judgementOf(accounts);
  const { redactor } = platform;
  const failures = redactor.redact(failureText(accounts));
  if (prepared.every(({ account }) => account.source.accountId === undefined)) {
    throw new CommandError(2, `${failures}${judgement.sentence}`);
  }
  platform.stderr.write(failures);
  const output = redactor.redact(comparisonText(accounts, judgement, flags));
  return { exitCode: judgement.safe === 'yes' ? 0 : 1, output };
}

function failureText(accounts: readonly AccountComparison[]): string {
  return accounts
    .flatMap((one) =>
      one.kind === 'compared' ? [] : `account ${one.account}: not compared: ${one.reason}\n`,
    )
    .join('');
}

const noAccountId =
  'account_id is not in the configuration, and NerdGraph needs it: add it to the account; newrelic-exporter check-config --online proposes the line';

async function compared(
  prepared: PreparedAccount,
  dependencies: AccountContext,
): Promise<AccountComparison> {
  const { account, entries } = prepared;
  const { accountId } = account.source;
  if (accountId === undefined) {
    return { kind: 'not compared', account: account.name, reason: noAccountId };
  }
  const rest = await openApi(prepared, { kind: 'rest', accountId }, dependencies);
  try {
    const nerdgraph = await openApi(prepared, { kind: 'nerdgraph', accountId }, dependencies);
    try {
      const { clock, stopSignal: signal } = dependencies.platform;
      return await compareAccount(
        { account: account.name, entries, concurrency: account.concurrency, rest, nerdgraph },
        { clock, wallMs: () => rest.vendorClock.wallMs(), signal },
      );
    } finally {
      await nerdgraph.close();
    }
  } finally {
    await rest.close();
  }
}

/** What the REST API and NerdGraph take without harm, for an account that has limits for the other one. */
const restRequestsPerMinute = 800;
const nerdgraphConcurrency = 5;

function withSource(account: AccountConfig, source: AccountSource): AccountConfig {
  const { requestsPerMinute, concurrency } = account;
  if (account.source.kind === source.kind) return account;
  return source.kind === 'rest'
    ? {
        ...account,
        source,
        requestsPerMinute: Math.min(requestsPerMinute, restRequestsPerMinute),
      }
    : { ...account, source, concurrency: Math.min(concurrency, nerdgraphConcurrency) };
}

interface RunningApi extends OpenApi {
  close(): Promise<void>;
}

/** One account with one of the APIs, paced by the budget of the account. */
async function openApi(
  prepared: PreparedAccount,
  source: AccountSource,
  dependencies: AccountContext,
): Promise<RunningApi> {
  const { platform, metrics } = dependencies;
  const one = { ...prepared, account: withSource(prepared.account, source) };
  let calls = 0;
  const countingObserver = (account: string): ApiObserver => {
    const observer = metrics.apiObserver(account);
    return {
      ...observer,
      started: (operation) => {
        calls += 1;
        observer.started(operation);
      },
    };
  };
  const runtime = new Account(one, await platform.openTransport(one.wire), {
    ...dependencies,
    metrics: { ...metrics, apiObserver: countingObserver },
  });
  return {
    source: runtime.source,
    vendorClock: runtime.asking.vendorClock,
    calls: () => calls,
    close: async () => runtime.close(),
  };
}
