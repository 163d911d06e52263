import { describe, expect, it } from 'vitest';
import { type FailureReason, failures } from '../../src/model/api-error.ts';
import type { PollOutcome, QueryOutcome } from '../../src/model/poll-outcome.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { ApiResponse, Transport } from '../../src/newrelic/calls/transport.ts';
import { statusOf } from '../../src/newrelic/failures.ts';
import { nrqlDocument } from '../../src/newrelic/nerdgraph/graphql-client.ts';
import { aQuery, aSelected } from '../support/builders.ts';
import { aJob } from '../support/calls-at-once.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { answerOf } from '../support/fake-transport.ts';
import { neverAborted } from './calls/fakes.ts';
import { aNerdGraphSource, polled } from './nerdgraph/a-nerdgraph-source.ts';
import { accountId, anError, failedNrql, nrqlAnswer, nrqlPart } from './nerdgraph/answers.ts';

type Extensions = Readonly<Record<string, unknown>>;

const server = { errorClass: 'SERVER_ERROR' };
const fetching = { classification: 'DataFetchingException' };
const resolving = 'An error occurred resolving this field';
const tooBig = "We're sorry, but that query is a little too big. Try to reduce the LIMIT.";
const atGroup = "NRQL Syntax Error: Error at line 1 position 40, unexpected 'GROUP'";
const badRequest = "External Service 'NRDB' execution resulted in 400 - cause: bad";

/** What a user reads behind New Relic's words. */
const remedies = {
  correct: 'New Relic refuses the NRQL: correct it in "queries"',
  rights: `The user of the API key has no access to the account ${accountId}: check account_id`,
  region: 'The account is in another region of New Relic: set "region"',
  key: 'Check the API key of the account',
  limit: 'A limit of NerdGraph is reached',
  less: 'The query takes too long or returns too much: ask for less',
  unknown: 'It does not say whose fault that is; it may pass by itself',
  vendor: 'New Relic, or something on the way to it, failed, which may pass by itself',
  pay: 'New Relic asks for payment',
  address: 'there is no NerdGraph at this address',
  between: 'Check base_url, proxy_url and what is between here and New Relic',
} as const;

interface Row {
  readonly name: string;
  readonly answer: ApiResponse;
  readonly reason: FailureReason;
  readonly help: keyof typeof remedies;
  /** New Relic's words, as far as they are shown. */
  readonly said?: string;
}

/** An error under 200, beside nothing. */
function says(
  message: string,
  extensions: Extensions,
  reason: FailureReason,
  help: Row['help'],
): Row {
  const name = `"${message}" ${JSON.stringify(extensions)}`;
  return { name, answer: failedNrql({ message, extensions }), reason, help, said: message };
}

function withStatus(
  status: number,
  body: string,
  reason: FailureReason,
  help: Row['help'],
  said = '',
): Row {
  const name = `${status} ${body}`;
  return { name, answer: answerOf(body, { status }), reason, help, said };
}

const whole = nrqlPart([{ facet: 'shop', appName: 'shop', calls: 5 }]);
const syntaxBody = JSON.stringify({ errors: [{ message: atGroup, extensions: server }] });

const rows: readonly Row[] = [
  // The message says it, whatever its class.
  says(atGroup, {}, 'client', 'correct'),
  says(atGroup, server, 'client', 'correct'),
  says(atGroup, { errorClass: 'INVALID_INPUT' }, 'client', 'correct'),
  says('Unknown function baseline()', server, 'client', 'correct'),
  says(badRequest, server, 'client', 'correct'),
  says("Validation error on 'nrql': a query must be specified", server, 'client', 'correct'),
  says('Validation failed: too many facets', server, 'client', 'correct'),
  says('No application was matched (did you specify appId?)', server, 'client', 'correct'),
  says('You are not authorized to query account 1234567', server, 'auth', 'rights'),
  says('You are not authorized to query account 1234567', {}, 'auth', 'rights'),
  says('Not authorized for account region', server, 'auth', 'region'),
  says('access denied', { errorClass: 'SOMETHING_NEW' }, 'auth', 'rights'),
  says(tooBig, server, 'too_large', 'less'),
  says('The NRQL text is too long: 4096', { errorClass: 'INVALID_INPUT' }, 'too_large', 'less'),
  says('over the maximum length', { errorClass: 'INVALID_INPUT' }, 'too_large', 'less'),
  says('NRDB:1101002 the query took too long', server, 'too_large', 'less'),
  // A code in the message, or in any of the members that may have one.
  says('NRDB:1106924 Query rate limit exceeded', {}, 'throttled', 'limit'),
  says('no', { errorCode: 'NRDB:1106924' }, 'throttled', 'limit'),
  says('no', { ...server, errorCode: 'NRDB:1107005' }, 'throttled', 'limit'),
  says('no', { code: 'NRDB:1101002' }, 'too_large', 'less'),
  says('no', { code: 'BAD_USER_INPUT' }, 'client', 'correct'),
  says('no', { error_code: 'BAD_API_KEY' }, 'auth', 'key'),
  says('no', { code: 'GRAPHQL_VALIDATION_FAILED' }, 'client', 'correct'),
  // A syntax error has the code of the database, too.
  says(atGroup, { ...server, errorCode: 'NRDB:1107005' }, 'client', 'correct'),
  // A class that says something.
  says('no', { errorClass: 'TOO_MANY_REQUESTS' }, 'throttled', 'limit'),
  says('no', { errorClass: 'TIMEOUT' }, 'too_large', 'less'),
  says('no', { errorClass: 'BAD_API_KEY' }, 'auth', 'key'),
  says('no', { errorClass: 'UNAUTHORIZED' }, 'auth', 'key'),
  says('no', { errorClass: 'ACCESS_DENIED' }, 'auth', 'rights'),
  says('no', { errorClass: 'NOT_FOUND' }, 'auth', 'rights'),
  says('no', { errorClass: 'INVALID_INPUT' }, 'client', 'correct'),
  says('access denied', { errorClass: 'INTERNAL_SERVER_ERROR' }, 'server', 'vendor'),
  // What is quoted is the user's, whatever it says.
  ...['TOO_MANY_REQUESTS', 'UNAUTHORIZED', 'TIMEOUT', 'is too long', 'NRDB:1106924'].map((text) =>
    says(`Cannot compare '${text}'`, { errorClass: 'INVALID_INPUT' }, 'client', 'correct'),
  ),
  says("It failed: message = 'permission denied'", server, 'server', 'unknown'),
  says("LIKE 'validation failed%'", { errorClass: 'TIMEOUT' }, 'too_large', 'less'),
  says("We're sorry, you're not authorized", server, 'auth', 'rights'),
  says("no: 'ACCESS_DENIED'", { errorClass: 'ACCESS_DENIED' }, 'auth', 'rights'),
  // Nothing tells whose fault it is.
  says('Something went wrong while executing your query.', server, 'server', 'unknown'),
  says("Your query either timed out or we're under heavy load.", server, 'server', 'unknown'),
  says('it broke', {}, 'server', 'unknown'),
  says('it broke', { errorClass: 'SOMETHING_NEW' }, 'server', 'unknown'),
  // A field that fails for a while; the key sees the account.
  says(resolving, {}, 'server', 'unknown'),
  says(resolving, server, 'server', 'unknown'),
  says(resolving, fetching, 'server', 'unknown'),
  says('it failed', { ...server, ...fetching }, 'server', 'unknown'),
  says(resolving, { ...fetching, errorClass: 'INTERNAL_SERVER_ERROR' }, 'server', 'vendor'),
  says(resolving, { ...fetching, errorClass: 'TIMEOUT' }, 'too_large', 'less'),
  // Beside whole data it fails the same.
  {
    name: 'an error beside whole data',
    answer: nrqlAnswer(whole, [anError('TIMEOUT', 'shard lost')]),
    reason: 'too_large',
    help: 'less',
  },
  // However it is written.
  ...[['shard lost'], 'shard lost', { message: 'shard lost' }].map(
    (errors): Row => ({
      name: `beside whole data ${JSON.stringify(errors)}`,
      answer: answerOf({ data: { actor: { account: { nrql: whole } } }, errors }),
      reason: 'server',
      help: 'unknown',
      said: 'shard lost',
    }),
  ),
  // Of several the one that decides what to do.
  {
    name: 'a limit behind a refusal',
    answer: failedNrql(anError('ACCESS_DENIED', 'no'), anError('TOO_MANY_REQUESTS', 'slow down')),
    reason: 'throttled',
    help: 'limit',
    said: 'slow down',
  },
  {
    name: 'a refused key behind an error of the query',
    answer: failedNrql({ message: atGroup }, anError('BAD_API_KEY', 'wrong key')),
    reason: 'auth',
    help: 'key',
    said: 'wrong key',
  },
  // The status of HTTP says it, unless it only says that something failed.
  withStatus(401, '', 'auth', 'key'),
  withStatus(401, syntaxBody, 'auth', 'key'),
  withStatus(402, '{}', 'client', 'pay'),
  withStatus(403, 'Sorry', 'auth', 'rights'),
  withStatus(404, '<html>', 'not_found', 'address'),
  withStatus(429, '{}', 'throttled', 'limit'),
  withStatus(500, syntaxBody, 'client', 'correct', atGroup),
  withStatus(400, syntaxBody, 'client', 'correct', atGroup),
  withStatus(400, '{"errors":[{"message":"odd"}]}', 'client', 'correct', 'odd'),
  withStatus(500, '<p>proxy error</p>', 'server', 'vendor'),
  withStatus(502, syntaxBody, 'server', 'vendor', atGroup),
  withStatus(200, '<html>Sign in', 'not_json', 'between'),
  withStatus(200, '', 'not_json', 'between'),
  withStatus(200, '{"data":{"actor":{"account":null}}}', 'auth', 'rights'),
];

/** Answers NRQL so, and says which accounts the key sees. */
function answering(
  answer: ApiResponse,
  accounts: ApiResponse = answerOf({ data: { actor: { accounts: [{ id: accountId }] } } }),
): Transport {
  return async ({ body = '' }) => {
    const asked: unknown = JSON.parse(body);
    const isNrql = Object(asked).query === nrqlDocument;
    const given = isNrql ? answer : accounts;
    return { ...given, status: statusOf(given) };
  };
}

async function queryOutcome({
  source,
}: ReturnType<typeof aNerdGraphSource>): Promise<QueryOutcome | undefined> {
  const options = { job: aJob, signal: neverAborted };
  const question = { kind: 'query', query: aQuery } as const;
  for await (const one of source.poll(() => [question], options)) {
    if (one.kind === 'query') return one.outcome;
  }
  return undefined;
}

/** What is said of one application, and of its query. */
async function outcomeOfApplication(
  bench: ReturnType<typeof aNerdGraphSource>,
): Promise<PollOutcome | undefined> {
  return (await polled(bench, [aSelected({ id: '7' }, { hosts: false })])).outcomes.get('7');
}

describe('a failure of NerdGraph', () => {
  it('has more than forty rows', () => {
    expect(rows.length).toBeGreaterThan(40);
  });

  it.each(rows)('means the same of a query and of applications: $name', async (row) => {
    const { answer, reason, help, said = '' } = row;
    const ofQuery = (await queryOutcome(aNerdGraphSource(answering(answer))))?.error;
    const ofApplication = (await outcomeOfApplication(aNerdGraphSource(answering(answer))))?.error;

    expect([ofQuery?.reason, ofApplication?.reason]).toEqual([reason, reason]);
    expect(ofQuery?.message).toContain(said.slice(0, 60));
    expect(ofQuery?.message).toContain(remedies[help]);
    expect(ofApplication?.message).toContain(said.slice(0, 60));
    // What is wrong with the exporter's own query is not the user's to correct.
    expect(ofApplication?.message).not.toContain('"queries"');
  });

  it('is retried if it may pass by itself, and never if it is the fault of the query', () => {
    const isRetried = (reason: FailureReason): boolean => failures[reason].isRetryable;
    const retried = new Set(rows.map(({ reason }) => reason).filter(isRetried));

    expect([...retried].toSorted()).toEqual(['server', 'throttled']);
  });
});

it('5.2 a failure is read by its first hundred errors', () => {
  const errors = [...Array.from({ length: 100 }, () => ({})), anError('TOO_MANY_REQUESTS')];
  const statusOfLast = (count: number): number =>
    statusOf(answerOf({ errors: errors.slice(-count) }));

  expect([statusOfLast(100), statusOfLast(101)]).toEqual([429, 500]);
});

describe('a field that fails without a reason', () => {
  const answer = failedNrql({ message: resolving, extensions: fetching });
  const seeing = (...ids: readonly number[]): ApiResponse =>
    answerOf({ data: { actor: { accounts: ids.map((id) => ({ id, name: 'A' })) } } });

  it.each([
    ['the account is missing among those that the key sees', seeing(1, 2), 'auth', 'rights'],
    ['the key sees no account at all', seeing(), 'auth', 'rights'],
    ['the account is among them', seeing(1, accountId), 'server', 'unknown'],
    ['that question fails, too', answerOf('', { status: 502 }), 'server', 'unknown'],
    ['its answer is none', answerOf('{}'), 'server', 'unknown'],
  ] as const)('where %s', async (_, accounts, reason, help) => {
    const bench = aNerdGraphSource(answering(answer, accounts));
    const outcome = await queryOutcome(bench);

    expect(outcome?.error?.reason).toBe(reason);
    expect(outcome?.error?.message).toContain(remedies[help]);
    expect(bench.failures.includes('query auth')).toBe(reason === 'auth');
  });

  it('asks once a minute at most which accounts the key sees', async () => {
    const clock = createFakeClock();
    const bench = aNerdGraphSource(answering(answer, seeing(1)), clock);
    for (let second = 0; second <= 120; second += 20) {
      await queryOutcome(bench);
      await clock.advance(minuteMs / 3);
    }

    expect([bench.callsOf('query'), bench.callsOf('list_applications')]).toEqual([7, 3]);
  });

  it('waits for no second answer to that', async () => {
    const bench = aNerdGraphSource(answering(answer, seeing(1)));
    await queryOutcome(bench);

    const mayRetry = bench.requests.map((request) => [request.operation, request.mayRetry]);
    expect(mayRetry).toEqual([
      ['query', true],
      ['list_applications', false],
    ]);
  });

  it('does not ask while what fails says why', async () => {
    const bench = aNerdGraphSource(answering(failedNrql({ message: atGroup })));
    await queryOutcome(bench);

    expect(bench.callsOf('list_applications')).toBe(0);
  });
});

describe('what New Relic says beside whole data', () => {
  const deprecated = 'This field is deprecated! Use another.';
  const notice = 'Aggregates of Metric count data points.';
  const metadata = {
    facets: ['appName'],
    messages: [notice],
    timeWindow: { begin: Date.UTC(2026, 8, 1, 9, 52), end: Date.UTC(2026, 8, 1, 9, 57) },
  };

  it('is a notice: the values are shown, and each text is logged once', async () => {
    const part = { ...whole, metadata };
    const bench = aNerdGraphSource(answering(nrqlAnswer(part, [{ message: deprecated }])));
    const all = [await queryOutcome(bench), await queryOutcome(bench), await queryOutcome(bench)];
    const noticed = bench.logger.lines.flatMap(({ fields }) => fields['notice'] ?? []);

    expect(all.map((one) => one?.error)).toEqual([undefined, undefined, undefined]);
    expect(all[0]?.reading).toMatchObject({ series: [{ value: 5 }], notices: [notice] });
    expect(noticed).toEqual([deprecated, notice]);
    expect([bench.unexpected, bench.failures]).toEqual([[], []]);
  });

  it('10 takes no more memory than the beginnings of a few texts, and has no key', async () => {
    const long = `NRAK-${'A'.repeat(27)} ${'x'.repeat(10_000)}`;
    const messages = [null, '', ...Array.from({ length: 1000 }, (_, at) => `${at} ${long}`)];
    const part = { ...whole, metadata: { ...metadata, messages } };
    const { reading } = (await queryOutcome(aNerdGraphSource(answering(nrqlAnswer(part))))) ?? {};
    const text = reading?.notices.join('') ?? '';

    expect(text).toContain('0 [removed] xxx');
    expect(text).not.toContain('NRAK');
    expect(text.length).toBeLessThan(2000);
  });
});
