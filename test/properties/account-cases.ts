import type { Beginning } from './account-bench.ts';
import { type AccountSetup, keyValues } from './account-setup.ts';
import type { Step } from './account-steps.ts';

/** A course of events that once broke a rule. */
export interface AccountCase {
  readonly what: string;
  readonly beginning: Beginning;
  readonly course: readonly Step[];
}

const usual: AccountSetup = {
  name: 'one',
  keyFile: '/keys/a',
  requestsPerMinute: 40,
  concurrency: 2,
  wants: 'all',
  label: 'x',
  hosts: 'all',
  application: true,
  hostNames: false,
  intervalMs: 60_000,
  windowMs: 300_000,
  staleAfterMs: 300_000,
  metrics: 'presets',
};

function beginning(accounts: readonly AccountSetup[], of: Partial<Beginning> = {}): Beginning {
  const [key] = keyValues;
  const vendor = { pageSize: 3, removedHost: 'empty', trap: 'none' } as const;
  return { accounts, keys: [key, key], ...vendor, ...of };
}

/** The same step so many times. */
function again(times: number, step: Step): readonly Step[] {
  return Array.from({ length: times }, () => step);
}

const smallBudget = { ...usual, wants: 'ids', intervalMs: 30_000, staleAfterMs: 900_000 } as const;

/** The first polls of a small budget, of which New Relic answers only for the first metric. */
const firstPolls = (trap: 'without_values' | 'missing'): AccountCase => ({
  what: `the first polls of a small budget, with answers for one metric at a time: ${trap}`,
  beginning: beginning([smallBudget], { trap }),
  course: [{ do: 'advance', seconds: 900 }],
});

const absentIds: AccountCase = {
  what: 'small parts of one budget, and ids that are looked for once an hour',
  beginning: beginning(
    [
      {
        ...usual,
        requestsPerMinute: 60,
        concurrency: 8,
        wants: 'ids',
        hostNames: true,
        metrics: 'own',
      },
      { ...usual, name: 'two', concurrency: 1, hosts: 'match', intervalMs: 120_000 },
    ],
    { trap: 'missing' },
  ),
  course: [
    { do: 'put_in', account: 2, name: 'three', keyFile: '/keys/a' },
    { do: 'advance', seconds: 195 },
    { do: 'swap_keys' },
    { do: 'remove_host', index: 0, host: 4 },
    { do: 'other_user', key: keyValues[0], minutes: 4 },
    { do: 'out_and_in', account: 1, seconds: 20 },
    { do: 'remove_host', index: 1, host: 1 },
    { do: 'advance', seconds: 600 },
    { do: 'reload', account: 2, set: { requestsPerMinute: 20 } },
    ...again(40, { do: 'calm', minutes: 3 }),
  ],
};

const oneBudget = { ...usual, keyFile: '/keys/b', staleAfterMs: 900_000 } as const;

const flutter: AccountCase = {
  what: 'answers that lack values now and then, in accounts with one key',
  beginning: beginning(
    [
      { ...oneBudget, concurrency: 1, hosts: 'match', application: false, metrics: 'labelled' },
      {
        ...usual,
        name: 'two',
        keyFile: '/keys/b',
        requestsPerMinute: 60,
        wants: 'even',
        hosts: 'self',
      },
    ],
    { trap: 'now_and_then' },
  ),
  course: [
    { do: 'reload', account: 3, set: { hostNames: false } },
    { do: 'add_twin', index: 5 },
    { do: 'vendor_date', seconds: 31_536_000 },
    { do: 'rotate', keyFile: '/keys/b', to: keyValues[3], revoke: true },
    { do: 'advance', seconds: 60 },
    { do: 'reload', account: 0, set: { label: 'x' } },
    { do: 'advance', seconds: 1 },
    { do: 'add_application', hosts: 60 },
    { do: 'out_and_in', account: 0, seconds: 20 },
    { do: 'other_user', key: keyValues[3], minutes: 1 },
    { do: 'add_application', hosts: 0 },
    { do: 'suspend', minutes: 480 },
    { do: 'advance', seconds: 150 },
    { do: 'suspend', minutes: 30 },
    { do: 'clock_step', seconds: -20 },
    { do: 'list_trouble', minutes: 1, fault: 'second_page_fails' },
    { do: 'advance', seconds: 5 },
    { do: 'calm', minutes: 1 },
    ...again(22, { do: 'advance', seconds: 60 }),
  ],
};

const shared = { ...usual, requestsPerMinute: 120, concurrency: 8, intervalMs: 30_000 };

const ofShards: AccountCase = {
  what: 'shards of which one polls many metrics, with answers for one metric at a time',
  beginning: beginning([{ ...shared, oddMetrics: 'usual' }], {
    trap: 'missing',
    shards: 2,
    pageSize: 200,
  }),
  course: [...again(4, { do: 'add_application', hosts: 20 }), { do: 'advance', seconds: 600 }],
};

/** Some minutes of one daemon. */
export const shortCases: readonly AccountCase[] = [firstPolls('missing')];

/** Hours, or several daemons. */
export const longCases: readonly AccountCase[] = [
  firstPolls('without_values'),
  absentIds,
  flutter,
  ofShards,
];
