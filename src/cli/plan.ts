import { CommandError } from './exit-code.ts';
import type { Flags } from './flags.ts';
import { loadForCommand, renderWarnings } from './load.ts';
import type { Machine } from './machine.ts';
import { planDiscovered, planSupposed } from './make-plan.ts';
import type { Outcome } from './one-shot.ts';
import { discoverAccounts } from './online-discovery.ts';
import { planJson } from './plan-json.ts';
import { planText } from './plan-text.ts';

/**
 * Prints what polling the configured applications will take: as supposed, or with `--online` as one
 * discovery finds it. 1 if an account does not fit its budget, or could not be discovered.
 */
export async function plan(flags: Flags, machine: Machine): Promise<Outcome> {
  if (flags.output === 'yaml') {
    throw new CommandError(2, 'plan: --output=yaml is only for discover: expected text or json');
  }
  const { config, warnings } = await loadForCommand(flags.configFile, machine);
  machine.stderr.write(renderWarnings(warnings));
  const result = flags.online
    ? await planDiscovered(await discoverAccounts(config, machine, 'plan'), flags.replicas, machine)
    : await planSupposed(
        config,
        {
          applicationsPerMatch: flags.planApplicationsPerMatch,
          hostsPerApplication: flags.planHostsPerApplication,
        },
        flags.replicas,
        machine,
      );
  for (const { account, reason } of result.failures) {
    machine.stderr.write(`account ${account}: discovery failed: ${reason}\n`);
  }
  const output = flags.output === 'json' ? planJson(result) : planText(result);
  return { exitCode: result.fits ? 0 : 1, output };
}
