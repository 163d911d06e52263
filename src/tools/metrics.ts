import type { Flags } from '../cli/flag-table.ts';
import type { OutputFormat } from '../cli/flags.ts';
import type { Outcome } from '../cli/one-shot.ts';
import { AccountRuntime } from '../daemon/account-runtime.ts';
import type { ToolPlatform } from '../daemon/platform.ts';
import { prepareAccount } from '../daemon/prepare-account.ts';
import type { ListedMetric, ListMetrics, MetricListEnd } from '../model/metric-list.ts';
import {
  createMetricNames as createRestMetricNames,
  defaultMaxMetricPages,
} from '../rest/metric-names.ts';
import { askingDependencies } from './account-discovery.ts';
import { configOrKey } from './config-or-key.ts';
import { accountsNamed, findTarget, type Target } from './metrics-target.ts';
import { metricsJson, metricsTable, notesOf } from './metrics-text.ts';
import { metricsYaml } from './metrics-yaml.ts';
import { createMetricNames as createNrqlMetricNames } from './nrql-metric-names.ts';

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
      async (one) => new AccountRuntime(one, await platform.openTransport(one.wire), dependencies),
    ),
  );
  try {
    const target = await findTarget({ application, host: flags.host }, runtimes, platform);
    return await listed(target, flags, platform);
  } finally {
    await Promise.all(runtimes.map(async (runtime) => runtime.close()));
  }
}

async function listed(
  target: Target,
  { like, output }: Pick<Flags, 'like' | 'output'>,
  { redactor, stderr, stopSignal }: ToolPlatform,
): Promise<Outcome> {
  const found = new Map<string, ListedMetric>();
  const end = await readList(target, like, found, stopSignal);
  const all = [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const isComplete = end !== undefined && end.error === undefined && end.cut === undefined;
  for (const note of notesOf(all, target, { end, like })) {
    stderr.write(`${redactor.redact(note)}\n`);
  }
  const isNothing = all.length === 0 && (!isComplete || output !== 'json');
  return {
    exitCode: end?.error === undefined ? 0 : 1,
    output: isNothing ? '' : outputOf(all, target, isComplete, output),
  };
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
    return await listerFor(runtime)(question, { signal, onPage });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

function listerFor({ asking, prepared }: AccountRuntime): ListMetrics {
  const { source } = prepared.account;
  if (source.kind === 'rest') {
    return createRestMetricNames({ maxPages: defaultMaxMetricPages }, asking);
  }
  const timeoutMs = (): number => prepared.account.timeoutMs;
  return createNrqlMetricNames({ accountId: source.accountId, timeoutMs }, asking);
}

function outputOf(
  all: readonly ListedMetric[],
  target: Target,
  isComplete: boolean,
  format: OutputFormat,
): string {
  switch (format) {
    case 'json':
      return metricsJson(all, target, isComplete);
    case 'yaml':
      return metricsYaml(all, { isOfHost: target.host !== undefined });
    case 'text':
      return metricsTable(all);
  }
}
