import { didYouMean } from '../../config/suggestion.ts';
import { CommandError } from '../../daemon/platform.ts';
import { accountsInUse } from '../../daemon/prepare-account.ts';
import type { Application } from '../../model/application.ts';
import type { AccountInUse, Config, Selector } from '../../model/config.ts';
import { printable } from '../../model/shown-text.ts';
import { isEntityId } from '../../newrelic/answer.ts';
import type { OpenAccount } from './ask.ts';
import { suggestionFor } from './name-suggestion.ts';

/** What metrics are listed of: an application, or one of its hosts. */
export interface Target {
  readonly open: OpenAccount;
  readonly application: Application;
  /** By its id in the API of the account; `undefined` for the application. */
  readonly host: { readonly id: string; readonly name: string | undefined } | undefined;
}

/** The account of that name, with or without entries; without a name, all that have entries. */
export function accountsNamed(config: Config, name: string): readonly AccountInUse[] {
  if (name === '') return accountsInUse(config);
  const account = config.accounts.find((one) => one.name === name);
  if (account !== undefined) return [{ account, entries: [] }];
  const names = config.accounts.map((one) => one.name);
  const hint = didYouMean(name, names) ?? `there are: ${names.map(printable).join(', ')}`;
  const what = `--account: account ${JSON.stringify(name)} is not in the configuration`;
  throw new CommandError(2, `${what}: ${hint}`);
}

/**
 * The application with this id, or else with exactly this name, and its host with this id or name. Rejects
 * with a `CommandError` if there is none, or more than one.
 *
 * @param host empty for none
 */
export async function findTarget(
  application: string,
  host: string,
  accounts: readonly OpenAccount[],
): Promise<Target> {
  const found = await findApplication(application, accounts);
  return host === '' ? found : { ...found, host: await findHost(host, found) };
}

async function findApplication(wanted: string, accounts: readonly OpenAccount[]): Promise<Target> {
  const byName: Selector = { kind: 'name', name: wanted };
  const selectors: readonly Selector[] = isEntityId(wanted)
    ? [{ kind: 'id', id: wanted }, byName]
    : [byName];
  const all = await Promise.all(
    accounts.map(async (open) => {
      const { complete, error, applications } = await open.discover({ selectors });
      if (!complete) {
        const reason = open.redacted(error?.message ?? 'no answer');
        open.platform.stderr.write(`account ${nameOf(open)}: discovery failed: ${reason}\n`);
      }
      return { open, complete, applications };
    }),
  );
  const found = all.flatMap(({ open, applications }) => {
    const byId = applications.filter(({ id }) => id === wanted);
    const chosen = byId.length > 0 ? byId : applications.filter(({ name }) => name === wanted);
    return chosen.map((application) => ({ open, application, host: undefined }));
  });
  if (found.length > 1) throw severalFound(wanted, found);
  const [only] = found;
  if (only !== undefined) return only;
  const searched = all.filter(({ complete }) => complete);
  const listed = searched.flatMap(({ applications }) => applications);
  const where = `${accounts.length === 1 ? 'account' : 'the accounts'} ${accounts.map(nameOf).join(', ')}`;
  const what = `no application with the id or the name ${quoted(wanted)} was found in ${where}`;
  const [first] = searched;
  if (first === undefined) throw new CommandError(1, what);
  const hint = await suggestionFor(byName, listed, first.open.account.source);
  throw new CommandError(1, `${what}: ${hint}`);
}

function severalFound(wanted: string, all: readonly Target[]): CommandError {
  const lines = all.map(
    ({ open, application: { id, name } }) =>
      `  ${id}  ${printable(name)}  (account ${nameOf(open)})`,
  );
  const isOneId = new Set(all.map(({ application }) => application.id)).size === 1;
  const remedy = isOneId ? 'name the account with --account' : 'give the id of one of them';
  const what = `${all.length} applications have the name or the id ${quoted(wanted)}: ${remedy}`;
  return new CommandError(1, [what, ...lines].join('\n'));
}

async function findHost(wanted: string, { open, application }: Target): Promise<Target['host']> {
  const { id, name, hostIds } = application;
  if (hostIds?.includes(wanted) === true) return { id: wanted, name: undefined };
  const subject = `application ${id} ${quoted(name)}`;
  const { names, error } = await open.hostNames(id, [wanted]);
  const found = [...names].filter(([, one]) => one === wanted);
  const [first, ...others] = found;
  if (others.length > 0) {
    const what = `${subject} has ${found.length} hosts with the name ${quoted(wanted)}`;
    const ids = found.map(([hostId]) => hostId).join(', ');
    throw new CommandError(1, `${what}: give the id of one of them with --host: ${ids}`);
  }
  if (first !== undefined) return { id: first[0], name: first[1] };
  throw new CommandError(
    1,
    error === undefined
      ? `${subject} has no host with the id or the name ${quoted(wanted)}`
      : `the hosts of ${subject} could not be read: ${open.redacted(error.message)}`,
  );
}

function nameOf({ account }: OpenAccount): string {
  return printable(account.name);
}

function quoted(text: string): string {
  return `"${printable(text)}"`;
}
