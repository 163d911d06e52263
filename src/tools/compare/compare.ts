import type { Flags } from '../../cli/flag-table.ts';
import type { Outcome } from '../../cli/one-shot.ts';
import { CommandError, type ToolPlatform } from '../../daemon/platform.ts';
import { accountsInUse } from '../../daemon/prepare-account.ts';
import type { AccountInUse } from '../../model/config.ts';
import { loadForCommand, noAccountId, withAccounts, withSource } from '../survey/ask.ts';
import { type AccountComparison, compareAccount } from './compare-account.ts';
import { comparisonText, judgementOf } from './compare-text.ts';

/**
 * Prints whether REST and NerdGraph give the same values for the configured applications. Ends with 1
 * if they do not, or if that could not be found out. Rejects with a `CommandError` if the configuration
 * allows no comparison.
 */
export async function compare(flags: Flags, platform: ToolPlatform): Promise<Outcome> {
  const { redactor, stderr } = platform;
  const { accounts, apps } = await loadForCommand(flags.configFile, platform);
  const inUse = accountsInUse({ accounts, apps });
  const all = await withAccounts(inUse.flatMap(withEachApi), platform, async (apis) =>
    Promise.all(
      inUse.map(async ({ account: { name } }): Promise<AccountComparison> => {
        const [rest, nerdgraph] = apis.filter((api) => api.account.name === name);
        return rest === undefined || nerdgraph === undefined
          ? { kind: 'not compared', account: name, reason: noAccountId }
          : compareAccount({ rest, nerdgraph });
      }),
    ),
  );
  const judgement = judgementOf(all);
  const failures = all.flatMap((one) =>
    one.kind === 'compared' ? [] : [`account ${one.account}: not compared: ${one.reason}\n`],
  );
  const failureText = redactor.redact(failures.join(''));
  if (inUse.every(({ account }) => account.source.accountId === undefined)) {
    throw new CommandError(2, `${failureText}${judgement.sentence}`);
  }
  stderr.write(failureText);
  const output = redactor.redact(comparisonText(all, judgement, flags.all));
  return { exitCode: judgement.safe === 'yes' ? 0 : 1, output };
}

/** The account with REST and with NerdGraph, each paced by its budget; neither if its id is not known. */
function withEachApi({ account, entries }: AccountInUse): readonly AccountInUse[] {
  const { accountId } = account.source;
  if (accountId === undefined) return [];
  return [
    { account: withSource(account, { kind: 'rest', accountId }), entries },
    { account: withSource(account, { kind: 'nerdgraph', accountId }), entries },
  ];
}
