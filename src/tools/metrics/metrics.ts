import type { Flags } from '../../cli/flag-table.ts';
import type { Outcome } from '../../cli/one-shot.ts';
import type { ToolPlatform } from '../../daemon/platform.ts';
import type { Config } from '../../model/config.ts';
import { printable } from '../../model/shown-text.ts';
import { loadOrUsual, withAccounts } from '../survey/ask.ts';
import { listMetrics } from '../survey/metric-lists.ts';
import { accountsNamed, findTarget, type Target } from '../survey/metrics-target.ts';
import { kindOf, valuesNow } from './metric-values.ts';
import { metricsTable } from './metrics-text.ts';
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
  { redactor, stderr }: ToolPlatform,
): Promise<Outcome> {
  const { open, application, host } = target;
  const tell = (note: string): void => void stderr.write(`${redactor.redact(note)}\n`);
  const question = { applicationId: application.id, hostId: host?.id, like };
  const { metrics: all, lack } = await listMetrics(open, question, mostPages);
  const isEmpty = all.length === 0;
  if (lack !== undefined || isEmpty) tell(lackText(target, lack, like));
  if (all.some(({ values }) => values === undefined)) tell(unknownValues);
  if (isEmpty) return { exitCode: 1, output: '' };
  const exitCode = lack === undefined ? 0 : 1;
  if (output === 'yaml' || usual === undefined) {
    // Of each metric what the table shows of it: nine lines for each of a thousand would bury it.
    const shown = all.map((one) => ({ ...one, values: kindOf(one)?.shown ?? one.values }));
    const isOfHost = host !== undefined;
    return { exitCode, output: metricsYaml(isLong ? all : shown, { isOfHost }) };
  }
  const { values, error } = await valuesNow(all, target, usual);
  if (error !== undefined) tell(`not all values: ${error}`);
  const table = metricsTable(all, values, isLong);
  return { exitCode: error === undefined ? exitCode : 1, output: table };
}

const unknownValues =
  'note: NerdGraph does not tell which values a metric has: they are shown where its name says so';

function lackText(
  { open, application, host }: Target,
  lack: string | undefined,
  like: string,
): string {
  if (lack !== undefined) return `account ${printable(open.account.name)}: ${lack}`;
  const filter = like === '' ? '' : ` whose name contains "${printable(like)}"`;
  const where = host === undefined ? '' : ` on host ${printable(host.name ?? host.id)}`;
  // The documents of the REST API do not say how it compares; those of NRQL do.
  const isCaseInDoubt = like !== '' && open.account.source.kind === 'rest';
  const hint = isCaseInDoubt ? ': New Relic may want it written exactly as the agent does' : '';
  return `application ${application.id} has no metric${filter}${where}${hint}`;
}
