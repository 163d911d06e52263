import { describe, expect, it } from 'vitest';
import { accountsInUse } from '../../src/daemon/prepare-account.ts';
import { anAccount, anEntry } from '../support/builders.ts';

describe('accountsInUse', () => {
  it('gives each account its entries, both in the order of the configuration', () => {
    const accounts = ['a', 'b', 'c'].map((name) => anAccount({ name }));
    const apps = ['c', 'a', 'c'].map((account, index) =>
      anEntry({ account, selector: { kind: 'id', id: String(index) } }),
    );

    expect(accountsInUse({ accounts, apps })).toEqual([
      { account: accounts[0], entries: [apps[1]] },
      { account: accounts[2], entries: [apps[0], apps[2]] },
    ]);
  });

  it('leaves out entries of accounts that there are not', () => {
    expect(accountsInUse({ accounts: [], apps: [anEntry({ account: 'none' })] })).toEqual([]);
  });
});
