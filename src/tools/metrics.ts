import type { Flags } from '../cli/flag-table.ts';
import type { Outcome } from '../cli/one-shot.ts';
import { Account } from '../daemon/accounts.ts';
import type { ToolPlatform } from '../daemon/platform.ts';
import { prepareAccount } from '../daemon/prepare-account.ts';
import type { Config } from '../model/config.ts';
import { askingDependencies } from './account-discovery.ts';
import { configOrKey } from './config-or-key.ts';
import { kindOf } from './metric-kinds.ts';
import type { ListedMetric, MetricListEnd } from './metric-list.ts';
import { metricLister } from './metric-lister.ts';
import { valuesNow } from './metric-values.ts';
import { accountsNamed, findTarget, type Target } from './metrics-target.ts';
import { metricsTable, notesOf } from './metrics-text.ts';
import { metricsYaml } from './metrics-yaml.ts';

export interface MetricsOptions {
  readonly flags: Flags;
  /** The id or the name of the application. */
  readonly operand: string | undefined;
}

/**
 * Prints which metrics an application has, or one of its hosts. Ends with 1 if the list could not be read
 * to its end; what was read until then is still printed, also when the process is asked to stop. Rejects
 * with a `CommandError` if there is no such application or host.
 */
export async function metrics(
  { flags, operand: application = '' }: MetricsOptions,
  platform: ToolPlatform,
): Promise<Outcome> {
  const config = await configOrKey(flags, platform);
  const dependencies = await askingDependencies(platform);
  const prepared = await Promise.all(
    accountsNamed(config, flags.account).map(async (inUse) => prepareAccount(inUse, dependencies)),
  );
  const runtimes = await Promise.all(
    prepared.map(
      async (one) => new Account(one, await platform.openTransport(one.wire), dependencies),
    ),
  );
  try {
    const target = await findTarget({ application, host: flags.host }, runtimes, platform);
    return await listed(target, config, flags, platform);
  } finally {
    await Promise.all(runtimes.map(async (runtime) => runtime.close()));
  }
}

/** At six seconds a page, ten minutes. */
const mostPages = 100;

async function listed(
  target: Target,
  { apps: [usual] }: Config,
  { like, output, all: isLong }: Pick<Flags, 'like' | 'output' | 'all'>,
  platform: ToolPlatform,
): Promise<Outcome> {
  const { redactor, stderr, stopSignal } = platform;
  const found = new Map<string, ListedMetric>();
  const end = await readList(target, like, found, stopSignal);
  const all = [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
  for (const note of notesOf(all, target, { end, like })) {
    stderr.write(`${redactor.redact(note)}\n`);
  }
  const exitCode = end?.error === undefined && end?.cut === undefined ? 0 : 1;
  if (all.length === 0) return { exitCode, output: '' };
  if (output === 'text' && usual !== undefined) {
    const { valueOf, error } = await valuesNow(all, target, usual, platform);
    if (error !== undefined) stderr.write(`${redactor.redact(`not all values: ${error}`)}\n`);
    return {
      exitCode: error === undefined ? exitCode : 1,
      output: metricsTable(all, valueOf, isLong),
    };
  }
  // Of each metric what the table shows of it: nine lines for each of a thousand would bury it.
  const offered = isLong
    ? all
    : all.map((one) => ({ ...one, values: kindOf(one)?.shown ?? one.values }));
  return { exitCode, output: metricsYaml(offered, { isOfHost: target.host !== undefined }) };
}

/**
 * Fills in what arrives, each name once. `undefined` if the process was asked to stop: then there is only
 * what had arrived by then.
 */
async function readList(
  { runtime, application, host }: Target,
  like: string,
  found: Map<string, ListedMetric>,
  signal: AbortSignal,
): Promise<MetricListEnd | undefined> {
  const onPage = (some: readonly ListedMetric[]): void => {
    for (const { name, values } of some) found.set(name, { name, values: values?.toSorted() });
  };
  const question = {
    applicationId: application.id,
    hostId: host?.id,
    like: like === '' ? undefined : like,
  };
  try {
    return await metricLister(runtime, mostPages)(question, { signal, onPage });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}
