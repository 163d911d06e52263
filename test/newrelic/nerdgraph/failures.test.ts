import { describe, expect, it } from 'vitest';
import {
  answeredPartOf,
  failureIn,
  failureOf,
  graphqlErrorsOf,
  statusOf,
} from '../../../src/newrelic/nerdgraph/failures.ts';
import { answerOf } from '../../support/fake-transport.ts';
import {
  accountId,
  anError,
  failedNrql,
  type Json,
  nrqlAnswer,
  nrqlPart,
  pageAnswer,
} from './answers.ts';

const hosts = { operation: 'host_metrics', applications: 200, accountId } as const;
const list = { operation: 'list_applications', accountId } as const;
const onTheWay = 'New Relic, or something on the way to it, failed; it is asked again at the next';
const checkKey =
  'Check the API key of the account: it must be a user key (NRAK-…) of an active user, and the region (us, eu, jp or gov) must be the one of the account.';
const pay =
  'New Relic asks for payment, or a limit of the account is reached: check the plan and the usage of the account.';
const noAccess =
  'The user of the API key has no access to the account 1234567: check account_id ("newrelic-exporter check-config --online" names the accounts that the key sees), the region (us, eu, jp or gov) and the rights of that user.';
const smaller =
  'The query takes too long or returns too much; it is asked in smaller parts where that is possible.';
const report =
  'New Relic refuses this query: report it as a fault of the exporter, with this message.';
const limit =
  'A limit of NerdGraph is reached (3000 NRQL queries a minute for an account, 25 requests in flight for a user): lower requests_per_minute or concurrency, or find who else asks as the same user.';
const noNerdGraph = 'Check base_url: there is no NerdGraph at this address (/graphql).';
const redirected = 'Redirects are not followed with a key: check base_url and its scheme (https).';
const region =
  'The account is in another region of New Relic: set "region" to that of the account (us, eu, jp or gov);';
const ofRegion = 'Not authorized for account region.';

describe('the failure that an answer is', () => {
  it.each([
    [401, 'auth', ['BAD_API_KEY', 'The API key is invalid'], checkKey],
    [401, 'auth', ['', ofRegion], region],
    [402, 'client', ['', 'payment required'], pay],
    [403, 'auth', ['SERVER_ERROR', 'no access'], noAccess],
    [403, 'auth', ['SERVER_ERROR', ofRegion], region],
    [404, 'not_found', [], noNerdGraph],
    [413, 'too_large', ['TIMEOUT', 'NRDB query duration exceeded the set timeout'], smaller],
    [400, 'client', ['INVALID_INPUT', 'NRQL Syntax Error'], report],
    [429, 'throttled', ['TOO_MANY_REQUESTS', 'slow down'], limit],
    [500, 'server', [], `${onTheWay} poll.`],
    [302, 'redirect', [], redirected],
  ] as const)('says what %d means and what to do: %s', (status, reason, stated, remedy) => {
    const errors = stated.length === 0 ? [] : [anError(stated[0], stated[1])];
    const failure = failureIn({ ...failedNrql(...errors), status }, hosts);
    const said =
      stated.length === 0 ? '' : `, "${stated.filter((text) => text !== '').join(': ')}"`;
    const begins = `host_metrics of 200 applications: status ${status}${said}. ${remedy}`;

    expect(failure?.message.slice(0, begins.length)).toBe(begins);
    expect(failure).toMatchObject({ reason, status });
  });

  it('is none for a good answer', () => {
    expect(failureIn(answerOf({}), hosts)).toBeUndefined();
  });

  it.each([
    [
      'the error that decides',
      [anError('SERVER_ERROR', 'first'), anError('TIMEOUT', 'second')],
      '"TIMEOUT: second"',
    ],
    [
      'no key',
      [anError('BAD_API_KEY', 'NRAK-ABCDEFGHIJKLMNOPQRSTUVWXYZ0 is wrong')],
      '"BAD_API_KEY: [removed] is wrong"',
    ],
  ])('quotes %s', (_, errors, says) => {
    expect(failureIn({ ...failedNrql(...errors), status: 413 }, hosts)?.message).toContain(says);
  });

  it('quotes nothing of the page of a gateway', () => {
    const answer = answerOf('<html>Bad gateway</html>', { status: 502 });

    expect(failureIn(answer, list)?.message).toBe(
      `list_applications: status 502. ${onTheWay} discovery.`,
    );
  });
});

describe('a failure', () => {
  const wrong = 'Check that base_url is the address of New Relic.';
  it.each([
    [list, 'schema', `list_applications: x. ${wrong}`],
    [{ ...hosts, applications: 1 }, 'schema', `host_metrics of 1 application: x. ${wrong}`],
    [{ ...hosts, applications: 2 }, 'schema', `host_metrics of 2 applications: x. ${wrong}`],
    ...(['dns', 'connect', 'tls', 'reset', 'timeout', 'server'] as const).map(
      (reason) => [list, reason, `list_applications: x. ${onTheWay} discovery.`] as const,
    ),
    [
      list,
      'not_json',
      'list_applications: x. Check base_url, proxy_url and what is between here and New Relic.',
    ],
  ] as const)('of %j for the reason %s says what to do', (purpose, reason, message) => {
    expect(failureOf(purpose, reason, 'x')).toMatchObject({ message, status: undefined });
  });

  it('does not name an account that is not known', () => {
    expect(failureOf({ ...list, accountId: undefined }, 'auth', 'x', 403).message).toContain(
      'has no access to the account: check account_id',
    );
  });
});

const deprecation = { message: 'This field is deprecated! Please update your query.' };
const fetching = { classification: 'DataFetchingException' };
const tooBig =
  "We're sorry, but that query is a little too big. Try a shorter time range or, if faceting, reduce the LIMIT.";

describe('the status of an error under 200', () => {
  it.each<[string, number, string?, Json?]>([
    ['TOO_MANY_REQUESTS', 429],
    ['BAD_API_KEY', 401],
    ['UNAUTHORIZED', 401],
    ['ACCESS_DENIED', 403],
    ['FORBIDDEN', 403],
    ['NOT_FOUND', 403],
    ['TIMEOUT', 413],
    ['INVALID_INPUT', 400],
    ['BAD_USER_INPUT', 400],
    ['INTERNAL_SERVER_ERROR', 500],
    ['SERVER_ERROR', 500],
    ['SOMETHING_NEW', 500],
    ['', 500],
    // The user may not see the account; a class of its own says more.
    ['SERVER_ERROR', 403, 'it failed', fetching],
    ['', 403, 'it failed', fetching],
    ['TOO_MANY_REQUESTS', 429, 'it failed', fetching],
    ['TIMEOUT', 413, 'it failed', fetching],
    ['SERVER_ERROR', 413, tooBig],
    ['', 413, 'That query is too big'],
    ['INVALID_INPUT', 413, 'The NRQL text is too long: 4096'],
    ['INVALID_INPUT', 413, 'over the maximum length'],
    ['', 403, 'Not authorized to view this account'],
    ['SOMETHING_NEW', 403, 'you lack the permission'],
    ['INTERNAL_SERVER_ERROR', 500, 'access denied'],
    ['', 401, 'invalid', { error_code: 'BAD_API_KEY' }],
  ])('of the class "%s" is %d: %s, %j', (errorClass, status, message, extensions) => {
    expect(statusOf(failedNrql(anError(errorClass, message, extensions)))).toBe(status);
  });

  it.each([
    ['SERVER_ERROR TOO_MANY_REQUESTS', 429],
    ['BAD_API_KEY TOO_MANY_REQUESTS', 429],
    ['ACCESS_DENIED BAD_API_KEY', 401],
    ['TIMEOUT ACCESS_DENIED', 403],
    ['INVALID_INPUT TIMEOUT', 413],
    ['SERVER_ERROR INVALID_INPUT', 400],
  ])('of several classes, %s, is the one that decides: %d', (classes, status) => {
    expect(statusOf(failedNrql(...classes.split(' ').map((one) => anError(one))))).toBe(status);
  });
});

describe('the status of an answer', () => {
  const lost = { data: { actor: { account: null } } };
  it.each([
    ['with good data', nrqlAnswer(nrqlPart([])), 200],
    ['with a warning beside good data', nrqlAnswer(nrqlPart([]), [deprecation]), 200],
    ['with a page', pageAnswer([]), 200],
    ['with nothing, but no error either', nrqlAnswer(null), 200],
    ['that is a login page', answerOf('<html>"errors"</html>'), 200],
    ['that is empty', answerOf(''), 200],
    ['that is no object', answerOf([1]), 200],
    ['with a host called "errors"', nrqlAnswer(nrqlPart([{ host: '"errors"' }])), 200],
    // The key does not see the account.
    ['without the account', answerOf(lost), 403],
    ['without the account, with a warning', answerOf({ ...lost, errors: [deprecation] }), 403],
    ['without it for a reason', answerOf({ ...lost, errors: [anError('SERVER_ERROR')] }), 500],
  ])('%s is right', (_, answer, status) => {
    expect(statusOf(answer)).toBe(status);
  });

  it('11.1 with an error beside good data is that of the error', () => {
    expect(statusOf(nrqlAnswer(nrqlPart([]), [anError('TIMEOUT')]))).toBe(413);
  });

  it.each([400, 401, 402, 403, 413, 429, 500, 502, 503])(
    '%d stays, whatever is in it',
    (status) => {
      const bodies = [JSON.stringify({ errors: [anError('TIMEOUT')] }), '<html>Bad gateway</html>'];

      expect(bodies.map((body) => statusOf({ status, body }))).toEqual([status, status]);
    },
  );
});

describe('a document', () => {
  it('has announcements apart from its errors, whose members may be of any type', () => {
    const errors = [deprecation, { message: 5, extensions: null }, anError('TIMEOUT', 'slow')];

    expect(graphqlErrorsOf({ errors })).toEqual({
      errors: [
        { message: '', errorClass: '', classification: '' },
        { message: 'slow', errorClass: 'TIMEOUT', classification: '' },
      ],
      deprecations: [deprecation.message],
    });
  });

  const ofActor = (actor: unknown) => ({ data: { actor } });
  it.each([
    [ofActor({ account: { nrql: { results: [] } } }), { results: [] }],
    [ofActor({ entitySearch: { count: 0 } }), { count: 0 }],
    [ofActor({ accounts: [{ id: 1 }] }), [{ id: 1 }]],
    [ofActor({ account: { nrql: null } }), undefined],
    [{ data: null }, undefined],
    [{ data: {} }, undefined],
    ['x', undefined],
  ])('%j answers %j', (document, is) => {
    expect(answeredPartOf(document)).toEqual(is);
  });
});
