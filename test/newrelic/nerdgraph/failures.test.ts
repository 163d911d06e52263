import { describe, expect, it } from 'vitest';
import { failureIn, failureOf } from '../../../src/newrelic/nerdgraph/failures.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { accountId, anError, failedNrql } from './answers.ts';

const hosts = { operation: 'host_metrics', applications: 200, accountId } as const;
const list = { operation: 'list_applications', accountId } as const;
const onTheWay = 'New Relic, or something on the way to it, failed; it is asked again at the next';

/** A failed answer as the transport passes it on: with the status that it should have had. */
function failed(status: number, ...errors: readonly unknown[]): string | undefined {
  return failureIn({ ...failedNrql(...errors), status }, hosts)?.message;
}

describe('failureIn', () => {
  it('is nothing for a good answer', () => {
    expect(failureIn(answerOf({}), hosts)).toBeUndefined();
  });

  it.each([
    {
      status: 401,
      error: anError('BAD_API_KEY', 'The API key provided is invalid'),
      reason: 'auth',
      says: 'status 401, "BAD_API_KEY: The API key provided is invalid". Check the API key of the account: it must be a user key (NRAK-…) of an active user, and the region (us, eu, jp or gov) must be the one of the account.',
    },
    {
      status: 402,
      error: anError('', 'payment required'),
      reason: 'client',
      says: 'status 402, "payment required". New Relic asks for payment, or a limit of the account is reached: check the plan and the usage of the account.',
    },
    {
      status: 403,
      error: anError('SERVER_ERROR', 'no access'),
      reason: 'auth',
      says: 'status 403, "SERVER_ERROR: no access". The user of the API key has no access to the account 1234567: check account_id ("newrelic-exporter check-config --online" names the accounts that the key sees), the region (us, eu, jp or gov) and the rights of that user.',
    },
    {
      status: 404,
      error: undefined,
      reason: 'not_found',
      says: 'status 404. Check base_url: there is no NerdGraph at this address (/graphql).',
    },
    {
      status: 413,
      error: anError('TIMEOUT', 'NRDB query duration exceeded the set timeout'),
      reason: 'too_large',
      says: 'status 413, "TIMEOUT: NRDB query duration exceeded the set timeout". The query takes too long or returns too much; it is asked in smaller parts where that is possible.',
    },
    {
      status: 400,
      error: anError('INVALID_INPUT', 'NRQL Syntax Error'),
      reason: 'client',
      says: 'status 400, "INVALID_INPUT: NRQL Syntax Error". New Relic refuses this query: report it as a fault of the exporter, with this message.',
    },
    {
      status: 429,
      error: anError('TOO_MANY_REQUESTS', 'slow down'),
      reason: 'throttled',
      says: 'status 429, "TOO_MANY_REQUESTS: slow down". A limit of NerdGraph is reached (3000 NRQL queries a minute for an account, 25 requests in flight for a user): lower requests_per_minute or concurrency, or find who else asks as the same user.',
    },
    { status: 500, error: undefined, reason: 'server', says: `status 500. ${onTheWay} poll.` },
    {
      status: 302,
      error: undefined,
      reason: 'redirect',
      says: 'status 302. Redirects are not followed with a key: check base_url and its scheme (https).',
    },
  ])('says what $status means and what to do', ({ status, error, reason, says }) => {
    const answer = { ...failedNrql(...(error === undefined ? [] : [error])), status };
    const failure = failureIn(answer, hosts);

    expect(failure?.message).toBe(`host_metrics of 200 applications: ${says}`);
    expect(failure).toMatchObject({ reason, status });
  });

  it.each([
    { status: 401, error: anError('', 'not authorized for account region') },
    { status: 403, error: anError('SERVER_ERROR', 'Not authorized for account region.') },
  ])('knows the key of another region, $status', ({ status, error }) => {
    expect(failed(status, error)).toContain(
      '. The account is in another region of New Relic: set "region" to that of the account (us, eu, jp or gov);',
    );
  });

  it('quotes the error that decides, not the first one', () => {
    const message = failed(413, anError('SERVER_ERROR', 'first'), anError('TIMEOUT', 'second'));

    expect(message).toContain('status 413, "TIMEOUT: second".');
  });

  it('quotes nothing of the page of a gateway', () => {
    const answer = answerOf('<html>Bad gateway</html>', { status: 502 });

    expect(failureIn(answer, list)?.message).toBe(
      `list_applications: status 502. ${onTheWay} discovery.`,
    );
  });

  it('never quotes a key', () => {
    const message = failed(
      401,
      anError('BAD_API_KEY', 'NRAK-ABCDEFGHIJKLMNOPQRSTUVWXYZ0 is wrong'),
    );

    expect(message).toContain('"BAD_API_KEY: [removed] is wrong"');
    expect(message).not.toContain('ABCDEF');
  });
});

describe('failureOf', () => {
  it.each([
    { purpose: list, begins: 'list_applications: ' },
    { purpose: { ...hosts, applications: 1 }, begins: 'host_metrics of 1 application: ' },
    { purpose: { ...hosts, applications: 2 }, begins: 'host_metrics of 2 applications: ' },
  ])('begins with $begins', ({ purpose, begins }) => {
    const error = failureOf(purpose, 'schema', 'the answer has no list');

    expect(error.message).toBe(
      `${begins}the answer has no list. Check that base_url is the address of New Relic.`,
    );
    expect(error.status).toBeUndefined();
  });

  it.each(['dns', 'connect', 'tls', 'reset', 'timeout', 'server'] as const)(
    'promises another try after %s',
    (reason) => {
      expect(failureOf(list, reason, 'x').message).toBe(
        `list_applications: x. ${onTheWay} discovery.`,
      );
    },
  );

  it('says what may be between after an answer that is not JSON', () => {
    expect(failureOf(list, 'not_json', 'x').message).toBe(
      'list_applications: x. Check base_url, proxy_url and what is between here and New Relic.',
    );
  });

  it('does not name an account that is not known', () => {
    expect(failureOf({ ...list, accountId: undefined }, 'auth', 'x', 403).message).toContain(
      'has no access to the account: check account_id',
    );
  });
});
