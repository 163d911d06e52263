import { describe, expect, it } from 'vitest';
import { type DescribedAccount, stateSentence } from '../../src/daemon/state-sentence.ts';

function anAccount(overrides: Partial<DescribedAccount> = {}): DescribedAccount {
  return {
    name: 'production',
    up: true,
    error: undefined,
    applications: 12,
    hosts: 48,
    polledApplications: 12,
    failingApplications: 0,
    missingSelectors: [],
    ...overrides,
  };
}

describe('stateSentence', () => {
  it.each([
    { accounts: [], says: 'Waiting for a configuration.' },
    {
      accounts: [anAccount(), anAccount({ up: undefined })],
      says: 'Starting: looking up the applications of 1 account.',
    },
    { accounts: [anAccount()], says: 'Polling 1 account: 12 applications, 48 hosts.' },
    {
      accounts: [anAccount(), anAccount({ applications: 1, polledApplications: 0, hosts: 1 })],
      says: 'Polling 2 accounts: 13 applications, 12 of them polled so far, 49 hosts.',
    },
    {
      accounts: [anAccount({ failingApplications: 1 }), anAccount({ failingApplications: 2 })],
      says: 'Polling 2 accounts: 24 applications, 96 hosts; 3 applications fail.',
    },
    {
      accounts: [anAccount({ missingSelectors: ['id=1'] })],
      says: 'Polling 1 account: 12 applications, 48 hosts; 1 entry of apps matches nothing.',
    },
    {
      accounts: [anAccount(), anAccount({ name: 'b', up: false, error: '401' })],
      says: 'Account b cannot be discovered: 401',
    },
    {
      accounts: [
        anAccount({ up: false, error: '401' }),
        anAccount({ name: 'b', up: false, error: '500' }),
      ],
      says: 'Account production cannot be discovered (and 1 more account failing): 401',
    },
  ])('says: $says', ({ accounts, says }) => {
    expect(stateSentence(accounts, undefined)).toBe(says);
  });

  it('says what is wrong with a configuration that is not in force', () => {
    expect(stateSentence([], 'config.yaml:1:1: a typo')).toBe(
      'Nothing is polled: config.yaml:1:1: a typo',
    );
  });
});
