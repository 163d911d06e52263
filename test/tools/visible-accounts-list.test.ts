import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { listVisibleAccounts, type VisibleAccount } from '../../src/tools/visible-accounts.ts';
import { neverAborted } from '../newrelic/calls/fakes.ts';
import { answerOf, createFakeTransport, type ScriptedAnswer } from '../support/fake-transport.ts';

interface Asked {
  readonly accounts: readonly VisibleAccount[];
  readonly error: ApiError | undefined;
  readonly failed: readonly string[];
  readonly calls: readonly unknown[];
}

async function asked(answer: ScriptedAnswer): Promise<Asked> {
  const { send, calls } = createFakeTransport({ '/graphql': answer });
  const failed: string[] = [];
  const observer = {
    failed: (operation: string, reason: string) => failed.push(`${operation} ${reason}`),
  };
  try {
    const accounts = await listVisibleAccounts({ send, observer }, neverAborted);
    return { accounts, error: undefined, failed, calls };
  } catch (error) {
    if (error instanceof ApiError) return { accounts: [], error, failed, calls };
    throw error;
  }
}

/** An answer with these accounts. */
function listOf(...accounts: readonly unknown[]): ScriptedAnswer {
  return answerOf({ data: { actor: { accounts } } });
}

describe('listVisibleAccounts', () => {
  it('lists the accounts by name', async () => {
    const { accounts, failed } = await asked(
      listOf({ id: 3, name: 'b' }, { id: '2', name: 'b' }, { id: 1, name: 'a', more: true }),
    );

    expect(accounts).toEqual([
      { id: 1, name: 'a' },
      { id: 2, name: 'b' },
      { id: 3, name: 'b' },
    ]);
    expect(failed).toEqual([]);
  });

  it.each([
    { what: 'a name of several lines', name: 'a\nsource: rest', shown: 'a source: rest' },
    { what: 'a name that looks like a key', name: 'x NRAK-ABC', shown: 'x [removed]' },
    { what: 'no name', name: null, shown: '' },
  ])('makes $what fit for one line', async ({ name, shown }) => {
    expect((await asked(listOf({ id: 1, name }))).accounts).toEqual([{ id: 1, name: shown }]);
  });

  it.each([[0], [-1], [1.5], [null], ['x'], ['9007199254740993']])(
    'leaves out an account with the id %j',
    async (id) => {
      const { accounts } = await asked(listOf({ id, name: 'a' }, { id: 2, name: 'b' }, 7));

      expect(accounts).toEqual([{ id: 2, name: 'b' }]);
    },
  );

  it.each([
    {
      what: 'a refused key',
      answer: answerOf({}, { status: 401 }),
      reason: 'auth',
      says: 'list_applications: status 401. Check the API key of the account',
      counted: [],
    },
    {
      what: 'a key refused under 200',
      answer: answerOf({
        data: null,
        errors: [{ message: 'Bad key', extensions: { error_code: 'BAD_API_KEY' } }],
      }),
      reason: 'auth',
      says: 'list_applications: status 401, "BAD_API_KEY: Bad key". Check the API key',
      counted: [],
    },
    {
      what: 'an address without NerdGraph',
      answer: answerOf('Not found', { status: 404 }),
      reason: 'not_found',
      says: 'Check base_url: there is no NerdGraph at this address (/graphql).',
      counted: [],
    },
    {
      what: 'a page of a gateway',
      answer: answerOf('<html>'),
      reason: 'not_json',
      says: 'the answer is not JSON: "<html>"',
      counted: ['list_applications not_json'],
    },
    {
      what: 'something else',
      answer: answerOf({ data: { actor: { accounts: {} } } }),
      reason: 'schema',
      says: 'the answer has no list of accounts',
      counted: ['list_applications schema'],
    },
  ])('rejects with a remedy for $what', async ({ answer, reason, says, counted }) => {
    const { error, failed } = await asked(answer);

    expect(error?.reason).toBe(reason);
    expect(error?.message).toContain(says);
    expect(failed).toEqual(counted);
  });
});
