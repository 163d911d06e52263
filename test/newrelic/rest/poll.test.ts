import { setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason } from '../../../src/model/api-error.ts';
import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import { seriesOf } from '../../../src/model/polled-series.ts';
import type { Polled } from '../../../src/model/source.ts';
import { minuteMs } from '../../../src/model/time.ts';
import type { ApiResponse, Transport } from '../../../src/newrelic/calls/transport.ts';
import { aMetric, aQuery, aQuestion, aSelected } from '../../support/builders.ts';
import { aJob, callsAtOnce } from '../../support/calls-at-once.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { neverAborted } from '../calls/fakes.ts';
import { aRestSource, notFound } from './a-rest-source.ts';

function anError(reason: FailureReason, status?: number): ApiError {
  return new ApiError(reason, `it was ${reason}`, status === undefined ? {} : { status });
}

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
  readonly targets: readonly string[];
  readonly hosts: readonly string[];
}

interface Asking {
  readonly entry?: Parameters<typeof aSelected>[1];
  /** A poll before, of the host 12 alone. */
  readonly before?: Answers;
}

const windowsAtMs = Date.UTC(2026, 8, 1, 10, 0, 30);

function subjectOf(target: string): string {
  const [, host] = /\/hosts\/(\d+)/u.exec(target) ?? [];
  return target.includes('/hosts.json') ? 'names' : (host ?? 'app');
}

function answered(answer: Answer, stop: AbortController): ApiResponse {
  if (answer instanceof Error) throw answer;
  if (typeof answer === 'function') return answer(stop);
  return typeof answer === 'number' ? valuesOf(answer) : answer;
}

async function outcomeOf(outcomes: AsyncIterable<Polled>): Promise<PollOutcome | undefined> {
  let outcome: PollOutcome | undefined;
  for await (const one of outcomes) if (one.kind === 'application') ({ outcome } = one);
  return outcome;
}

/** Polls application 1. */
async function poll(
  { entry, before }: Asking = {},
  answers: Answers = {},
  listed: readonly string[] = ['11', '12'],
): Promise<Poll> {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const [asked, targets]: [string[], string[]] = [[], []];
  let current = before ?? answers;
  const send: Transport = async ({ target }) => {
    stop.signal.throwIfAborted();
    const subject = subjectOf(target);
    asked.push(subject);
    targets.push(decodeURIComponent(target));
    const answer = current[subject] ?? (subject === 'names' ? namesOf({ 11: 'web-1' }) : 1);
    return answered(answer, stop);
  };
  // Each call after the one before.
  const { source } = aRestSource(send, { calls: callsAtOnce({ concurrency: 1 }) });
  const options = { job: aJob, signal: stop.signal, windowsAtMs };
  let outcome: PollOutcome | undefined;
  const lists = before === undefined ? [listed] : [['12'], listed];
  for (const hostIds of lists) {
    if (hostIds === listed) current = answers;
    for (const one of [asked, targets]) one.length = 0;
    const wanted = aQuestion(aSelected({ hostIds }, entry));
    outcome = await outcomeOf(source.poll(() => [wanted], options));
  }
  return { outcome, ...partsOf(outcome), asked: asked.join(' '), targets };
}

function partsOf(outcome: PollOutcome | undefined): Pick<Poll, 'hosts' | 'failed'> {
  const hosts = [...(outcome?.reading?.hosts.keys() ?? [])];
  return { hosts, failed: [...(outcome?.failed ?? [])].join(' ') };
}

const byName = { hosts: { kind: 'match', pattern: /^web/u, exclude: undefined } } as const;
const self = { hosts: { kind: 'self', names: ['web-1', 'web-2'] } } as const;
const named = { entry: byName } as const;

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

  it('asks for the window of the time at which names that came first have arrived', async () => {
    const clock = createFakeClock();
    const targets: string[] = [];
    const send: Transport = async ({ target }) => {
      if (subjectOf(target) !== 'names') {
        targets.push(decodeURIComponent(target));
        return valuesOf(1);
      }
      await clock.advance(9 * minuteMs);
      return namesOf({ 11: 'web-1' });
    };
    const { source } = aRestSource(send, { clock });
    const asked = aQuestion(aSelected({ hostIds: ['11'] }, byName));

    await outcomeOf(source.poll(() => [asked], { job: aJob, signal: neverAborted }));

    expect(targets).toHaveLength(2);
    // Nine minutes after ten, less the delay.
    for (const target of targets) expect(target).toContain('to=2026-09-01T10:06:00Z');
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

  it('has neither values nor a failure of a host that answers 404', async () => {
    const { asked, failed, outcome, hosts } = await poll({}, { 11: notFound });

    expect([asked, failed, hosts]).toEqual(['app 11 12', '', ['12']]);
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
    const options = { job: aJob, signal: neverAborted };
    const { source } = aRestSource(async () => notFound);
    const found: Polled[] = [];
    for await (const one of source.poll(() => [question], options)) found.push(one);

    expect(found).toMatchObject([{ question, outcome: { error: { reason: 'client' } } }]);
  });
});

describe('an abort of a poll', () => {
  const aborting = (reason: Error) => (stop: AbortController) => {
    stop.abort(reason);
    throw anError('reset');
  };

  it('yields nothing', async () => {
    expect((await poll({}, { 11: aborting(new Error('taken out')) })).outcome).toBeUndefined();
  });
});

describe('the host names of a poll', () => {
  const names = new Map([['11', 'web-1']]);
  const asking = { entry: { poll: { hostNames: true } } } as const;

  it.each<[string, Answer, ReadonlyMap<string, string>]>([
    ['all that are listed', namesOf({ 11: 'web-1', 13: 'web-3' }), names],
    ['none, if that was the answer', namesOf({}), new Map()],
    ['none, if nothing came but a failure', broken, new Map()],
    ['none, by a fault', new TypeError('x is not a function'), new Map()],
  ])('are %s, which fails nothing, and come with the values', async (_, answer, hosts) => {
    const { outcome, asked, failed } = await poll(asking, { names: answer });

    expect([asked, failed]).toEqual(['names app 11 12', '']);
    expect(outcome).toMatchObject({ hosts, error: undefined });
  });

  it.each<[string, boolean, ReadonlyMap<string, string>]>([
    ['by their names', true, new Map([...names, ['12', 'web-2']])],
    ['all', false, new Map([...names, ['12', 'web-2']])],
  ])('stay if a list leaves them out, of hosts that are chosen %s', async (_, isByName, hosts) => {
    const entry = isByName ? byName : asking.entry;
    const before = { names: namesOf({ 12: 'web-2' }) };
    const { outcome, asked } = await poll({ entry, before });

    expect(asked).toBe('names app 11 12');
    expect(outcome).toMatchObject({ hosts });
    expect(outcome?.reading?.hosts.size).toBe(2);
  });

  const others = { names: namesOf({ 11: 'db-1' }) };
  const alone = { entry: { ...byName, application: false } };
  const added = { hostIds: ['12', '11'], hosts: names };
  it.each<[string, Parameters<typeof poll>, string, object]>([
    ['come first; only those are asked for', [named], 'names app 11', { hosts: names }],
    ['choose what no list has yet', [{ entry: self }, {}, ['12']], 'names app 11', added],
    ['may choose none', [alone, others], 'names', { reading: undefined, partCount: 0 }],
    ['may be gone with all', [alone, { names: notFound }], 'names', { gone: true }],
    ['are not asked for again', [{ entry: byName, before: {} }, {}, ['12']], 'app', {}],
  ])('that choose hosts %s', async (_, asked, calls, is) => {
    const polled = await poll(...asked);

    expect(polled.asked).toBe(calls);
    expect(polled.outcome).toMatchObject(is);
  });
});
