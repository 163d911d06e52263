import type { AccountDetails } from '../model/status.ts';

/** What the sentence needs of an account. */
export type DescribedAccount = Pick<
  AccountDetails,
  | 'name'
  | 'up'
  | 'error'
  | 'applications'
  | 'polledApplications'
  | 'failingApplications'
  | 'hosts'
  | 'missingSelectors'
>;

/** What the daemon is doing, in one sentence, for somebody who looks at the state of the service. */
export function stateSentence(
  accounts: readonly DescribedAccount[],
  configProblem: string | undefined,
): string {
  if (accounts.length === 0) {
    return configProblem === undefined
      ? 'Waiting for a configuration.'
      : `Nothing is polled: ${configProblem}`;
  }
  const [down, ...others] = accounts.filter(({ up }) => up === false);
  if (down !== undefined) {
    const more =
      others.length === 0 ? '' : ` (and ${counted(others.length, 'more account')} failing)`;
    return `Account ${down.name} cannot be discovered${more}: ${down.error ?? 'no answer'}`;
  }
  const unknown = accounts.filter(({ up }) => up === undefined).length;
  if (unknown > 0)
    return `Starting: looking up the applications of ${counted(unknown, 'account')}.`;
  const applications = sum(accounts, (one) => one.applications);
  const polled = sum(accounts, (one) => one.polledApplications);
  const hosts = sum(accounts, (one) => one.hosts);
  const missing = sum(accounts, (one) => one.missingSelectors.length);
  const failing = sum(accounts, (one) => one.failingApplications);
  const progress = polled < applications ? `, ${polled} of them polled so far` : '';
  const absent =
    missing === 0
      ? ''
      : `; ${counted(missing, 'entry of apps matches', 'entries of apps match')} nothing`;
  const failed =
    failing === 0 ? '' : `; ${counted(failing, 'application fails', 'applications fail')}`;
  return `Polling ${counted(accounts.length, 'account')}: ${counted(applications, 'application')}${progress}, ${counted(hosts, 'host')}${failed}${absent}.`;
}

function sum(
  accounts: readonly DescribedAccount[],
  numberOf: (account: DescribedAccount) => number,
): number {
  return accounts.reduce((total, account) => total + numberOf(account), 0);
}

function counted(number: number, one: string, many: string = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
