import { setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason } from '../../../src/model/api-error.ts';
import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import { seriesOf } from '../../../src/model/polled-series.ts';
import type { ApplicationQuestion, PollCalls } from '../../../src/model/source.ts';
import type { ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import { aQuery, aQuestion, aSelected } from '../../support/builders.ts';
import { callsAtOnce } from '../../support/calls-at-once.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { neverAborted } from '../calls/fakes.ts';
import { aRestSource, nextPage, notFound } from './a-rest-source.ts';

function anError(reason: FailureReason, status?: number): ApiError {
  return new ApiError(reason, `it was ${reason}`, status === undefined ? {} : { status });
}

const deadline = anError('timeout');
const [refused, forbidden, broken] = [
  anError('auth', 401),
  anError('auth', 403),
  anError('server', 500),
];
const toMs = Date.UTC(2026, 8, 1, 9, 57);

type Answer = number | ApiResponse | Error | ((stop: AbortController) => ApiResponse);
/** By subject: `app`, the id of a host, or `names`. Others have 1 request a minute. */
type Answers = Readonly<Record<string, Answer>>;

function valuesOf(requestsPerMinute: number, to?: string): ApiResponse {
  const slice = { to, values: { requests_per_minute: requestsPerMinute } };
  return answerOf({ metric_data: { metrics: [{ name: 'HttpDispatcher', timeslices: [slice] }] } });
}

function namesOf(names: Readonly<Record<string, string>>, headers: ApiResponse['headers'] = {}) {
  const hosts = Object.entries(names).map(([id, host]) => ({ id, host }));
  return answerOf({ application_hosts: hosts }, { headers });
}

interface Poll {
  readonly outcome: PollOutcome | undefined;
  readonly asked: readonly string[];
  /** How many calls each stage may have. */
  readonly sizes: readonly number[];
  readonly targets: readonly string[];
  readonly hosts: readonly string[];
}

/** Polls application 1 with each call after the one before. */
async function poll(
  question: Partial<ApplicationQuestion> & {
    readonly entry?: Parameters<typeof aSelected>[1];
  } = {},
  answers: Answers = {},
  listed: readonly string[] = ['11', '12'],
): Promise<Poll> {
  const { entry, ...overrides } = question;
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const [asked, targets, sizes]: [string[], string[], number[]] = [[], [], []];
  const { source } = aRestSource(async ({ target }) => {
    stop.signal.throwIfAborted();
    const [, host] = /\/hosts\/(\d+)/u.exec(target) ?? [];
    const subject = target.includes('/hosts.json') ? 'names' : (host ?? 'app');
    asked.push(subject);
    targets.push(decodeURIComponent(target));
    const answer = answers[subject] ?? (subject === 'names' ? namesOf({ 11: 'web-1' }) : 1);
    if (answer instanceof Error) throw answer;
    if (typeof answer === 'function') return answer(stop);
    return typeof answer === 'number' ? valuesOf(answer) : answer;
  });
  const context = { signal: stop.signal, wallMs: Date.UTC(2026, 8, 1, 10, 0, 30) };
  const calls: PollCalls = {
    run: async (size, stage) => {
      sizes.push(size());
      for (let next = stage.next(); next.done !== true; next = stage.next()) {
        await next.value(context);
        if (stop.signal.aborted) break;
      }
    },
  };
  const wanted = aQuestion(aSelected({ hostIds: listed }, entry), overrides);
  let outcome: PollOutcome | undefined;
  for await (const one of source.poll(() => [wanted], calls, stop.signal)) {
    if (one.kind === 'application') ({ outcome } = one);
  }
  return { outcome, asked, sizes, targets, hosts: [...(outcome?.reading?.hosts.keys() ?? [])] };
}

const byName = { hosts: { kind: 'match', pattern: /^web/u, exclude: undefined } } as const;
const self = { hosts: { kind: 'self', names: ['web-1', 'web-2'] } } as const;
const named = { entry: byName, askHostNames: true } as const;

describe('a poll by the REST API', () => {
  it('asks for the values of the application and of each host, of one window', async () => {
    const { targets, outcome } = await poll({ entry: { poll: { raw: true } } });
    const query =
      'metrics/data.json?names[]=HttpDispatcher&names[]=OtherTransaction/all&values[]=requests_per_minute' +
      '&summarize=true&from=2026-09-01T09:52:00Z&to=2026-09-01T09:57:00Z&raw=true';

    expect(targets).toEqual(
      ['1', '1/hosts/11', '1/hosts/12'].map((subject) => `/v2/applications/${subject}/${query}`),
    );
    expect(outcome?.reading).toMatchObject({ application: [1, undefined], windowEndMs: toMs });
  });

  it('has a part only when all calls for it have been answered', async () => {
    const long = ['a', 'b'].map((letter) => ({
      metric: letter.repeat(2000),
      value: 'average_value' as const,
      as: letter,
      scale: 1,
      help: undefined,
      labels: {},
      scope: 'both' as const,
    }));
    let ofHost = 0;
    const second = (): ApiResponse => {
      ofHost += 1;
      return ofHost === 2 ? answerOf('', { status: 500 }) : valuesOf(1);
    };
    const { outcome, asked, hosts } = await poll(
      { entry: { series: seriesOf(long, []) } },
      { 12: second },
    );

    expect(asked).toEqual(['app', 'app', '11', '11', '12', '12']);
    expect(outcome).toMatchObject({ failed: new Set(['12']), partCount: 3 });
    expect(hosts).toEqual(['11']);
  });

  it('has no failures when the application answers 404, only that it is gone', async () => {
    const { asked, outcome } = await poll({}, { app: notFound });

    expect(asked).toEqual(['app']);
    expect(outcome).toMatchObject({ gone: true, error: undefined, failed: new Set() });
  });

  it.each<[string, Answer, readonly boolean[], number]>([
    ['answers 404', notFound, [true, true], 3],
    ['is no longer listed', 1, [false, false], 2],
    ['is taken off the list meanwhile', 1, [true, false], 3],
    ['is listed again meanwhile', 1, [false, true], 2],
  ])('has neither values nor a failure of a host that %s', async (_, answer, listed, calls) => {
    let isLater = false;
    const last = (): ApiResponse => {
      isLater = true;
      return valuesOf(1);
    };
    const isListed = (id: string): boolean => id !== '11' || listed[Number(isLater)] === true;
    const { asked, outcome, hosts } = await poll({ isListed }, { 11: answer, 12: last });

    expect(asked).toHaveLength(calls);
    expect(outcome).toMatchObject({ error: undefined, failed: new Set(), partCount: 3 });
    expect(hosts).toEqual(['12']);
  });

  const [own, all] = ['application', ['application', '11', '12']];
  it.each([
    ['a refused key', {}, { app: refused }, ['app'], all],
    [
      'a refused key, while it asks for names',
      named,
      { names: refused },
      ['names'],
      ['application', 'hosts'],
    ],
    ['a refused application', {}, { app: forbidden }, ['app', '11', '12'], [own]],
    ['refused names', named, { names: forbidden }, ['names', 'app'], ['hosts']],
    ['a failure', {}, { app: broken }, ['app', '11', '12'], [own]],
    ['a failure of names', named, { names: broken }, ['names', 'app'], ['hosts']],
  ])('goes on as far as that may help, after %s', async (_, question, answers, calls, failed) => {
    const { asked, outcome } = await poll(question, answers);
    const [error] = Object.values(answers);

    expect(asked).toEqual(calls);
    expect(outcome).toMatchObject({
      error,
      unauthorized: error === refused,
      failed: new Set(failed),
    });
  });

  const many = Array.from({ length: 14 }, (_, index) => `${index + 10}`);
  it.each<[FailureReason, Answer | undefined, number]>([
    ...(['dns', 'connect', 'tls', 'timeout', 'throttled'] as const).map(
      (reason): [FailureReason, undefined, number] => [reason, undefined, 12],
    ),
    ['reset', undefined, 15],
    ['timeout', 1, 15],
    ['timeout', broken, 15],
  ])(
    'ends after a dozen calls in a row without an answer: %s, %s',
    async (reason, other, calls) => {
      const error = anError(reason);
      const failing = Object.fromEntries(['app', ...many].map((subject) => [subject, error]));
      const { asked, outcome } = await poll({}, { ...failing, 20: other ?? error }, many);

      expect(asked).toHaveLength(calls);
      expect(outcome).toMatchObject({ error, partCount: 15 });
      expect(outcome?.failed.size).toBe(other === 1 ? 14 : 15);
    },
  );

  it('tries nothing if the key is refused, although an answer may not be whole', async () => {
    const entry = { series: seriesOf(['throughput', 'apdex'], ['web']) };

    expect((await poll({ entry }, { 11: refused }, ['11'])).asked).toEqual(['app', '11']);
  });

  it("has the earliest end of the windows, if those are the vendor's own", async () => {
    const entry = { poll: { window: { kind: 'vendor_default' } } } as const;
    const ending = (minute: number) => valuesOf(1, `2026-09-01T10:0${minute}:00Z`);
    const { outcome, targets } = await poll(
      { entry },
      { app: ending(2), 11: ending(1), 12: ending(3) },
    );

    expect(outcome?.reading?.windowEndMs).toBe(Date.UTC(2026, 8, 1, 10, 1));
    expect(targets[0]).not.toMatch(/from|raw/u);
  });

  it('reports an error that does not come from the vendor as one of this program, and goes on', async () => {
    const fault = new TypeError('x is not a function');
    const { outcome, hosts } = await poll({}, { app: fault });

    expect(outcome).toMatchObject({
      failed: new Set(['application']),
      error: { reason: 'client', cause: fault },
    });
    expect(hosts).toEqual(['11', '12']);
  });

  it('of a query fails: this API has none', async () => {
    const question = { kind: 'query', query: aQuery } as const;
    const calls = callsAtOnce({ signal: neverAborted, wallMs: 0 });
    const { source } = aRestSource(async () => notFound);

    for await (const one of source.poll(() => [question], calls, neverAborted)) {
      expect(one).toMatchObject({
        question,
        outcome: { reading: undefined, error: { reason: 'client' } },
      });
    }
    expect.assertions(1);
  });
});

describe('an abort of a poll', () => {
  const aborting =
    (reason: Error) =>
    (stop: AbortController): never => {
      stop.abort(reason);
      throw anError('reset');
    };

  it.each<[string, Answer, readonly string[], ApiError]>([
    ['for that reason', 1, ['11', '12'], deadline],
    [
      'but for the first reason if it had failed before',
      broken,
      ['application', '11', '12'],
      broken,
    ],
  ])('by a deadline fails what has not arrived, %s', async (_, app, failed, error) => {
    const { outcome } = await poll({}, { app, 11: aborting(deadline) });

    expect(outcome).toMatchObject({ failed: new Set(failed), error });
  });

  it('for another reason yields nothing', async () => {
    expect((await poll({}, { 11: aborting(new Error('taken out')) })).outcome).toBeUndefined();
  });
});

describe('the host names of a poll', () => {
  const names = new Map([['11', 'web-1']]);
  const fault = new TypeError('x is not a function');

  it.each<[string, Answer, object]>([
    [
      'all of them',
      namesOf({ 11: 'web-1' }),
      { hostNames: names, hostNamesError: undefined, extraCalls: 1 },
    ],
    [
      'none, if nothing came but a failure',
      broken,
      { hostNames: undefined, hostNamesError: broken, extraCalls: 1 },
    ],
    [
      'an empty list, if that was the answer',
      namesOf({}),
      { hostNames: new Map(), hostNamesError: undefined },
    ],
    [
      'none, by a fault of this program',
      fault,
      { hostNames: undefined, hostNamesError: { reason: 'client' } },
    ],
  ])('are %s, which fails nothing, and come with the values', async (_, answer, is) => {
    const { outcome, asked, sizes } = await poll({ askHostNames: true }, { names: answer });

    expect([asked, sizes]).toEqual([['names', 'app', '11', '12'], [4]]);
    expect(outcome).toMatchObject({ ...is, failed: new Set(), error: undefined });
  });

  const known = { hostNames: new Map([['12', 'web-2']]) };
  const others = { names: namesOf({ 11: 'db-1' }) };
  const alone = { entry: { ...byName, application: false }, askHostNames: true };
  it.each<[string, Parameters<typeof poll>, readonly string[], readonly number[], object]>([
    [
      'come first, and only those are asked for',
      [named],
      ['names', 'app', '11'],
      [1, 2],
      { hostNames: names, partCount: 2 },
    ],
    [
      'choose together with those that are known',
      [{ ...named, ...known }],
      ['names', 'app', '11', '12'],
      [1, 3],
      {},
    ],
    [
      'choose hosts that no list has yet',
      [{ entry: self, askHostNames: true, ...known }, {}, ['12']],
      ['names', 'app', '12', '11'],
      [1, 3],
      {},
    ],
    [
      'end the poll if nothing else is asked for, and none is chosen',
      [alone, others],
      ['names'],
      [1],
      { reading: undefined, partCount: 0 },
    ],
    [
      'make the application gone if they are not found, and only hosts are polled',
      [alone, { names: notFound }],
      ['names'],
      [1],
      { gone: true },
    ],
  ])('that choose hosts %s', async (_, asking, calls, stages, is) => {
    const { asked, sizes, outcome } = await poll(...asking);

    expect([asked, sizes]).toEqual([calls, stages]);
    expect(outcome).toMatchObject({ failed: new Set(), ...is });
  });

  it('that are not found leave it to the application itself whether it is gone', async () => {
    expect((await poll(named, { names: notFound })).outcome?.gone).toBe(false);
  });

  const late = (headers?: ApiResponse['headers']) => (stop: AbortController) => {
    stop.abort(deadline);
    return namesOf({ 11: 'web-1' }, headers);
  };
  it.each([
    ['are not taken', {}, late(), { hostNames: undefined, extraCalls: 0 }, ['11', '12']],
    [
      'are taken if hosts are chosen by them',
      byName,
      late(nextPage(2)),
      { hostNames: names, hostNamesError: deadline, extraCalls: 2 },
      ['hosts', '11'],
    ],
    [
      'are taken if hosts are chosen by them, and are whole',
      byName,
      late(),
      { hostNames: names, hostNamesError: undefined },
      ['11'],
    ],
  ])('that come after the deadline %s', async (_, entry, answer, is, failed) => {
    const { asked, outcome } = await poll({ entry, askHostNames: true }, { names: answer });

    expect(asked).toEqual(['names']);
    expect(outcome).toMatchObject({
      ...is,
      failed: new Set(['application', ...failed]),
      error: deadline,
    });
  });
});
