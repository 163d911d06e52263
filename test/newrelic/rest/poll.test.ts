import { setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason } from '../../../src/model/api-error.ts';
import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import { seriesOf } from '../../../src/model/polled-series.ts';
import type { ApplicationQuestion, PollCalls, Polled } from '../../../src/model/source.ts';
import type { ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import { aMetric, aQuery, aQuestion, aSelected } from '../../support/builders.ts';
import { callsAtOnce } from '../../support/calls-at-once.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { neverAborted } from '../calls/fakes.ts';
import { aRestSource, nextPage, notFound } from './a-rest-source.ts';

function anError(reason: FailureReason, status?: number): ApiError {
  return new ApiError(reason, `it was ${reason}`, status === undefined ? {} : { status });
}

const deadline = anError('timeout');
const refused = anError('auth', 401);
const forbidden = anError('auth', 403);
const broken = anError('server', 500);
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
  /** The subjects of the calls, such as `names app 11`. */
  readonly asked: string;
  /** What has failed, such as `application 11`. */
  readonly failed: string;
  /** How many calls each stage may have. */
  readonly sizes: readonly number[];
  readonly targets: readonly string[];
  readonly hosts: readonly string[];
}

type Asking = Partial<ApplicationQuestion> & { readonly entry?: Parameters<typeof aSelected>[1] };

/** Polls application 1 with each call after the one before. */
async function poll(
  { entry, ...overrides }: Asking = {},
  answers: Answers = {},
  listed: readonly string[] = ['11', '12'],
): Promise<Poll> {
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
  const hosts = [...(outcome?.reading?.hosts.keys() ?? [])];
  const failed = [...(outcome?.failed ?? [])].join(' ');
  return { outcome, asked: asked.join(' '), failed, sizes, targets, hosts };
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
    const subjects = ['1', '1/hosts/11', '1/hosts/12'];

    expect(targets).toEqual(subjects.map((subject) => `/v2/applications/${subject}/${query}`));
    expect(outcome?.reading).toMatchObject({ application: [1, undefined], windowEndMs: toMs });
  });

  it('has a part only when all calls for it have been answered', async () => {
    const series = seriesOf(
      ['a', 'b'].map((letter) => aMetric(letter.repeat(2000), { as: letter })),
      [],
    );
    let ofHost = 0;
    const second = (): ApiResponse => {
      ofHost += 1;
      return ofHost === 2 ? answerOf('', { status: 500 }) : valuesOf(1);
    };
    const { outcome, asked, failed, hosts } = await poll({ entry: { series } }, { 12: second });

    expect([asked, failed, hosts]).toEqual(['app app 11 11 12 12', '12', ['11']]);
    expect(outcome?.partCount).toBe(3);
  });

  it.each<[string, Answer, readonly boolean[], string]>([
    ['answers 404', notFound, [true, true], 'app 11 12'],
    ['is no longer listed', 1, [false, false], 'app 12'],
    ['is taken off the list meanwhile', 1, [true, false], 'app 11 12'],
    ['is listed again meanwhile', 1, [false, true], 'app 12'],
  ])('has neither values nor a failure of a host that %s', async (_, answer, listed, calls) => {
    let isLater = false;
    const last = (): ApiResponse => {
      isLater = true;
      return valuesOf(1);
    };
    const isListed = (id: string): boolean => id !== '11' || listed[Number(isLater)] === true;
    const { asked, failed, outcome, hosts } = await poll({ isListed }, { 11: answer, 12: last });

    expect([asked, failed, hosts]).toEqual([calls, '', ['12']]);
    expect(outcome).toMatchObject({ error: undefined, partCount: 3 });
  });

  it.each<[string, Asking, Answers, calls: string, fails: string, object?]>([
    ['an application that is gone', {}, { app: notFound }, 'app', '', { gone: true }],
    ['a refused key', {}, { app: refused }, 'app', 'application 11 12', { unauthorized: true }],
    [
      'a key refused to names',
      named,
      { names: refused },
      'names',
      'hosts application',
      { unauthorized: true },
    ],
    ['a refused application', {}, { app: forbidden }, 'app 11 12', 'application'],
    ['refused names', named, { names: forbidden }, 'names app', 'hosts'],
    ['a failure', {}, { app: broken }, 'app 11 12', 'application'],
    ['a failure of names', named, { names: broken }, 'names app', 'hosts'],
    ['names that are not found', named, { names: notFound }, 'names app', 'hosts'],
  ])('goes on as far as that may help, after %s', async (_, asking, answers, calls, fails, is) => {
    const { asked, failed, outcome } = await poll(asking, answers);
    const [answer] = Object.values(answers);
    const error = answer instanceof Error ? answer : outcome?.error;

    expect([asked, failed]).toEqual([calls, fails]);
    expect(outcome).toMatchObject({ error, unauthorized: false, gone: false, ...is });
  });

  const many = Array.from({ length: 14 }, (_, index) => `${index + 10}`);
  it.each<[FailureReason, calls: number, Answer?]>([
    ['dns', 12],
    ['connect', 12],
    ['tls', 12],
    ['timeout', 12],
    ['throttled', 12],
    ['reset', 15],
    ['timeout', 15, 1],
    ['timeout', 15, broken],
  ])('ends after a dozen calls in a row without an answer: %s, %d, %s', async (...row) => {
    const [reason, calls, other] = row;
    const error = anError(reason);
    const failing = Object.fromEntries(['app', ...many].map((subject) => [subject, error]));
    const { asked, outcome } = await poll({}, { ...failing, 20: other ?? error }, many);

    expect(asked.split(' ')).toHaveLength(calls);
    expect(outcome).toMatchObject({ error, partCount: 15 });
    expect(outcome?.failed.size).toBe(other === 1 ? 14 : 15);
  });

  it("has the earliest end of the windows, if those are the vendor's own", async () => {
    const entry = { poll: { window: { kind: 'vendor_default' } } } as const;
    const ends = [2, 1, 3].map((minute) => valuesOf(1, `2026-09-01T10:0${minute}:00Z`));
    const [app = 0, one = 0, other = 0] = ends;
    const { outcome, targets } = await poll({ entry }, { app, 11: one, 12: other });

    expect(outcome?.reading?.windowEndMs).toBe(Date.UTC(2026, 8, 1, 10, 1));
    expect(targets[0]).not.toMatch(/from|raw/u);
  });

  it('reports an error that does not come from the vendor as one of this program, and goes on', async () => {
    const cause = new TypeError('x is not a function');
    const { outcome, failed, hosts } = await poll({}, { app: cause });

    expect(outcome?.error).toMatchObject({ reason: 'client', cause });
    expect([failed, hosts]).toEqual(['application', ['11', '12']]);
  });

  it('of a query fails: this API has none', async () => {
    const question = { kind: 'query', query: aQuery } as const;
    const calls = callsAtOnce({ signal: neverAborted, wallMs: 0 });
    const { source } = aRestSource(async () => notFound);
    const found: Polled[] = [];
    for await (const one of source.poll(() => [question], calls, neverAborted)) found.push(one);

    expect(found).toMatchObject([{ question, outcome: { error: { reason: 'client' } } }]);
  });
});

describe('an abort of a poll', () => {
  const aborting = (reason: Error) => (stop: AbortController) => {
    stop.abort(reason);
    throw anError('reset');
  };

  it.each<[string, Answer, string, ApiError]>([
    ['for that reason', 1, '11 12', deadline],
    ['but for the first reason if it had failed before', broken, 'application 11 12', broken],
  ])('by a deadline fails what has not arrived, %s', async (_, app, fails, error) => {
    const { failed, outcome } = await poll({}, { app, 11: aborting(deadline) });

    expect([failed, outcome?.error]).toEqual([fails, error]);
  });

  it('for another reason yields nothing', async () => {
    expect((await poll({}, { 11: aborting(new Error('taken out')) })).outcome).toBeUndefined();
  });
});

describe('the host names of a poll', () => {
  const names = new Map([['11', 'web-1']]);
  const fault = new TypeError('x is not a function');
  const told = (hostNames: ReadonlyMap<string, string> | undefined, extraCalls = 1) => ({
    hostNames,
    hostNamesError: undefined,
    extraCalls,
  });

  it.each<[string, Answer, object]>([
    ['all of them', namesOf({ 11: 'web-1' }), told(names)],
    ['an empty list, if that was the answer', namesOf({}), told(new Map())],
    ['none, if nothing came but a failure', broken, { ...told(undefined), hostNamesError: broken }],
    ['none, by a fault', fault, { hostNames: undefined, hostNamesError: { reason: 'client' } }],
  ])('are %s, which fails nothing, and come with the values', async (_, answer, is) => {
    const { outcome, asked, failed, sizes } = await poll({ askHostNames: true }, { names: answer });

    expect([asked, failed, sizes]).toEqual(['names app 11 12', '', [4]]);
    expect(outcome).toMatchObject({ ...is, error: undefined });
  });

  const known = { hostNames: new Map([['12', 'web-2']]) };
  const others = { names: namesOf({ 11: 'db-1' }) };
  const alone = { entry: { ...byName, application: false }, askHostNames: true };
  const own = { entry: self, askHostNames: true, ...known };
  it.each<[string, Parameters<typeof poll>, string, readonly number[], object]>([
    ['come first; only those are asked for', [named], 'names app 11', [1, 2], told(names)],
    ['choose with those that are known', [{ ...named, ...known }], 'names app 11 12', [1, 3], {}],
    ['choose what no list has yet', [own, {}, ['12']], 'names app 12 11', [1, 3], {}],
    ['may choose none', [alone, others], 'names', [1], { reading: undefined, partCount: 0 }],
    ['may be gone with all', [alone, { names: notFound }], 'names', [1], { gone: true }],
  ])('that choose hosts %s', async (_, asking, calls, stages, is) => {
    const { asked, sizes, outcome } = await poll(...asking);

    expect([asked, sizes]).toEqual([calls, stages]);
    expect(outcome).toMatchObject(is);
  });

  const late = (headers?: ApiResponse['headers']) => (stop: AbortController) => {
    stop.abort(deadline);
    return namesOf({ 11: 'web-1' }, headers);
  };
  const cutOff = { ...told(names, 2), hostNamesError: deadline };
  it.each<[string, object, Answer, object, string]>([
    ['not taken', {}, late(), told(undefined, 0), 'application 11 12'],
    [
      'taken if hosts are chosen by them',
      byName,
      late(nextPage(2)),
      cutOff,
      'hosts application 11',
    ],
    [
      'taken if hosts are chosen by them, as a whole',
      byName,
      late(),
      told(names),
      'application 11',
    ],
  ])('that come after the deadline are %s', async (_, entry, answer, is, fails) => {
    const { asked, failed, outcome } = await poll({ entry, askHostNames: true }, { names: answer });

    expect([asked, failed]).toEqual(['names', fails]);
    expect(outcome).toMatchObject({ ...is, error: deadline });
  });
});
