import { describe, expect, it } from 'vitest';
import {
  answeredPartOf,
  graphqlErrorsOf,
  statusOf,
} from '../../../src/newrelic/nerdgraph/failures.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { anError, failedNrql, nrqlAnswer, nrqlPart, pageAnswer } from './answers.ts';

const deprecation = { message: 'This field is deprecated! Please update your query.' };
const tooBig =
  "We're sorry, but that query is a little too big. Try a shorter time range or, if faceting, reduce the LIMIT.";

describe('the status of an error under 200', () => {
  it.each([
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
  ])('of the class %j is %i', (errorClass, status) => {
    expect(statusOf(failedNrql(anError(errorClass)))).toBe(status);
  });

  it('is read from error_code, as New Relic writes it for a bad key', () => {
    const error = { message: 'invalid', extensions: { error_code: 'BAD_API_KEY' } };

    expect(statusOf(answerOf({ errors: [error] }))).toBe(401);
  });

  it.each([
    { what: 'SERVER_ERROR: the user may not see the account', errorClass: 'SERVER_ERROR', is: 403 },
    { what: 'no class at all', errorClass: '', is: 403 },
    {
      what: 'a class of its own: a limit is no missing right',
      errorClass: 'TOO_MANY_REQUESTS',
      is: 429,
    },
    { what: 'a class of its own: so is a slow query', errorClass: 'TIMEOUT', is: 413 },
  ])('with the classification DataFetchingException and $what is $is', ({ errorClass, is }) => {
    const error = anError(errorClass, 'it failed', { classification: 'DataFetchingException' });

    expect(statusOf(failedNrql(error))).toBe(is);
  });

  it.each([
    { message: tooBig, errorClass: 'SERVER_ERROR', is: 413 },
    { message: 'That query is too big', errorClass: '', is: 413 },
    { message: 'The NRQL text is too long: 4096', errorClass: 'INVALID_INPUT', is: 413 },
    { message: 'over the maximum length', errorClass: 'INVALID_INPUT', is: 413 },
    { message: 'Not authorized to view this account', errorClass: '', is: 403 },
    { message: 'you lack the permission', errorClass: 'SOMETHING_NEW', is: 403 },
    { message: 'access denied', errorClass: 'INTERNAL_SERVER_ERROR', is: 500 },
  ])(
    'with the message "$message" and the class "$errorClass" is $is',
    ({ message, errorClass, is }) => {
      expect(statusOf(failedNrql(anError(errorClass, message)))).toBe(is);
    },
  );

  it.each([
    { classes: ['SERVER_ERROR', 'TOO_MANY_REQUESTS'], is: 429 },
    { classes: ['TIMEOUT', 'BAD_API_KEY'], is: 401 },
    { classes: ['INVALID_INPUT', 'ACCESS_DENIED'], is: 403 },
    { classes: ['INVALID_INPUT', 'TIMEOUT'], is: 413 },
    { classes: ['SERVER_ERROR', 'INVALID_INPUT'], is: 400 },
  ])('of several classes, $classes, is the one that decides: $is', ({ classes, is }) => {
    expect(statusOf(failedNrql(...classes.map((name) => anError(name))))).toBe(is);
  });
});

describe('the status of an answer', () => {
  it.each([
    { what: 'with good data', answer: nrqlAnswer(nrqlPart([])) },
    { what: 'with a warning beside good data', answer: nrqlAnswer(nrqlPart([]), [deprecation]) },
    { what: 'with a page', answer: pageAnswer([]) },
    { what: 'with nothing, but no error either', answer: nrqlAnswer(null) },
    { what: 'that is a login page', answer: answerOf('<html>"errors"</html>') },
    { what: 'that is empty', answer: answerOf('') },
    { what: 'that is no object', answer: answerOf([1]) },
    {
      what: 'with a host that is called "errors"',
      answer: nrqlAnswer(nrqlPart([{ host: '"errors"' }])),
    },
  ])('$what stays 200', ({ answer }) => {
    expect(statusOf(answer)).toBe(200);
  });

  it('11.1 with an error beside good data is that of the error', () => {
    expect(statusOf(nrqlAnswer(nrqlPart([]), [anError('TIMEOUT')]))).toBe(413);
  });

  it.each([400, 401, 402, 403, 413, 429, 500, 502, 503])(
    '%i stays, whatever the body says',
    (status) => {
      const body = JSON.stringify({ errors: [anError('TIMEOUT')] });

      expect(statusOf({ status, body })).toBe(status);
      expect(statusOf({ status, body: '<html>Bad gateway</html>' })).toBe(status);
    },
  );

  it.each([
    { what: 'no error', errors: undefined },
    { what: 'only a warning', errors: [deprecation] },
  ])('without the account and with $what is 403: the key does not see it', ({ errors }) => {
    const body = { data: { actor: { account: null } }, ...(errors && { errors }) };

    expect(statusOf(answerOf(body))).toBe(403);
  });

  it('without the account and with an error is that of the error', () => {
    const body = { data: { actor: { account: null } }, errors: [anError('INTERNAL_SERVER_ERROR')] };

    expect(statusOf(answerOf(body))).toBe(500);
  });
});

describe('graphqlErrorsOf', () => {
  it('tells announcements from errors, and reads members of any type', () => {
    const errors = [deprecation, { message: 5, extensions: null }, anError('TIMEOUT', 'slow')];

    expect(graphqlErrorsOf({ errors })).toEqual({
      errors: [
        { message: '', errorClass: '', classification: '' },
        { message: 'slow', errorClass: 'TIMEOUT', classification: '' },
      ],
      deprecations: [deprecation.message],
    });
  });
});

describe('answeredPartOf', () => {
  it.each([
    {
      what: 'nrql',
      document: { data: { actor: { account: { nrql: { results: [] } } } } },
      is: { results: [] },
    },
    {
      what: 'entitySearch',
      document: { data: { actor: { entitySearch: { count: 0 } } } },
      is: { count: 0 },
    },
    {
      what: 'accounts',
      document: { data: { actor: { accounts: [{ id: 1 }] } } },
      is: [{ id: 1 }],
    },
    { what: 'null data', document: { data: null }, is: undefined },
    { what: 'no actor', document: { data: {} }, is: undefined },
    {
      what: 'null nrql',
      document: { data: { actor: { account: { nrql: null } } } },
      is: undefined,
    },
    { what: 'a text', document: 'x', is: undefined },
  ])('finds $what', ({ document, is }) => {
    expect(answeredPartOf(document)).toEqual(is);
  });
});
