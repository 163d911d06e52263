import type { Flags } from '../../cli/flag-table.ts';
import type { Outcome } from '../../cli/one-shot.ts';
import type { ToolPlatform } from '../../daemon/platform.ts';
import type { Config } from '../../model/config.ts';
import { loadOrUsual, withAccounts } from '../survey/ask.ts';
import { type ListedMetric, listMetrics, type MetricListEnd } from '../survey/metric-lists.ts';
import { accountsNamed, findTarget, type Target } from '../survey/metrics-target.ts';
import { kindOf, valuesNow } from './metric-values.ts';
import { metricsTable, notesOf } from './metrics-text.ts';
import { metricsYaml } from './metrics-yaml.ts';

/**
 * Prints which metrics an application has, or one of its hosts. Ends with 1 if there are none, or if the list could
 * not be read to its end; what was read until then is still printed, also when the process is asked to stop. Rejects
 * with a `CommandError` if there is no such application or host.
 *
 * @param application its id or its name
 */
export async function metrics(
  application: string,
  flags: Flags,
  platform: ToolPlatform,
): Promise<Outcome> {
  const config = await loadOrUsual(flags.configFile, platform);
  return withAccounts(accountsNamed(config, flags.account), platform, async (accounts) => {
    const target = await findTarget(application, flags.host, accounts);
    return listed(target, config, flags, platform);
  });
}

/** At six seconds a page, ten minutes. */
const mostPages = 100;

async function listed(
  target: Target,
  { apps: [usual] }: Config,
  { like, output, all: isLong }: Flags,
  platform: ToolPlatform,
): Promise<Outcome> {
  const { redactor, stderr, stopSignal } = platform;
  const found = new Map<string, ListedMetric>();
  const end = await readList(target, like, found, stopSignal);
  const all = [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
  for (const note of notesOf(all, target, end, like)) stderr.write(`${redactor.redact(note)}\n`);
  const exitCode = end?.error === undefined && end?.cut === undefined ? 0 : 1;
  if (all.length === 0) return { exitCode: 1, output: '' };
  if (output === 'text' && usual !== undefined) {
    const { values, error } = await valuesNow(all, target, usual);
    if (error !== undefined) stderr.write(`${redactor.redact(`not all values: ${error}`)}\n`);
    return {
      exitCode: error === undefined ? exitCode : 1,
      output: metricsTable(all, values, isLong),
    };
  }
  // Of each metric what the table shows of it: nine lines for each of a thousand would bury it.
  const offered = isLong
    ? all
    : all.map((one) => ({ ...one, values: kindOf(one)?.shown ?? one.values }));
  return { exitCode, output: metricsYaml(offered, { isOfHost: target.host !== undefined }) };
}

/** Fills in what arrives, each name once. `undefined` after a stop: then there is what had arrived by then. */
async function readList(
  { open, application, host }: Target,
  like: string,
  found: Map<string, ListedMetric>,
  stopSignal: AbortSignal,
): Promise<MetricListEnd | undefined> {
  const question = {
    applicationId: application.id,
    hostId: host?.id,
    like: like === '' ? undefined : like,
  };
  try {
    return await listMetrics(open, question, mostPages, (some) => {
      for (const { name, values } of some) found.set(name, { name, values: values?.toSorted() });
    });
  } catch (error) {
    if (stopSignal.aborted) return undefined;
    throw error;
  }
}
