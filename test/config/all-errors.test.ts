import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inspectConfig } from '../../src/config/load-config.ts';
import { slow } from '../support/slow.ts';
import { findingsIn, placesOf, type Row, wordsOf } from './config-failure.ts';

const accounts = `accounts:
  - { name: a, source: nerdgraph, account_id: 1, api_key_env: A }
  - { name: c, api_key_env: C }
`;
const count = 'nrql: SELECT count(*) FROM T';

/** A text, and where errors and warnings are, and their facts. */
const rows: readonly Row[] = [
  // The entry that cannot be read hides nothing of the others.
  [
    `${accounts}queries:
  - { as: q1, ${count}, account: a }
  - { as: q1, ${count}, account: a }
  - { as: q4, ${count}, account: [a, c] }
  - { as: q3, ${count}, account: [a, a] }
`,
    '6:11 7:58 8:58',
    'the gauge "q1" is there already',
    'the account "c" has "source: rest"',
    'only once',
  ],
  [
    `${accounts}queries:
  - { as: q1, nrql: SELECT count(*) FROM A GROUP BY b, account: a }
  - { as: q2, ${count}, account: c }
`,
    '5:44 6:5',
    'the account "c" has "source: rest"',
  ],
  // Nor does what is wrong beside the NRQL hide what is wrong in it.
  [
    `queries:\n  - { as: a-b, nrql: SELECT count(* FROM T, interval: 1 }\n  -\n  - 1\naccounts: [{ name: a, source: nerdgraph, account_id: 1, api_key_env: A }]`,
    '2:3 2:11 2:34 2:55 4:5',
    '"(" without ")"',
    'did you mean "a_b"?',
    'needs a unit',
  ],
  // What follows from what is wrong is not told: the source of an account, or its name.
  [
    `accounts: [{ name: a, source: graphql, account_id: 1, api_key_env: A }]\nqueries: [{ as: q, ${count} }]`,
    '1:31',
  ],
  [
    `accounts: [{ name: a, surce: nerdgraph, account_id: 1, api_key_env: A }]\nqueries: [{ as: q, ${count} }]`,
    '1:23',
  ],
  [`acounts: [{ name: a, source: nerdgraph }]\nqueries: [{ as: q, ${count} }]`, '1:1'],
  [`accounts: 1\nqueries: [{ as: q, ${count}, account: "*" }]`, '1:11'],
  [
    `accounts: [{ name: a, api_key_env: A, region: x }]\nqueries: [{ as: q, ${count} }]`,
    '1:47 2:11',
    'the account "a" has "source: rest"',
  ],
  ['poll: { stale_after: 1 }\napps: [{ id: 1, interval: 20m }]', '1:22'],
  [
    'poll: { stale_after: 1h, raw: 1 }\napps: [{ id: 1, interval: 20m }, { id: 1 }]',
    '1:31 2:40',
    'an earlier entry already has the selector',
  ],
  // Warnings stand beside errors.
  [
    'poll: { interval: 10s }\napps: [{ name: "a*" }, { match: "(" }, { match: . }, { id: 1, hosts: 1 }]',
    '1:19 2:16 2:33 2:70',
    '"interval" is under 60s',
    'has a star',
    'not a valid regular expression',
  ],
  [
    'accounts: [{ name: a, api_key_env: A, base_url: "http://h" }, { name: b }]\napps: [{ id: 1, account: a }]',
    '1:49 1:63',
    'is plain http',
    'an account needs one of',
  ],
  // But not: "the account is not used", while an entry cannot be read.
  [`${accounts}apps: [{ id: 1, account: a }, { id: 2, acount: c }]`, '4:40', 'did you mean'],
  [`${accounts}apps: [{ id: 1, account: a }]`, '3:13', 'no entry of "apps" or "queries" is of'],
];

describe('one run', () => {
  it.each(rows)('shows all that is wrong or odd: %s', async (text, places, ...facts) => {
    const found = await findingsIn(text);

    expect(placesOf(found)).toBe(places);
    for (const fact of facts) expect(wordsOf(found)).toContain(fact);
  });

  it('shows of an entry what it shows of it alone, whatever is wrong in others', slow, async () => {
    const entry = fc.constantFrom(
      '{ name: "a*" }',
      '{ id: 1, interval: 10s }',
      '{ id: 2, hosts: 1 }',
      '{ id: 010 }',
      '{ match: "(" }',
      '{ nmae: x }',
      '7',
    );
    const ofAlone = async (one: string): Promise<readonly string[]> =>
      (await findingsIn(`apps:\n- ${one}\n- name: z`)).map(({ message }) => message);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(entry, { minLength: 1 }), async (entries) => {
        const text = `apps:\n${entries.map((one) => `- ${one}\n`).join('')}- name: z`;
        const together = await findingsIn(text);

        for (const [index, one] of entries.entries()) {
          const here = together.filter(({ line }) => line === index + 2);
          expect(here.map(({ message }) => message)).toEqual(await ofAlone(one));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('has no configuration of what is right alone', async () => {
    const { config, errors } = await inspectConfig('apps: [{ id: 1 }, 7]', {
      fileName: 'f',
      directory: '/',
    });

    expect([config, errors.length]).toEqual([undefined, 1]);
  });
});
