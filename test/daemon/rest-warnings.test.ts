import { describe, expect, it } from 'vitest';
import { createRestWarnings, restAccountsOf } from '../../src/daemon/rest-warnings.ts';
import type { AccountSource, Config } from '../../src/model/config.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';

const rest = { kind: 'rest', accountId: undefined } as const;
const nerdgraph = { kind: 'nerdgraph', accountId: 1 } as const;

/** Accounts that are in use, by name. */
function aConfig(sources: Readonly<Record<string, AccountSource>>): Config {
  return {
    accounts: Object.entries(sources).map(([name, source]) => anAccount({ name, source })),
    apps: Object.keys(sources).map((account) => anEntry({ account })),
  };
}

/** The accounts that each of the configurations draws a warning for. */
function warnedOf(wallMs: number, configs: readonly Config[]): readonly (readonly unknown[])[] {
  const logger = createFakeLogger();
  const warn = createRestWarnings(createFakeClock(wallMs), logger);
  return configs.map((config) => {
    const before = logger.lines.length;
    warn(config);
    return logger.lines.slice(before).map(({ fields }) => fields['account']);
  });
}

describe('createRestWarnings', () => {
  it.each([
    { at: '2027-01-31T23:59:59.999Z', messages: [] },
    {
      at: '2027-02-01T00:00:00Z',
      messages: ['New Relic will end the REST API v2, which the account is polled with'],
    },
    {
      at: '2027-07-31T23:59:59.999Z',
      messages: ['New Relic will end the REST API v2, which the account is polled with'],
    },
    {
      at: '2027-08-01T00:00:00Z',
      messages: ['New Relic has ended the REST API v2, which the account is polled with'],
    },
  ])('warns of accounts with REST from half a year before its end: $at', ({ at, messages }) => {
    const logger = createFakeLogger();
    const clock = createFakeClock(Date.parse(at));

    createRestWarnings(clock, logger)(aConfig({ a: rest, b: nerdgraph }));

    expect(logger.lines.map(({ level, message }) => ({ level, message }))).toEqual(
      messages.map((message) => ({ level: 'warn', message })),
    );
  });

  it('warns after a reload of the accounts that it brings, and of no other', () => {
    const configs = [
      aConfig({ a: rest, b: nerdgraph }),
      aConfig({ a: rest, b: nerdgraph }),
      aConfig({ a: rest, b: rest, c: rest }),
      aConfig({ b: rest }),
      aConfig({ a: rest, b: nerdgraph }),
    ];

    expect(warnedOf(Date.UTC(2027, 1, 1), configs)).toEqual([['a'], [], ['b', 'c'], [], ['a']]);
  });
});

describe('restAccountsOf', () => {
  it('leaves out accounts that nothing is polled of', () => {
    const { accounts } = aConfig({ a: rest, b: rest, c: nerdgraph });

    expect(restAccountsOf({ accounts, apps: [anEntry({ account: 'b' })] })).toEqual(['b']);
  });
});
