import { describe, expect, it } from 'vitest';
import { type Printed, printedBy, threeApplications } from './ask-bench.ts';

const account = '{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY';
const nerdgraph = ', source: nerdgraph';

interface Answer {
  readonly status?: number;
  readonly body: string;
}

/** The answer to which accounts a key sees. */
function seeing(...accounts: readonly unknown[]): Answer {
  return { body: JSON.stringify({ data: { actor: { accounts } } }) };
}

/** What `check-config --online` says of an account; without an answer the key sees 1234567. */
async function checked(
  settings: string,
  answer?: Answer,
  args: readonly string[] = ['--online'],
): Promise<Printed> {
  return printedBy(
    {
      fleet: threeApplications,
      intercept: ({ graphql }, response) => {
        if (answer === undefined || graphql?.text.includes('{ accounts {') !== true) return 'pass';
        response.writeHead(answer.status ?? 200, {});
        response.end(answer.body);
        return 'handled';
      },
    },
    ['check-config', ...args, 'c.yaml'],
    { 'c.yaml': `accounts: [${account}${settings} }]\napps: [{ name: shop }]` },
  );
}

/** The lines that propose an id. */
async function proposed(answer?: Answer): Promise<string> {
  const { stderr } = await checked(nerdgraph, answer);
  return stderr.slice(stderr.indexOf('account main: ') + 'account main: '.length).trimEnd();
}

const lookUp = 'look it up in New Relic: user menu, API keys';

describe('check-config --online for an account that lacks nothing but its id', () => {
  it('proposes the id, and still ends with 2', async () => {
    const { exitCode, stdout, stderr, calls } = await checked(nerdgraph);

    expect({ exitCode, stdout, calls }).toEqual({ exitCode: 2, stdout: '', calls: 1 });
    expect(stderr).toContain('"source: nerdgraph" needs "account_id"');
    expect(stderr).toContain('= help: look it up in New Relic: user menu, API keys\n');
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(
      'account main: add this line: account_id: 1234567  # Simulated account',
    );
  });

  it.each([
    { what: 'without --online', settings: nerdgraph, args: [] },
    { what: 'when more is wrong with the file', settings: `${nerdgraph}, retries: 1` },
  ])('asks nobody $what', async ({ settings, args }) => {
    const { exitCode, calls, stderr } = await checked(settings, undefined, args);

    expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: 0 });
    expect(stderr).not.toContain('add this line');
    expect(stderr.includes('("newrelic-exporter check-config --online" proposes it)')).toBe(
      args?.length === 0,
    );
  });

  it.each([
    { sees: [{ id: 1, name: null }], says: 'add this line: account_id: 1' },
    {
      sees: [{ id: 3, name: 'b' }, { id: '2', name: 'b' }, { id: 1, name: 'a', more: true }, 7],
      says: 'the API key sees 3 accounts, add the line of the right one:\n    account_id: 1  # a\n    account_id: 2  # b\n    account_id: 3  # b',
    },
    {
      sees: [0, -1, 1.5, null, 'x', '9007199254740993', 2].map((id) => ({ id, name: 'a' })),
      says: 'add this line: account_id: 2  # a',
    },
    {
      sees: [{ id: 1, name: 'a\nsource: rest NRAK-ABC' }],
      says: 'add this line: account_id: 1  # a source: rest [removed]',
    },
    {
      sees: [],
      says: `no account_id can be proposed: the API key sees no account: use a user key (NRAK-…) of a user who may see the account; or ${lookUp}`,
    },
  ])('proposes what the key sees: $says', async ({ sees, says }) => {
    expect(await proposed(seeing(...sees))).toBe(says);
  });

  it.each([
    { status: 401, body: '{}', says: 'list_applications: status 401. Check the API key of' },
    {
      body: '{"data":null,"errors":[{"message":"Bad key","extensions":{"error_code":"BAD_API_KEY"}}]}',
      says: 'list_applications: status 401, "BAD_API_KEY: Bad key". Check the API key',
    },
    { status: 404, body: 'Not found', says: 'Check base_url: there is no NerdGraph at this' },
    { body: '<html>', says: 'the answer is not JSON: "<html>"' },
    { body: '{"data":{"actor":{"accounts":{}}}}', says: 'the answer has no list of accounts' },
  ])('says why it cannot propose one: $says', async ({ says, ...answer }) => {
    const text = await proposed(answer);

    expect(text).toMatch(/^no account_id can be proposed: /u);
    expect(text).toContain(says);
    expect(text.endsWith(` Or ${lookUp}`)).toBe(true);
  });
});

describe('check-config --online for the id of an account', () => {
  const acme = seeing({ id: 1, name: 'Acme' });
  const refused = { status: 403, body: '{}' };
  const wrong = 'the API key does not see the account with account_id 7';
  const listed =
    'correct it, or use a key of a user who may see that account; this key sees:\n          account_id: 1  # Acme';
  const missing = 'there is no account_id, which newrelic-exporter compare and';

  it.each([
    { settings: ', account_id: 1234567', says: [], exits: 0 },
    { settings: ', account_id: 7', answer: acme, says: ['error', wrong, listed], exits: 1 },
    {
      settings: `${nerdgraph}, account_id: 7`,
      answer: acme,
      says: ['error', wrong, listed],
      exits: 1,
    },
    {
      settings: ', account_id: 7',
      answer: seeing(),
      says: ['error', wrong, 'the API key sees no account: use a user key'],
      exits: 1,
    },
    {
      settings: ', account_id: 7',
      answer: refused,
      says: ['note', 'account_id 7 could not be checked', 'status 403'],
      exits: 0,
    },
    {
      settings: `${nerdgraph}, account_id: 7`,
      answer: refused,
      says: ['error', 'account_id 7 could not be checked', 'status 403'],
      exits: 1,
    },
    { settings: '', answer: acme, says: ['note', missing, 'account_id: 1  # Acme'], exits: 0 },
    { settings: '', answer: refused, says: ['note', missing, lookUp], exits: 0 },
  ])('says of "$settings": $says', async ({ settings, answer, says, exits }) => {
    const { exitCode, stdout } = await checked(settings, answer);

    const [severity = '', message = '', remedy = ''] = says;
    expect(exitCode).toBe(exits);
    expect(stdout.includes('account_id')).toBe(says.length > 0);
    expect(stdout).toMatch(new RegExp(`${severity} +account main: ${message}`, 'u'));
    expect(stdout).toContain(remedy);
  });

  it('is not asked with a key that the REST API refuses', async () => {
    const { stdout, stderr } = await printedBy({}, ['check-config', '--online', 'c.yaml'], {
      'c.yaml': `accounts: [${account.replace('KEY', 'WRONG_KEY')} }]\napps: [{ name: shop }]`,
    });

    expect(stdout).toContain('discovery failed');
    expect(stdout + stderr).not.toContain('account_id');
  });
});
