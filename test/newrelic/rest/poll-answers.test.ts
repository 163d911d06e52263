import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason } from '../../../src/model/api-error.ts';
import { applicationScope } from '../../../src/model/poll-outcome.ts';
import { seriesOf } from '../../../src/model/polled-series.ts';
import { type GroupQuery, PollAnswers } from '../../../src/newrelic/rest/poll-answers.ts';
import { aSelected } from '../../support/builders.ts';

const series = seriesOf(['throughput'], ['web']);

const query: GroupQuery = {
  window: { fromMs: 0, toMs: 60_000 },
  series,
  places: undefined,
  calls: 1,
  raw: false,
};
const answer = { values: [1], windowEndMs: undefined };

function anError(reason: FailureReason, status?: number): ApiError {
  return new ApiError(reason, `it was ${reason}`, status === undefined ? {} : { status });
}

function asked(hostIds: readonly string[]): Parameters<PollAnswers['outcome']>[0] {
  return { application: true, hostIds, isByName: false };
}

describe('the answers of a poll', () => {
  it('are a part only when all calls for it have been answered', () => {
    const both = seriesOf(['throughput'], ['web', 'other']);
    const [first, second] = [0, 1].map((at) => ({ ...query, places: [at], calls: 2 }));
    const answers = new PollAnswers(both);

    answers.arrived('12', { values: [2], windowEndMs: undefined }, second ?? query);
    answers.arrived('11', { values: [4], windowEndMs: undefined }, second ?? query);
    answers.arrived(applicationScope, { values: [5], windowEndMs: undefined }, first ?? query);
    answers.arrived('11', { values: [3], windowEndMs: undefined }, first ?? query);
    answers.partFailed('12', anError('server', 500));
    const { reading, failed } = answers.outcome(asked(['11', '12']), 3);

    expect([...(reading?.hosts ?? [])]).toEqual([['11', [3, 4]]]);
    expect([...failed].toSorted()).toEqual(['12', applicationScope]);
  });

  it('have no failures when the application answers 404, only that it is gone', () => {
    const answers = new PollAnswers(series);
    answers.partFailed(applicationScope, anError('not_found', 404));
    const isFinal = answers.isFinal();

    const outcome = answers.outcome(asked(['11']), 2);

    expect(isFinal).toBe(true);
    expect(outcome).toMatchObject({ gone: true, error: undefined, failed: new Set() });
  });

  it.each([
    { what: 'the vendor refuses the key', error: anError('auth', 401), final: true },
    { what: 'it refuses this application alone', error: anError('auth', 403), final: false },
    { what: 'one host fails', error: anError('server', 500), final: false },
  ])('are final: $final, when $what', ({ error, final }) => {
    const answers = new PollAnswers(series);

    answers.partFailed('11', error);

    const byName = new PollAnswers(series);
    byName.hostNamesFailed(error);
    byName.concludeFromNames(aSelected());
    expect([answers, byName].map((one) => one.isFinal())).toEqual([final, final]);
    expect(answers.outcome(asked(['11']), 2).unauthorized).toBe(final);
  });

  it.each(['dns', 'connect', 'tls', 'timeout', 'throttled'] as const)(
    'are final when a dozen calls in a row ended with %s',
    (reason) => {
      const answers = new PollAnswers(series);

      for (let call = 0; call < 11; call += 1) answers.partFailed(`${call}`, anError(reason));
      const before = answers.isFinal();
      answers.partFailed('11', anError(reason));

      expect([before, answers.isFinal()]).toEqual([false, true]);
    },
  );

  it.each([
    { what: 'an answer', between: (answers: PollAnswers) => answers.arrived('a', answer, query) },
    {
      what: 'an error of the vendor',
      between: (answers: PollAnswers) => answers.partFailed('a', anError('server', 500)),
    },
  ])('are not final when $what came in between', ({ between }) => {
    const answers = new PollAnswers(series);

    for (let call = 0; call < 11; call += 1) answers.partFailed(`${call}`, anError('timeout'));
    between(answers);
    answers.partFailed('11', anError('timeout'));

    expect(answers.isFinal()).toBe(false);
  });

  it('give the first error as the reason of the failure', () => {
    const answers = new PollAnswers(series);
    answers.givenUp(anError('timeout'));
    answers.partFailed('11', anError('server', 500));

    expect(answers.outcome(asked(['11']), 2).error).toMatchObject({ reason: 'timeout' });
  });

  it("have the earliest end of the windows, if those are the vendor's own", () => {
    const answers = new PollAnswers(series);
    const own = { ...query, window: undefined };
    answers.arrived(applicationScope, { ...answer, windowEndMs: 120_000 }, own);
    answers.arrived('11', { ...answer, windowEndMs: 60_000 }, own);
    answers.arrived('12', { ...answer, windowEndMs: 180_000 }, own);
    answers.arrived('13', { ...answer, windowEndMs: undefined }, own);

    expect(answers.outcome(asked(['11', '12', '13']), 4).reading?.windowEndMs).toBe(60_000);
  });
});

describe('the host names of a poll', () => {
  const names = new Map([['11', 'a']]);
  const error = anError('timeout');

  it.each([
    {
      what: 'all of them',
      came: { names, error: undefined, calls: 2 },
      expected: { hostNames: names, hostNamesError: undefined, extraCalls: 2 },
    },
    {
      what: 'those that came before a failure',
      came: { names, error, calls: 2 },
      expected: { hostNames: names, hostNamesError: error, extraCalls: 2 },
    },
    {
      what: 'none, if nothing came but a failure',
      came: { names: new Map<string, string>(), error, calls: 1 },
      expected: { hostNames: undefined, hostNamesError: error, extraCalls: 1 },
    },
    {
      what: 'an empty list, if that was the answer',
      came: { names: new Map<string, string>(), error: undefined, calls: 1 },
      expected: { hostNames: new Map(), hostNamesError: undefined, extraCalls: 1 },
    },
  ])('are $what', ({ came, expected }) => {
    const answers = new PollAnswers(series);

    answers.hostNames(came);

    expect(answers.outcome(asked([]), 1)).toMatchObject(expected);
  });

  it('do not make the poll fail when they fail', () => {
    const answers = new PollAnswers(series);
    answers.arrived(applicationScope, answer, query);

    answers.hostNamesFailed(error);

    expect(answers.outcome(asked([]), 1)).toMatchObject({
      failed: new Set(),
      error: undefined,
      hostNames: undefined,
      hostNamesError: error,
      extraCalls: 0,
    });
  });
});
