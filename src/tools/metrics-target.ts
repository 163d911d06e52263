import { didYouMean } from '../config/suggestion.ts';
import type { AccountRuntime } from '../daemon/account-runtime.ts';
import { CommandError, type Platform } from '../daemon/platform.ts';
import { type AccountInUse, accountsInUse } from '../daemon/prepare-account.ts';
import type { Application } from '../model/application.ts';
import type { Config, Selector } from '../model/config.ts';
import { printable } from '../model/line-text.ts';
import type { HostNames } from '../model/source.ts';
import { isEntityId } from '../newrelic/json.ts';
import { discoverWithin } from '../poller/discovery-state.ts';
import { longestDiscoveryMs } from './account-discovery.ts';
import { suggestionFor } from './name-suggestion.ts';

/** An application and the account that has it. */
export interface FoundApplication {
  readonly runtime: AccountRuntime;
  readonly application: Application;
}

/** A host of an application, by its id in the API of the account. */
export interface FoundHost {
  readonly id: string;
  readonly name: string | undefined;
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

/** What one account says of an id or a name. */
interface Answer {
  readonly runtime: AccountRuntime;
  readonly found: readonly Application[];
  /** What else was listed on the way. */
  readonly listed: readonly Application[];
  /** Why the account could not be searched, without secrets. */
  readonly failure: string | undefined;
}

/**
 * The application with this id, or else with exactly this name. Rejects with a `CommandError` if there
 * is none, or more than one.
 */
export async function findApplication(
  wanted: string,
  runtimes: readonly AccountRuntime[],
  platform: Platform,
): Promise<FoundApplication> {
  const answers = await Promise.all(
    runtimes.map(async (runtime) => searched(wanted, runtime, platform)),
  );
  for (const { runtime, failure } of answers) {
    if (failure !== undefined) {
      platform.stderr.write(`account ${nameOf(runtime)}: discovery failed: ${failure}\n`);
    }
  }
  const all = answers.flatMap(({ runtime, found }) =>
    found.map((application) => ({ runtime, application })),
  );
  const [first, ...others] = all;
  if (first === undefined) throw await notFound(wanted, answers);
  if (others.length > 0) throw severalFound(wanted, all);
  return first;
}

async function searched(
  wanted: string,
  runtime: AccountRuntime,
  platform: Platform,
): Promise<Answer> {
  const { redactor, stopSignal, clock } = platform;
  const ask = async (
    selector: Selector,
    isWanted: (application: Application) => boolean,
  ): Promise<Answer> => {
    const dependencies = { source: runtime.source, clock };
    const discovery = await discoverWithin(
      longestDiscoveryMs,
      dependencies,
      [selector],
      [],
      stopSignal,
    );
    const { applications, complete, error } = discovery;
    return {
      runtime,
      found: applications.filter(isWanted),
      listed: applications,
      failure: complete ? undefined : redactor.redact(error?.message ?? 'no answer'),
    };
  };
  if (isEntityId(wanted)) {
    const byId = await ask({ kind: 'id', id: wanted }, ({ id }) => id === wanted);
    if (byId.found.length > 0 || byId.failure !== undefined) return byId;
  }
  return ask({ kind: 'name', name: wanted }, ({ name }) => name === wanted);
}

async function notFound(wanted: string, answers: readonly Answer[]): Promise<CommandError> {
  const searchedAccounts = answers.filter(({ failure }) => failure === undefined);
  const accounts = answers.map(({ runtime }) => nameOf(runtime)).join(', ');
  const what = `no application with the id or the name ${quoted(wanted)} was found in ${answers.length === 1 ? 'account' : 'the accounts'} ${accounts}`;
  if (searchedAccounts.length === 0) return new CommandError(1, what);
  const listed = searchedAccounts.flatMap((answer) => answer.listed);
  const hint =
    listed.length === 0
      ? 'newrelic-exporter discover lists all of them'
      : await suggestionFor({ selector: { kind: 'name', name: wanted } }, listed);
  return new CommandError(1, `${what}: ${hint}`);
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

/** So many hosts are named to who asked for another one. */
const mostNamed = 5;

/**
 * The host of the application with this id or this name. Rejects with a `CommandError` if there is none,
 * or more than one.
 */
export async function findHost(
  wanted: string,
  { runtime, application }: FoundApplication,
  { redactor, stopSignal }: Platform,
): Promise<FoundHost> {
  const { id, name, hostIds } = application;
  if (hostIds?.includes(wanted) === true) return { id: wanted, name: undefined };
  const subject = `application ${id} ${quoted(name)}`;
  const namedSo = ({ names }: HostNames): readonly FoundHost[] =>
    [...names]
      .filter(([, hostName]) => hostName.toLowerCase() === wanted.toLowerCase())
      .map(([hostId, hostName]) => ({ id: hostId, name: hostName }));

  const some = await runtime.source.hostNames(id, stopSignal, [wanted]);
  // New Relic may take upper and lower case for different.
  const isFound = namedSo(some).length > 0 || some.error !== undefined;
  const answer = isFound ? some : await runtime.source.hostNames(id, stopSignal);
  const found = namedSo(answer);
  const [first, ...others] = found;
  if (others.length > 0) {
    const ids = found.map((host) => host.id).join(', ');
    const what = `${subject} has ${found.length} hosts with the name ${quoted(wanted)}`;
    throw new CommandError(1, `${what}: give the id of one of them with --host: ${ids}`);
  }
  if (first !== undefined) return first;
  if (answer.error !== undefined) {
    const reason = redactor.redact(answer.error.message);
    throw new CommandError(1, `the hosts of ${subject} could not be read: ${reason}`);
  }
  throw new CommandError(
    1,
    `${subject} has no host with the id or the name ${quoted(wanted)}: ${hostsText(answer)}`,
  );
}

function hostsText({ names }: HostNames): string {
  if (names.size === 0) return 'New Relic lists no host for it';
  const named = [...names].slice(0, mostNamed).map(([id, name]) => {
    const text = printable(name);
    return id === name ? text : `${text} (${id})`;
  });
  const more = names.size - named.length;
  return `there are: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function nameOf({ prepared }: Pick<AccountRuntime, 'prepared'>): string {
  return printable(prepared.account.name);
}

function quoted(text: string): string {
  return `"${printable(text)}"`;
}
