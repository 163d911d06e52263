import { setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason } from '../../../src/model/api-error.ts';
import { applicationScope, type PollOutcome } from '../../../src/model/poll-outcome.ts';
import { seriesOf } from '../../../src/model/polled-series.ts';
import type { ApplicationQuestion, HostNames, PollCalls } from '../../../src/model/source.ts';
import { windowAt } from '../../../src/model/window.ts';
import type { RestClient } from '../../../src/newrelic/rest/poll.ts';
import { createRestSource } from '../../../src/newrelic/rest/rest-source.ts';
import { aQuery, aSelected } from '../../support/builders.ts';
import { callsAtOnce } from '../../support/calls-at-once.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createFakeSource, type FakeSource, unobserved, webOf } from '../../support/fake-source.ts';
import { aQuestion } from './metric-vendor.ts';

function anError(reason: FailureReason, status?: number): ApiError {
  return new ApiError(reason, `it was ${reason}`, status === undefined ? {} : { status });
}

const deadline = anError('timeout');
const hostIds = ['11', '12'];
const names = new Map([['11', 'web-1']]);
const byName = { hosts: { kind: 'match', pattern: /^web/u, exclude: undefined } } as const;
const self = { kind: 'self', names: ['web-1', 'web-2'] } as const;

interface Bench {
  readonly fake: FakeSource;
  readonly stop: AbortController;
  /** How many calls each stage may have. */
  readonly sizes: readonly number[];
  /** Polls with each call after the one before; `undefined` if nothing is yielded. */
  readonly poll: (
    question: ApplicationQuestion,
    client?: Partial<RestClient>,
  ) => Promise<PollOutcome | undefined>;
}

/** A vendor that answers for application 1 and its hosts. */
function aBench(): Bench {
  const clock = createFakeClock();
  const fake = createFakeSource(clock);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  for (const subject of ['1', '1/11', '1/12']) fake.answer(subject, webOf(1));
  fake.names('1', names);
  const sizes: number[] = [];
  const context = { signal: stop.signal, wallMs: clock.wallMs() };
  const calls: PollCalls = {
    run: async (size, stage) => {
      sizes.push(size());
      for (let next = stage.next(); next.done !== true; next = stage.next()) {
        await next.value(context);
        if (stop.signal.aborted) break;
      }
    },
  };
  const poll: Bench['poll'] = async (question, changes) => {
    const client = { ...fake.client, ...changes };
    const source = createRestSource('main', { client, clock, ...unobserved });
    for await (const one of source.poll(() => [question], calls, stop.signal)) {
      if (one.kind === 'application') return one.outcome;
    }
    return undefined;
  };
  return { fake, stop, sizes, poll };
}

describe('a poll by the REST API', () => {
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
    const { poll } = aBench();
    const question = aQuestion(aSelected({ hostIds }, { series: seriesOf(long, []) }));

    const outcome = await poll(question, {
      metrics: async (_id, hostId, { series }) => {
        const isFirst = series[0]?.metric.startsWith('a') === true;
        if (hostId === '12' && !isFirst) throw anError('server', 500);
        return { values: [isFirst ? 3 : 4], windowEndMs: undefined };
      },
    });

    const { window, delayMs } = question.selected.entry.poll;
    const asked = windowAt(createFakeClock().wallMs(), window, delayMs);
    expect(outcome?.reading).toMatchObject({ application: [3, 4], windowEndMs: asked?.toMs });
    expect([...(outcome?.reading?.hosts ?? [])]).toEqual([['11', [3, 4]]]);
    expect(outcome).toMatchObject({ failed: new Set(['12']), partCount: 3 });
  });

  it('has no failures when the application answers 404, only that it is gone', async () => {
    const { fake, poll } = aBench();
    fake.answer('1', anError('not_found', 404));

    const outcome = await poll(aQuestion(aSelected({ hostIds })));

    expect(fake.calls).toEqual(['app 1']);
    expect(outcome).toMatchObject({ gone: true, error: undefined, failed: new Set() });
  });

  it.each([
    { what: 'answers 404', answer: anError('not_found', 404), listed: [true, true], calls: 3 },
    { what: 'is no longer listed', answer: webOf(1), listed: [false, false], calls: 2 },
    { what: 'is taken off the list meanwhile', answer: webOf(1), listed: [true, false], calls: 3 },
    { what: 'is listed again meanwhile', answer: webOf(1), listed: [false, true], calls: 2 },
  ])('has neither values nor a failure of a host that $what', async ({ answer, listed, calls }) => {
    const { fake, poll } = aBench();
    fake.answer('1/11', answer);
    const isListed = (hostId: string): boolean =>
      hostId !== '11' || listed[fake.calls.includes('host 1/12') ? 1 : 0] === true;

    const outcome = await poll(aQuestion(aSelected({ hostIds }), { isListed }));

    expect(fake.calls).toHaveLength(calls);
    expect(outcome).toMatchObject({ error: undefined, failed: new Set(), partCount: 3 });
    expect([...(outcome?.reading?.hosts.keys() ?? [])]).toEqual(['12']);
  });

  it.each([
    { what: 'the vendor refuses the key', error: anError('auth', 401), final: true },
    { what: 'it refuses this alone', error: anError('auth', 403), final: false },
    { what: 'it fails', error: anError('server', 500), final: false },
  ])('ends: $final, when $what', async ({ error, final }) => {
    const [values, named] = [aBench(), aBench()];
    values.fake.answer('1', error);
    named.fake.names('1', error);

    const outcome = await values.poll(aQuestion(aSelected({ hostIds })));
    const byNames = await named.poll(
      aQuestion(aSelected({ hostIds }, byName), { askHostNames: true }),
    );

    expect(values.fake.calls).toHaveLength(final ? 1 : 3);
    expect(named.fake.calls).toHaveLength(final ? 1 : 2);
    expect([outcome?.unauthorized, byNames?.unauthorized]).toEqual([final, final]);
    expect([outcome?.error, byNames?.error]).toEqual([error, error]);
    expect(outcome?.failed).toEqual(new Set(final ? ['application', ...hostIds] : ['application']));
    expect(byNames?.failed).toEqual(new Set(final ? ['application', 'hosts'] : ['hosts']));
  });

  const unanswered = ['dns', 'connect', 'tls', 'timeout', 'throttled'] as const;
  const many = Array.from({ length: 14 }, (_, index) => `${index + 10}`);

  it.each([
    ...unanswered.map((reason) => ({ what: reason, twelfth: anError(reason), calls: 12 })),
    { what: 'timeout, but an answer came in between', twelfth: webOf(1), calls: 15 },
    { what: 'timeout, but an error of the vendor', twelfth: anError('server', 500), calls: 15 },
  ])('ends after a dozen calls in a row with $what', async ({ what, twelfth, calls }) => {
    const { fake, poll } = aBench();
    const error = anError(unanswered.find((reason) => what.startsWith(reason)) ?? 'reset');
    for (const id of ['1', ...many.map((host) => `1/${host}`)]) fake.answer(id, error);
    fake.answer(`1/${many[10]}`, twelfth);

    const outcome = await poll(aQuestion(aSelected({ hostIds: many })));

    expect(fake.calls).toHaveLength(calls);
    expect(outcome).toMatchObject({ error, partCount: 15 });
    expect(outcome?.failed.size).toBe(twelfth instanceof ApiError ? 15 : 14);
  });

  it('tries nothing if the vendor refuses the key, although an answer may not be whole', async () => {
    const { fake, poll } = aBench();
    const series = seriesOf(['throughput', 'apdex'], ['web']);
    fake.answer('1', [1, undefined]);
    fake.answer('1/11', anError('auth', 401));

    await poll(aQuestion(aSelected({ hostIds: ['11'] }, { series })));

    expect(fake.calls).toEqual(['app 1', 'host 1/11']);
  });

  it("has the earliest end of the windows, if those are the vendor's own", async () => {
    const { fake, poll } = aBench();
    const own = { poll: { window: { kind: 'vendor_default' } } } as const;
    fake.answer('1', webOf(1), 120_000);
    fake.answer('1/11', webOf(1), 60_000);
    fake.answer('1/12', webOf(1));

    const outcome = await poll(aQuestion(aSelected({ hostIds }, own)));

    expect(outcome?.reading?.windowEndMs).toBe(60_000);
  });

  it('reports an error that does not come from the vendor as one of this program, and goes on', async () => {
    const fault = new TypeError('x is not a function');
    const { fake, poll } = aBench();

    const outcome = await poll(aQuestion(aSelected({ hostIds })), {
      metrics: async (id, hostId, ...asked) =>
        hostId === undefined ? Promise.reject(fault) : fake.client.metrics(id, hostId, ...asked),
    });

    expect(outcome).toMatchObject({ failed: new Set([applicationScope]) });
    expect(outcome?.error).toMatchObject({ reason: 'client', cause: fault });
    expect([...(outcome?.reading?.hosts.keys() ?? [])]).toEqual(hostIds);
  });

  it('of a query fails: this API has none', async () => {
    const question = { kind: 'query', query: aQuery } as const;
    const { signal } = new AbortController();
    const calls = callsAtOnce({ signal, wallMs: 0 });
    const found = [];

    for await (const one of createFakeSource().poll(() => [question], calls, signal)) {
      found.push(one);
    }

    expect(found).toMatchObject([
      { kind: 'query', question, outcome: { reading: undefined, error: { reason: 'client' } } },
    ]);
  });
});

describe('an abort of a poll', () => {
  const question = aQuestion(aSelected({ hostIds }));

  /** Aborts it with the call for this subject, which then fails. */
  function abortedBy(bench: Bench, subject: string, reason: Error): Partial<RestClient> {
    return {
      metrics: async (id, hostId, ...asked) => {
        if (subject === (hostId ?? id)) {
          bench.stop.abort(reason);
          throw anError('reset');
        }
        return bench.fake.client.metrics(id, hostId, ...asked);
      },
    };
  }

  it.each([
    { what: 'for that reason', before: webOf(1), failed: hostIds, reason: 'timeout' },
    {
      what: 'but for the first reason if it had failed before',
      before: anError('server', 500),
      failed: [applicationScope, ...hostIds],
      reason: 'server',
    },
  ])('by a deadline fails what has not arrived, $what', async ({ before, failed, reason }) => {
    const bench = aBench();
    bench.fake.answer('1', before);

    const outcome = await bench.poll(question, abortedBy(bench, '11', deadline));

    expect(outcome).toMatchObject({ failed: new Set(failed), error: { reason } });
  });

  it('for another reason yields nothing', async () => {
    const bench = aBench();

    const outcome = await bench.poll(question, abortedBy(bench, '11', new Error('taken out')));

    expect(outcome).toBeUndefined();
  });
});

describe('the host names of a poll', () => {
  const error = anError('timeout');
  const none = new Map<string, string>();

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
      came: { names: none, error, calls: 1 },
      expected: { hostNames: undefined, hostNamesError: error, extraCalls: 1 },
    },
    {
      what: 'an empty list, if that was the answer',
      came: { names: none, error: undefined, calls: 1 },
      expected: { hostNames: none, hostNamesError: undefined, extraCalls: 1 },
    },
    {
      what: 'none, for the reason that the call rejected with',
      came: error,
      expected: { hostNames: undefined, hostNamesError: error, extraCalls: 0 },
    },
  ])('are $what, which fails nothing', async ({ came, expected }) => {
    const { poll } = aBench();

    const outcome = await poll(aQuestion(aSelected({ hostIds }), { askHostNames: true }), {
      hostNames: async () => (came instanceof ApiError ? Promise.reject(came) : came),
    });

    expect(outcome).toMatchObject({ ...expected, failed: new Set(), error: undefined });
  });

  it('come first if hosts are chosen by them, and only those are asked for', async () => {
    const { fake, sizes, poll } = aBench();

    const outcome = await poll(aQuestion(aSelected({ hostIds }, byName), { askHostNames: true }));

    expect(fake.calls).toEqual(['names 1', 'app 1', 'host 1/11']);
    expect(sizes).toEqual([1, 2]);
    expect(outcome).toMatchObject({ hostNames: names, failed: new Set(), partCount: 2 });
  });

  it('come with the values if hosts are not chosen by them', async () => {
    const { fake, sizes, poll } = aBench();

    await poll(aQuestion(aSelected({ hostIds }), { askHostNames: true }));

    expect(fake.calls).toEqual(['names 1', 'app 1', 'host 1/11', 'host 1/12']);
    expect(sizes).toEqual([4]);
  });

  it.each([
    { what: 'those that are known', hosts: byName.hosts, listed: hostIds },
    { what: 'that of a host which no list has yet', hosts: self, listed: ['12'] },
  ])('choose hosts together with $what', async ({ hosts, listed }) => {
    const { fake, poll } = aBench();
    const question = aQuestion(aSelected({ hostIds: listed }, { hosts }), {
      askHostNames: true,
      hostNames: new Map([['12', 'web-2']]),
    });

    const outcome = await poll(question);

    expect(fake.calls.slice(1).toSorted()).toEqual(['app 1', 'host 1/11', 'host 1/12']);
    expect(outcome?.failed).toEqual(new Set());
  });

  it('end the poll if nothing else is asked for, and none is chosen', async () => {
    const { fake, sizes, poll } = aBench();
    fake.names('1', new Map([['11', 'db-1']]));
    const selected = aSelected({ hostIds }, { ...byName, application: false });

    const outcome = await poll(aQuestion(selected, { askHostNames: true }));

    expect(fake.calls).toEqual(['names 1']);
    expect(sizes).toEqual([1]);
    expect(outcome).toMatchObject({ reading: undefined, failed: new Set(), partCount: 0 });
  });

  it.each([
    { what: 'gone if only its hosts are polled', application: false, gone: true },
    { what: 'what its own answer says', application: true, gone: false },
  ])('make the application $what, if they are not found', async ({ application, gone }) => {
    const { fake, poll } = aBench();
    fake.names('1', anError('not_found', 404));
    const selected = aSelected({ hostIds }, { ...byName, application });

    const outcome = await poll(aQuestion(selected, { askHostNames: true }));

    expect(outcome?.gone).toBe(gone);
  });

  const late: HostNames = { names, error: deadline, calls: 1 };
  const whole: HostNames = { names, error: undefined, calls: 1 };

  it.each([
    {
      what: 'are not taken',
      came: late,
      entry: {},
      expected: { hostNames: undefined, hostNamesError: undefined, extraCalls: 0 },
      failed: [applicationScope, '11', '12'],
    },
    {
      what: 'are taken if hosts are chosen by them',
      came: late,
      entry: byName,
      expected: { hostNames: names, hostNamesError: deadline, extraCalls: 1 },
      failed: [applicationScope, 'hosts', '11'],
    },
    {
      what: 'are taken if hosts are chosen by them, and are whole',
      came: whole,
      entry: byName,
      expected: { hostNames: names, hostNamesError: undefined, extraCalls: 1 },
      failed: [applicationScope, '11'],
    },
  ])('that come after the deadline $what', async ({ came, entry, expected, failed }) => {
    const { fake, stop, poll } = aBench();

    const outcome = await poll(aQuestion(aSelected({ hostIds }, entry), { askHostNames: true }), {
      hostNames: async () => {
        stop.abort(deadline);
        return came;
      },
    });

    expect(fake.calls).toEqual([]);
    expect(outcome).toMatchObject({ ...expected, failed: new Set(failed), error: deadline });
  });
});
