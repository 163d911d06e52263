import { describe, expect, it } from 'vitest';
import type { AccountSource } from '../../src/model/config.ts';
import {
  accountIdFinding,
  missingIdText,
  type VisibleAccounts,
} from '../../src/tools/visible-accounts.ts';
import { anAccount } from '../support/builders.ts';

/** What a key sees: accounts with these names, numbered from 1. */
function seeing(...names: readonly string[]): VisibleAccounts {
  const accounts = names.map((name, index) => ({ id: index + 1, name }));
  return { accounts, failure: undefined };
}

const unknown: VisibleAccounts = { accounts: [], failure: 'status 401. Check the API key.' };

describe('missingIdText', () => {
  it.each([
    {
      what: 'one account',
      visible: seeing('Acme'),
      text: 'account a: add this line: account_id: 1  # Acme\n',
    },
    {
      what: 'one account without a name',
      visible: seeing(''),
      text: 'account a: add this line: account_id: 1\n',
    },
    {
      what: 'several accounts',
      visible: seeing('Acme', 'Staging'),
      text:
        'account a: the API key sees 2 accounts, add the line of the right one:\n' +
        '    account_id: 1  # Acme\n    account_id: 2  # Staging\n',
    },
    {
      what: 'no account',
      visible: seeing(),
      text:
        'account a: no account_id can be proposed: the API key sees no account: use a user key (NRAK-…) ' +
        'of a user who may see the account; or look it up in New Relic: user menu, API keys\n',
    },
    {
      what: 'nobody knows which account',
      visible: unknown,
      text:
        'account a: no account_id can be proposed: status 401. Check the API key. ' +
        'Or look it up in New Relic: user menu, API keys\n',
    },
  ])('proposes what a key sees: $what', ({ visible, text }) => {
    expect(missingIdText({ name: 'a' }, visible)).toBe(text);
  });
});

describe('accountIdFinding', () => {
  const lacking = { kind: 'rest', accountId: undefined } as const;
  const rest = { kind: 'rest', accountId: 2 } as const;
  const nerdgraph = { kind: 'nerdgraph', accountId: 2 } as const;
  const missing =
    'there is no account_id, which newrelic-exporter compare and "source: nerdgraph" need';
  const wrong = 'the API key does not see the account with account_id 2';
  const unchecked = 'account_id 2 could not be checked';
  it.each<{
    what: string;
    source: AccountSource;
    visible: VisibleAccounts | undefined;
    finding?: ReturnType<typeof accountIdFinding>;
  }>([
    { what: 'nobody asked', source: nerdgraph, visible: undefined },
    { what: 'the id is right', source: nerdgraph, visible: seeing('Acme', 'Staging') },
    { what: 'the id is right, with REST', source: rest, visible: seeing('Acme', 'Staging') },
    {
      what: 'there is no id, with REST',
      source: lacking,
      visible: seeing('Acme'),
      finding: {
        severity: 'note',
        message: missing,
        remedy: 'add this line: account_id: 1  # Acme',
      },
    },
    {
      what: 'there is no id, with REST, and nothing to propose',
      source: lacking,
      visible: unknown,
      finding: {
        severity: 'note',
        message: missing,
        remedy:
          'no account_id can be proposed: status 401. Check the API key. Or look it up in New Relic: user menu, API keys',
      },
    },
    {
      what: 'the id is wrong',
      source: nerdgraph,
      visible: seeing('Acme'),
      finding: {
        severity: 'error',
        message: wrong,
        remedy:
          'correct it, or use a key of a user who may see that account; this key sees:\n    account_id: 1  # Acme',
      },
    },
    {
      what: 'the id is wrong, with REST',
      source: rest,
      visible: seeing('Acme'),
      finding: {
        severity: 'error',
        message: wrong,
        remedy:
          'correct it, or use a key of a user who may see that account; this key sees:\n    account_id: 1  # Acme',
      },
    },
    {
      what: 'the key sees nothing',
      source: nerdgraph,
      visible: seeing(),
      finding: {
        severity: 'error',
        message: wrong,
        remedy:
          'the API key sees no account: use a user key (NRAK-…) of a user who may see the account',
      },
    },
    {
      what: 'the id could not be checked',
      source: nerdgraph,
      visible: unknown,
      finding: { severity: 'error', message: unchecked, remedy: 'status 401. Check the API key.' },
    },
    {
      what: 'the id could not be checked, with REST',
      source: rest,
      visible: unknown,
      finding: { severity: 'note', message: unchecked, remedy: 'status 401. Check the API key.' },
    },
  ])('says what is wrong: $what', ({ source, visible, finding }) => {
    const account = anAccount({ name: 'a', source });

    expect(accountIdFinding(account, visible)).toEqual(finding);
  });
});
