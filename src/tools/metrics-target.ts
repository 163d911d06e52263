import { didYouMean } from '../config/suggestion.ts';
import type { Account } from '../daemon/accounts.ts';
import { CommandError, type ToolPlatform } from '../daemon/platform.ts';
import { accountsInUse } from '../daemon/prepare-account.ts';
import type { Application } from '../model/application.ts';
import type { AccountInUse, Config, Selector } from '../model/config.ts';
import { printable } from '../model/shown-text.ts';
import { isEntityId } from '../newrelic/json.ts';
import { discoverWithin } from '../poll/discovery-state.ts';
import { longestDiscoveryMs } from './account-discovery.ts';
import { hostNamesOf } from './host-names.ts';
import { suggestionFor } from './name-suggestion.ts';

/** An application and the account that has it. */
interface FoundApplication {
  readonly runtime: Account;
  readonly application: Application;
}

/** What metrics are listed of. */
export interface Target extends FoundApplication {
  /** One of its hosts, by its id in the API of the account; `undefined` for the application. */
  readonly host: { readonly id: string; readonly name: string | undefined } | undefined;
}

/** The account of that name, with or without entries; without a name, all that have entries. */
export function accountsNamed(config: Config, name: string): readonly AccountInUse[] {
  if (name === '') return accountsInUse(config);
  const account = config.accounts.find((one) => one.name === name);
  if (account !== undefined) return [{ account, entries: [] }];
  const names = config.accounts.map((one) => one.name);
  const hint = didYouMean(name, names) ?? `there are: ${names.map(printable).join(', ')}`;
  throw new CommandError(2, `account ${JSON.stringify(name)} is not in the configuration: ${hint}`);
}

/**
 * The application with this id, or else with exactly this name, and its host with this id or name (empty
 * for none). Rejects with a `CommandError` if there is none, or more than one.
 */
export async function findTarget(
  wanted: { readonly application: string; readonly host: string },
  runtimes: readonly Account[],
  platform: ToolPlatform,
): Promise<Target> {
  const found = await findApplication(wanted.application, runtimes, platform);
  return {
    ...found,
    host: wanted.host === '' ? undefined : await findHost(wanted.host, found, platform),
  };
}

async function findApplication(
  wanted: string,
  runtimes: readonly Account[],
  { redactor, stderr, stopSignal }: ToolPlatform,
): Promise<FoundApplication> {
  const byName: Selector = { kind: 'name', name: wanted };
  const selectors: readonly Selector[] = isEntityId(wanted)
    ? [{ kind: 'id', id: wanted }, byName]
    : [byName];
  const all = await Promise.all(
    runtimes.map(async (runtime) => {
      const asking = { ...runtime.asking, source: runtime.source };
      const discovery = await discoverWithin(
        longestDiscoveryMs,
        asking,
        { selectors },
        [],
        stopSignal,
      );
      if (!discovery.complete) {
        const reason = redactor.redact(discovery.error?.message ?? 'no answer');
        stderr.write(`account ${nameOf(runtime)}: discovery failed: ${reason}\n`);
      }
      return { runtime, discovery };
    }),
  );
  const found = all.flatMap(({ runtime, discovery: { applications } }) => {
    const byId = applications.filter(({ id }) => id === wanted);
    const chosen = byId.length > 0 ? byId : applications.filter(({ name }) => name === wanted);
    return chosen.map((application) => ({ runtime, application }));
  });
  const [first, ...others] = found;
  if (others.length > 0) throw severalFound(wanted, found);
  if (first !== undefined) return first;
  const searched = all.filter(({ discovery }) => discovery.complete);
  const listed = searched.flatMap(({ discovery }) => discovery.applications);
  const names = runtimes.map(nameOf).join(', ');
  const what = `no application with the id or the name ${quoted(wanted)} was found in ${runtimes.length === 1 ? 'account' : 'the accounts'} ${names}`;
  const hint =
    listed.length === 0
      ? 'newrelic-exporter discover lists all of them'
      : await suggestionFor({ selector: byName }, listed);
  throw new CommandError(1, searched.length === 0 ? what : `${what}: ${hint}`);
}

function severalFound(wanted: string, all: readonly FoundApplication[]): CommandError {
  const lines = all.map(
    ({ runtime, application: { id, name } }) =>
      `  ${id}  ${printable(name)}  (account ${nameOf(runtime)})`,
  );
  const isOneId = new Set(all.map(({ application }) => application.id)).size === 1;
  const remedy = isOneId ? 'name the account with --account' : 'give the id of one of them';
  return new CommandError(
    1,
    `${all.length} applications have the name or the id ${quoted(wanted)}: ${remedy}\n${lines.join('\n')}`,
  );
}

async function findHost(
  wanted: string,
  { runtime, application: { id, name, hostIds } }: FoundApplication,
  { redactor, stopSignal }: ToolPlatform,
): Promise<Target['host']> {
  if (hostIds?.includes(wanted) === true) return { id: wanted, name: undefined };
  const subject = `application ${id} ${quoted(name)}`;
  const { names, error } = await hostNamesOf(runtime, id, stopSignal, [wanted]);
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
      : `the hosts of ${subject} could not be read: ${redactor.redact(error.message)}`,
  );
}

function nameOf({ prepared }: Pick<Account, 'prepared'>): string {
  return printable(prepared.account.name);
}

function quoted(text: string): string {
  return `"${printable(text)}"`;
}
