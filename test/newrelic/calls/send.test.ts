import { getEventListeners } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import type { Turn } from '../../../src/model/permit.ts';
import type { ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import { settle } from '../../support/fake-clock.ts';
import { anAnswer, held, type Step, scripted } from './fakes.ts';
import { aSendBench, type SendBench, type SendBenchOptions } from './send-bench.ts';

const never = async (): Promise<never> => new Promise(() => undefined);
const soon = { 'retry-after': '0' };

/** Everything that happens to one request, in order. */
async function eventsOf(steps: readonly Step[], options: SendBenchOptions = {}): Promise<string[]> {
  const events: string[] = [];
  const wire = scripted(...steps);
  const bench: SendBench = aSendBench(
    async (request, signal) => {
      events.push(`wire ${bench.headers.at(-1)?.['Api-Key']}`);
      return wire.send(request, signal);
    },
    {
      ...options,
      isDebugging: true,
      statusOf: (answer) => {
        events.push('status');
        return options.statusOf?.(answer) ?? answer.status;
      },
      reload: async (read) => {
        events.push('key read');
        return read();
      },
    },
  );
  const turn: Turn = {
    next: async (delayMs, signal) => {
      const permit = await bench.calls.lists.next(delayMs, signal);
      events.push(`permit at ${bench.clock.monotonicMs()}`);
      return {
        ...permit,
        throttled: (answer) => {
          events.push('pause');
          permit.throttled(answer);
        },
        release: (isAnswered) => {
          events.push(`permit back ${isAnswered}`);
          permit.release(isAnswered);
        },
      };
    },
  };
  const note = (text: string): void => void events.push(text);
  Object.assign(bench.observer, {
    started: () => note('measure'),
    ended: (_operation: string, code: string) => note(`measured ${code}`),
  });
  Object.assign(bench.logger, { debug: () => note('log') });
  bench.keyProvider.rotate('key-2');
  const outcome = bench.outcomeOf({ turn, isRepeated: true });
  await bench.clock.advance(60_000);
  return [...events, String(await outcome)];
}

const sent = (key: string, atMs = 0): readonly string[] => [
  `permit at ${atMs}`,
  'measure',
  `wire ${key}`,
];
const answered = (status: number): readonly string[] => [
  'status',
  ...(status === 429 ? ['pause'] : []),
  'log',
  `measured ${status}`,
  'permit back true',
];

describe('send', () => {
  it.each<{
    what: string;
    steps: readonly Step[];
    saying?: readonly number[];
    events: readonly string[];
  }>([
    {
      what: 'an answer',
      steps: [anAnswer()],
      events: [...sent('key-1'), ...answered(200), '200'],
    },
    {
      what: 'a retry, of which everything is done again',
      steps: [anAnswer(429, soon), anAnswer()],
      events: [...sent('key-1'), ...answered(429), ...sent('key-1', 1000), ...answered(200), '200'],
    },
    {
      what: 'another key, read when the first request has ended',
      steps: [anAnswer(401), anAnswer()],
      events: [
        ...sent('key-1'),
        ...answered(401),
        'key read',
        ...sent('key-2'),
        ...answered(200),
        '200',
      ],
    },
    {
      what: 'a 429 in a 200, which is one for all from the pause to the retry',
      steps: [anAnswer(200, soon), anAnswer()],
      saying: [429, 200],
      events: [...sent('key-1'), ...answered(429), ...sent('key-1', 1000), ...answered(200), '200'],
    },
    {
      what: 'no answer in time',
      steps: [never],
      events: [
        ...sent('key-1'),
        'log',
        'measured timeout',
        'permit back false',
        expect.stringMatching(/^ApiError: api\.newrelic\.com: no complete answer/u) as string,
      ],
    },
  ])('does all it has to do in one order: $what', async ({ steps, saying = [], events }) => {
    const said = [...saying];
    const statusOf = ({ status }: ApiResponse): number => said.shift() ?? status;

    expect(await eventsOf(steps, { statusOf })).toEqual(events);
  });

  it('keeps the permit until the request has ended', async () => {
    const wire = held();
    const bench = aSendBench(wire.send, { account: { concurrency: 1 } });
    const calls = Promise.all([1, 2].map(async () => bench.outcomeOf()));
    await settle();
    const inFlight = wire.requests.length;
    wire.answer();
    await settle();
    wire.answer();

    expect(await calls).toEqual([200, 200]);
    expect(inFlight).toBe(1);
  });

  it.each([
    { what: 'without an answer', failure: new ApiError('client', 'broken'), isAnswered: false },
    {
      what: 'with a bad one',
      failure: new ApiError('too_large', 'broken', { status: 200 }),
      isAnswered: true,
    },
    { what: 'as the caller wanted', failure: new Error('stopping'), isAnswered: undefined },
  ])('gives the permit back once when the request fails $what', async ({ failure, isAnswered }) => {
    const events = await eventsOf([failure]);

    expect(events.filter((event) => event.startsWith('permit back'))).toEqual([
      `permit back ${isAnswered}`,
    ]);
  });

  it('has never more requests in flight than allowed, and says how many', async () => {
    const wire = held();
    const { calls: account, send } = aSendBench(wire.send, { account: { concurrency: 3 } });
    const calls = Array.from({ length: 7 }, async () => send());
    const inFlight: number[] = [];

    for (const _ of calls) {
      await settle();
      inFlight.push(account.requestsInFlight());
      wire.answer();
    }
    await Promise.all(calls);

    expect(inFlight).toEqual([3, 3, 3, 3, 3, 2, 1]);
    expect(account.requestsInFlight()).toBe(0);
  });

  it('ends all calls with the reason of their caller, and leaves no timer', async () => {
    const wire = held();
    const { clock, outcomeOf } = aSendBench(wire.send, { account: { concurrency: 1 } });
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const outcomes = Promise.all([1, 2, 3].map(async () => outcomeOf({}, controller.signal)));
    await settle();

    controller.abort(reason);

    expect(await outcomes).toEqual([reason, reason, reason]);
    expect(wire.requests).toHaveLength(1);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('sends nothing when the signal is aborted already', async () => {
    const wire = scripted();
    const reason = new Error('shutting down');

    expect(await aSendBench(wire.send).outcomeOf({}, AbortSignal.abort(reason))).toBe(reason);
    expect(wire.requests).toEqual([]);
  });

  it('leaves nothing at a signal that thousands of calls have shared, and warns of nothing', async () => {
    const warnings: string[] = [];
    const listener = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', listener);
    onTestFinished(() => void process.off('warning', listener));
    const wire = held();
    const account = { concurrency: 2000, requestsPerMinute: 2000 };
    const { clock, send } = aSendBench(wire.send, { account });
    const { signal } = new AbortController();

    const calls = Array.from({ length: 2000 }, async () => send({}, signal));
    await settle();
    wire.answerAll();
    await Promise.all(calls);

    expect(wire.requests).toHaveLength(2000);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(clock.pendingTimers()).toBe(0);
    expect(warnings).toEqual([]);
  });
});

describe('the deadline of a request', () => {
  it.each([
    { wanted: undefined, endsAfterMs: 30_000, says: "raise the account's timeout or look" },
    { wanted: 10_000, endsAfterMs: 10_000, says: 'if this lasts, look for a slow proxy' },
    { wanted: 60_000, endsAfterMs: 30_000, says: "raise the account's timeout or look" },
  ])('is the shorter limit when the request wants $wanted ms, and tells the wire', async (row) => {
    const signals: AbortSignal[] = [];
    const bench = aSendBench(async (_request, signal) => {
      signals.push(signal);
      return never();
    });
    const { signal } = new AbortController();
    const wanted = row.wanted === undefined ? {} : { timeoutMs: row.wanted };
    const outcome = bench.outcomeOf({ ...wanted, isOptional: true }, signal);

    await bench.clock.advance(row.endsAfterMs - 1);
    const before = signals.map(({ aborted }) => aborted);
    await bench.clock.advance(1);

    expect(before).toEqual([false]);
    expect(await outcome).toMatchObject({
      reason: 'timeout',
      message: expect.stringContaining(row.says) as string,
    });
    expect(signals.map(({ reason }) => reason as unknown)).toEqual([await outcome]);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('is one for each attempt', async () => {
    const bench = aSendBench(never);

    const outcome = bench.outcomeOf();
    await bench.clock.advance(120_000);

    expect(await outcome).toMatchObject({ reason: 'timeout' });
    expect(bench.observer.events.filter((event) => event.startsWith('ended'))).toEqual(
      Array.from({ length: 3 }, () => 'ended host_metrics timeout 30'),
    );
    expect(bench.clock.pendingTimers()).toBe(0);
  });
});

describe('the counters of requests', () => {
  const request = { operation: 'list_hosts', isOptional: true } as const;

  it.each<{ what: string; step: Step; events: readonly string[] }>([
    { what: '204', step: anAnswer(204), events: ['ended list_hosts 204 0'] },
    ...(
      [
        [302, 'redirect'],
        [401, 'auth'],
        [404, 'not_found'],
        [422, 'client'],
        [429, 'throttled'],
        [503, 'server'],
      ] as const
    ).map(([status, reason]) => ({
      what: `${status}`,
      step: anAnswer(status),
      events: [
        `failed list_hosts ${reason}`,
        ...(status === 429 ? ['throttled'] : []),
        `ended list_hosts ${status} 0`,
      ],
    })),
    {
      what: 'no answer',
      step: new ApiError('dns', 'no such host'),
      events: ['failed list_hosts dns', 'ended list_hosts dns 0'],
    },
    {
      what: 'a bad answer',
      step: new ApiError('not_json', 'compressed', { status: 200 }),
      events: ['failed list_hosts not_json', 'ended list_hosts 200 0'],
    },
    { what: 'an abort', step: new Error('no'), events: ['ended list_hosts aborted 0'] },
  ])('have one that ended with $what', async ({ step, events }) => {
    const bench = aSendBench(scripted(step).send);

    await bench.outcomeOf(request);

    expect(bench.observer.events).toEqual(['started list_hosts', ...events]);
  });

  it('have every attempt, and why it is one', async () => {
    const wire = scripted(new ApiError('reset', 'no'), anAnswer(401), anAnswer(503), anAnswer());
    const bench = aSendBench(wire.send);
    bench.keyProvider.rotate('key-2');

    const outcome = bench.outcomeOf();
    await bench.clock.advance(10_000);

    expect(await outcome).toBe(200);
    expect(bench.sentAtMs).toEqual([0, 500, 500, 1500]);
    expect(bench.observer.events.filter((event) => /^(?:retried|started)/u.test(event))).toEqual([
      'started host_metrics',
      ...['reset', 'auth', 'server'].flatMap((reason) => [
        `retried host_metrics ${reason}`,
        'started host_metrics',
      ]),
    ]);
  });

  it('take the time on the monotonic clock', async () => {
    const wire = held();
    const bench = aSendBench(wire.send);
    const call = bench.send();

    await bench.clock.advance(250);
    bench.clock.jumpWall(3_600_000);
    wire.answer();
    await call;

    expect(bench.observer.events.at(-1)).toBe('ended host_metrics 200 0.25');
  });
});
