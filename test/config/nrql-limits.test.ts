import { describe, expect, it } from 'vitest';
import { findingsIn } from './config-failure.ts';

const accounts = 'accounts: [{ name: a, source: nerdgraph, account_id: 1, api_key_env: K }]';

async function messagesOf(nrql: string): Promise<readonly string[]> {
  const file = `${accounts}\nqueries:\n  - { as: x, nrql: ${JSON.stringify(nrql)} }`;
  return (await findingsIn(file)).map(({ message }) => message);
}

const nested = (depth: number): string =>
  `SELECT ${'('.repeat(depth)}count(*)${')'.repeat(depth)} FROM T`;

describe('5.2 brackets in NRQL', () => {
  it('may be nested as deep as anybody writes them', async () => {
    expect(await messagesOf(nested(49))).toEqual([]);
  });

  it.each([51, 1900])('are refused beyond that, before they take long: %i', async (depth) => {
    expect(await messagesOf(nested(depth))).toEqual([
      expect.stringContaining('nested more than 50 deep'),
    ]);
  });
});

describe('a sign of a template in a quoted text', () => {
  it.each(["'${APP}'", "'{{ app }}'", "'<YOUR_APP>'", "'$(APP)'"])(
    'is one that nobody has replaced, if it is all of the text: %s',
    async (text) => {
      expect(await messagesOf(`SELECT count(*) FROM T WHERE name = ${text}`)).toHaveLength(1);
    },
  );

  it.each([
    "'/users/<user_id>/x'",
    "'/users/${id}'",
    "'/users/{{id}}'",
    "'%{{ .Values }}%'",
    "'a <your-key> b'",
  ])('may be a part of it: %s', async (text) => {
    expect(await messagesOf(`SELECT count(*) FROM T WHERE name LIKE ${text}`)).toEqual([]);
  });
});
