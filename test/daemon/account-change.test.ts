import { describe, expect, it } from 'vitest';
import { type AccountChange, changeTo, type PreparedAccount } from '../../src/daemon/account.ts';
import type { AccountKey } from '../../src/daemon/key-provider.ts';
import type { AccountConfig, AccountSource, AppEntry, PollConfig } from '../../src/model/config.ts';
import { neverWrong } from '../../src/model/since.ts';
import type { UndiciTransportOptions } from '../../src/newrelic/calls/undici-transport.ts';
import { createFakeKeyProvider } from '../newrelic/calls/fakes.ts';
import { anAccount, anEntry } from '../support/builders.ts';

const wire: UndiciTransportOptions = {
  baseUrl: 'https://api.newrelic.com',
  connections: 8,
  proxyUrl: undefined,
  ca: undefined,
  userAgent: 'test',
};

function aKey(text?: string): AccountKey {
  return {
    ...createFakeKeyProvider(text),
    status: () => ({ location: 'file /key', problem: undefined, sinceMs: 0, readMs: 0 }),
    readability: () => neverWrong,
  };
}

function aPrepared(overrides: Partial<PreparedAccount> = {}): PreparedAccount {
  return {
    account: anAccount(),
    entries: [anEntry()],
    keyProvider: aKey(),
    wire,
    ...overrides,
  };
}

function isSame(left: PreparedAccount, right: PreparedAccount): boolean {
  return changeTo(right, left) === 'none';
}

const otherAccount: { readonly [Field in keyof AccountConfig]-?: AccountConfig[Field] } = {
  name: 'other',
  baseUrl: 'https://api.eu.newrelic.com',
  apiKey: { kind: 'file', path: '/key' },
  source: { kind: 'nerdgraph', accountId: 12 },
  apiKeyHeader: 'X-Api-Key',
  requestsPerMinute: 1,
  concurrency: 1,
  timeoutMs: 1,
  proxyUrl: 'http://proxy',
  proxyUrlFrom: { kind: 'env', name: 'PROXY' },
  caFile: '/ca.pem',
  shard: { ordinal: 0, total: 2 },
  sharedRequestsPerMinute: 2,
};

const otherEntry: Omit<AppEntry, 'selector' | 'series' | 'poll'> = {
  account: 'other',
  exclude: true,
  labels: { team: 'payments' },
  hosts: false,
  application: false,
  transactions: ['web'],
};

const otherPoll: PollConfig = {
  intervalMs: 1,
  discoveryIntervalMs: 1,
  window: { kind: 'vendor_default' },
  delayMs: 1,
  staleAfterMs: 1,
  hostNames: true,
  raw: true,
  metrics: ['apdex'],
};

const otherWire: UndiciTransportOptions = {
  baseUrl: 'https://api.eu.newrelic.com',
  connections: 1,
  proxyUrl: 'http://proxy',
  ca: 'PEM',
  userAgent: 'other',
};

/** One difference each. */
const differences: readonly { readonly what: string; readonly other: PreparedAccount }[] = [
  ...Object.entries(otherAccount).map(([field, value]) => ({
    what: `account.${field}`,
    other: aPrepared({ account: anAccount({ [field]: value }) }),
  })),
  ...Object.entries(otherWire).map(([field, value]) => ({
    what: `wire.${field}`,
    other: aPrepared({ wire: { ...wire, [field]: value } }),
  })),
  ...Object.entries(otherEntry).map(([field, value]) => ({
    what: `entry.${field}`,
    other: aPrepared({ entries: [anEntry({ [field]: value })] }),
  })),
  ...Object.entries(otherPoll).map(([field, value]) => ({
    what: `entry.poll.${field}`,
    other: aPrepared({ entries: [anEntry({ poll: { [field]: value } })] }),
  })),
  ...(
    [
      { kind: 'match', pattern: /^shop/u },
      { kind: 'name', name: 'shop' },
      { kind: 'id', id: '1' },
    ] as const
  ).map((selector) => ({
    what: `entry.selector by ${selector.kind}`,
    other: aPrepared({ entries: [anEntry({ selector })] }),
  })),
  { what: 'one more entry', other: aPrepared({ entries: [anEntry(), anEntry()] }) },
  { what: 'one entry less', other: aPrepared({ entries: [] }) },
];

const rest = { kind: 'rest', accountId: 1 } as const;
const nerdgraph = { kind: 'nerdgraph', accountId: 1 } as const;

describe('changeTo', () => {
  it.each<{ what: string; next: Partial<PreparedAccount>; change: AccountChange }>([
    { what: 'nothing', next: {}, change: 'none' },
    {
      what: 'the address',
      next: { account: anAccount({ baseUrl: 'https://api.eu.newrelic.com' }) },
      change: 'new',
    },
    {
      what: 'what only the exporter sees',
      next: { account: anAccount({ timeoutMs: 1 }) },
      change: 'settings',
    },
    {
      what: 'the header of the key',
      next: { account: anAccount({ apiKeyHeader: 'X-Api-Key' }) },
      change: 'requests',
    },
    {
      what: 'the place and the value of the key',
      next: {
        account: anAccount({ apiKey: { kind: 'file', path: '/key' } }),
        keyProvider: aKey('NRAK-OTHER'),
      },
      change: 'requests',
    },
    {
      what: 'the connections',
      next: { wire: { ...wire, connections: 1 } },
      change: 'connections',
    },
  ])('says what follows from a change of $what', ({ next, change }) => {
    expect(changeTo(aPrepared(next), aPrepared())).toBe(change);
  });

  it.each<{ what: string; before: AccountSource; next: AccountSource; change: AccountChange }>([
    { what: 'from REST to NerdGraph', before: rest, next: nerdgraph, change: 'new' },
    { what: 'from NerdGraph to REST', before: nerdgraph, next: rest, change: 'new' },
    {
      what: 'to another account id of NerdGraph',
      before: nerdgraph,
      next: { ...nerdgraph, accountId: 2 },
      change: 'new',
    },
    {
      what: 'to another account id of REST, which nothing is polled with',
      before: rest,
      next: { ...rest, accountId: 2 },
      change: 'none',
    },
    { what: 'to an equal one', before: nerdgraph, next: { ...nerdgraph }, change: 'none' },
  ])('says what follows from a change $what', ({ before, next, change }) => {
    const of = (source: AccountSource): PreparedAccount =>
      aPrepared({ account: anAccount({ source }) });

    expect(changeTo(of(next), of(before))).toBe(change);
  });

  it('finds a new account where none was in force', () => {
    expect(changeTo(aPrepared(), undefined)).toBe('new');
  });

  it.each(differences)('notices another $what', ({ other }) => {
    expect(isSame(aPrepared(), other)).toBe(false);
    expect(isSame(other, aPrepared())).toBe(false);
  });

  it.each([
    { kind: 'match', pattern: /^shop/u },
    { kind: 'name', name: 'shop' },
    { kind: 'id', id: '1' },
  ] as const)('finds no change between two that were read separately: by $kind', (selector) => {
    const of = (): PreparedAccount =>
      aPrepared({
        account: structuredClone(anAccount({ shard: { ordinal: 0, total: 2 } })),
        wire: { ...wire },
        entries: [anEntry({ selector: structuredClone(selector), labels: { team: 'payments' } })],
      });

    expect(isSame(of(), of())).toBe(true);
  });

  it('compares patterns as they were written, however they are compiled', () => {
    const by = (source: string, flags: string): PreparedAccount =>
      aPrepared({
        entries: [
          anEntry({
            selector: {
              kind: 'match',
              pattern: { source, test: (name) => new RegExp(source, flags).test(name) },
            },
          }),
        ],
      });

    expect(isSame(by('^a', 'u'), by('^a', 'v'))).toBe(true);
    expect(isSame(by('^a', 'u'), by('^b', 'u'))).toBe(false);
  });

  it('notices that entries have changed places', () => {
    const [first, second] = [anEntry({ hosts: true }), anEntry({ hosts: false })];

    expect(
      isSame(aPrepared({ entries: [first, second] }), aPrepared({ entries: [second, first] })),
    ).toBe(false);
  });
});
