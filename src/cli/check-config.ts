import { KeyError, readApiKey } from '../config/api-key.ts';
import { CaFileError, readCaFile } from '../config/ca-file.ts';
import { buildOf } from '../daemon/build.ts';
import { loadForCommand, renderWarnings } from '../daemon/config-reader.ts';
import { CommandError, type Platform } from '../daemon/platform.ts';
import { gzipFast } from '../exposition/page.ts';
import { createSeriesStore } from '../exposition/series-store.ts';
import type { AccountConfig, Config } from '../model/config.ts';
import {
  hostsToPoll,
  isWorthPolling,
  type SelectedApplication,
} from '../model/selected-application.ts';
import type { AppSnapshot, Throughput } from '../model/snapshot.ts';
import type { AccountStatus } from '../model/telemetry.ts';
import { createSelfMetrics } from '../telemetry/self-metrics.ts';
import type { Flags } from './flags.ts';
import type { Outcome } from './one-shot.ts';
import { type DiscoveredAccount, discoverAccounts } from './online-discovery.ts';
import { countOf } from './text.ts';

/**
 * Checks the file and the key and CA files that it names; with `--online` also what the vendor says
 * to keys and entries. Prints all that is wrong, and what is only doubtful, and says which file was
 * good. 1 if a key is refused, an account cannot be discovered, or an entry matches nothing.
 */
export async function checkConfig(flags: Flags, platform: Platform): Promise<Outcome> {
  const { config, warnings } = await loadForCommand(flags.configFile, platform);
  platform.stderr.write(renderWarnings(warnings));
  const fileProblems = await unreadableFiles(config, platform);
  if (fileProblems.length > 0) {
    throw new CommandError(
      2,
      fileProblems.map((problem) => `${flags.configFile}: ${problem}`).join('\n'),
    );
  }
  const { accounts, apps } = config;
  const verdict =
    `${flags.configFile}: ok, ${countOf(accounts.length, 'account')}, ` +
    `${countOf(apps.length, 'entry', 'entries')} of apps, ${countOf(warnings.length, 'warning')}\n`;
  if (!flags.online) return { exitCode: 0, output: verdict };
  const { exitCode, output } = await checkOnline(config, platform);
  return { exitCode, output: verdict + output };
}

async function checkOnline(config: Config, platform: Platform): Promise<Outcome> {
  const discovered = await discoverAccounts(config, platform, 'check');
  const lines: string[] = [];
  for (const {
    account,
    discovery,
    selected,
    missing,
    pendingIds,
    failure,
    hostless,
  } of discovered) {
    if (failure !== undefined) {
      platform.stderr.write(`account ${account.name}: discovery failed: ${failure}\n`);
      continue;
    }
    lines.push(
      `account ${account.name}: key accepted, ` +
        `${countOf(discovery.applications.length, 'application')} found, ${selected.length} chosen\n`,
    );
    for (const selector of missing) {
      platform.stderr.write(
        `account ${account.name}: ${selector} matches nothing: correct the entry under apps, ` +
          'or use a key of the account that has it\n',
      );
    }
    if (pendingIds.length > 0) {
      platform.stderr.write(
        `account ${account.name}: ${countOf(pendingIds.length, 'more id')} not found so far: correct ` +
          'the entries named above, and check again\n',
      );
    }
    platform.stderr.write(hostlessText(account, hostless));
  }
  const isGood = discovered.every(
    ({ failure, missing, pendingIds, hostless }) =>
      failure === undefined &&
      missing.length === 0 &&
      pendingIds.length === 0 &&
      hostless.every((one) => one.failure === undefined),
  );
  return { exitCode: isGood ? 0 : 1, output: lines.join('') };
}

/** No fault of the configuration: it may be checked elsewhere, or before the agent has started. */
function hostlessText(account: AccountConfig, hostless: DiscoveredAccount['hostless']): string {
  return hostless
    .map(({ application, wanted, failure }) => {
      const subject = `account ${account.name}: application ${application.id}`;
      const names = wanted.map((name) => JSON.stringify(name)).join(' or ');
      return failure === undefined
        ? `${subject} has no host ${names} so far, as hosts: self wants: it appears some minutes ` +
            'after its agent has started; --host-name gives another name\n'
        : `${subject}: the host ${names} could not be looked for: ${failure}\n`;
    })
    .join('');
}

async function unreadableFiles(config: Config, platform: Platform): Promise<readonly string[]> {
  const problems = await Promise.all(
    config.accounts.flatMap((account) => [
      problemOf(account, async () => readApiKey(account.apiKey, platform)),
      problemOf(account, async () =>
        account.caFile === undefined ? undefined : readCaFile(account.caFile, platform),
      ),
    ]),
  );
  return problems.flat();
}

async function problemOf(
  { name }: AccountConfig,
  read: () => Promise<unknown>,
): Promise<readonly string[]> {
  try {
    await read();
    return [];
  } catch (error) {
    if (error instanceof KeyError || error instanceof CaFileError) {
      return [`account ${name}: ${error.message}`];
    }
    throw error;
  }
}

/** An account as far as its series depend on it. */
export interface SeriesInput {
  readonly account: string;
  readonly applications: readonly SelectedApplication[];
  readonly missing: readonly string[];
}

export interface ExpectedSeries {
  /** New Relic data of each account, `newrelic_up` included, if the vendor has every value. */
  readonly byAccount: ReadonlyMap<string, number>;
  /** The exporter's own, of all accounts together. */
  readonly own: number;
}

/** Counts the series by rendering what the daemon would render if every answer held every value. */
export async function expectedSeries(
  inputs: readonly SeriesInput[],
  platform: Platform,
): Promise<ExpectedSeries> {
  const store = createSeriesStore({ gzip: gzipFast, nextTurn: platform.nextTurn });
  for (const { account, applications } of inputs) {
    store.accountUp(account, true);
    for (const selected of applications) store.publish(fullSnapshot(account, selected));
  }
  const metrics = createSelfMetrics(buildOf(platform.env), {
    status: () => inputs.map(statusOf),
    seriesOf: (account) => store.seriesOf(account),
    droppedSeriesOf: () => 0,
  });
  for (const { account } of inputs) {
    metrics.apiObserver(account);
    metrics.pollObserver(account);
  }
  metrics.configReloaded(true, 0);
  const own = (await metrics.text()).split('\n').filter((line) => /^[a-z]/u.test(line)).length;
  return {
    byAccount: new Map(inputs.map(({ account }) => [account, store.seriesOf(account)])),
    own,
  };
}

function fullSnapshot(account: string, selected: SelectedApplication): AppSnapshot {
  const { application, entry } = selected;
  const isPolled = isWorthPolling(selected);
  const throughput: Throughput = new Map(entry.transactions.map((type) => [type, 0]));
  const hosts = isPolled ? hostsToPoll(selected) : [];
  return {
    account,
    application,
    hostsOnly: !entry.application,
    labels: entry.labels,
    hostNames: new Map(),
    reading: {
      windowEndMs: isPolled ? 0 : undefined,
      application: isPolled ? throughput : new Map(),
      hosts: new Map(hosts.map((id) => [id, throughput])),
    },
    pollSucceeded: true,
    lastSuccessMs: 0,
  };
}

function statusOf({ account, missing }: SeriesInput): AccountStatus {
  return {
    name: account,
    up: true,
    error: undefined,
    firstCycleEnded: true,
    applications: 0,
    hosts: 0,
    polledApplications: 0,
    requestsInFlight: 0,
    budgetRequestsPerMinute: 0,
    demandRequestsPerMinute: 0,
    pollIntervalSeconds: 0,
    backoffUntilMs: undefined,
    missingSelectors: missing,
  };
}
