import { describe, expect, it } from 'vitest';
import { fixedMembership, shardOf } from '../../src/cli/membership.ts';
import { anAccount, anEntry } from '../support/builders.ts';

const config = { accounts: [anAccount({ requestsPerMinute: 800 })], apps: [anEntry()] };

describe('shardOf', () => {
  it('leaves the configuration of a process that is alone as it is', () => {
    expect(shardOf(config, fixedMembership(0, 1))).toBe(config);
  });

  it('gives each shard its part of every budget, which add up to the whole', () => {
    const parts = [0, 1, 2].map((ordinal) => shardOf(config, fixedMembership(ordinal, 3)));

    expect(parts.map(({ accounts }) => accounts[0]?.requestsPerMinute)).toEqual([267, 267, 266]);
    expect(parts[1]?.accounts[0]?.shard).toEqual({ self: '1', members: ['0', '1', '2'] });
    expect(parts[1]?.apps).toBe(config.apps);
  });

  it('refuses a budget that is too small for so many shards, and says what to do', () => {
    const small = { ...config, accounts: [anAccount({ requestsPerMinute: 2 })] };

    expect(() => shardOf(small, fixedMembership(2, 3))).toThrow(
      'account production: its budget of 2 calls a minute cannot be divided among 3 shards: raise ' +
        'requests_per_minute, or run fewer shards',
    );
  });
});
