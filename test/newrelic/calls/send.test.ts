import { getEventListeners } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiError, type FailureReason } from '../../../src/model/api-error.ts';
import { settle } from '../../support/fake-clock.ts';
import { anAnswer, held, type Step, scripted } from './fakes.ts';
import { aSendBench, type SendBench } from './send-bench.ts';

const never = async (): Promise<never> => new Promise(() => undefined);
const soon = { 'retry-after': '0' };

/** Everything that happens to one request, in order. @param saying the statuses that answers should have had */
async function eventsOf(steps: readonly Step[], saying: readonly number[] = []): Promise<string[]> {
  const events: string[] = [];
  const note = (text: string): void => void events.push(text);
  const [wire, said] = [scripted(...steps), [...saying]];
  const bench: SendBench = aSendBench(
    async (request, signal) => {
      note(`wire ${bench.headers.at(-1)?.['Api-Key']}`);
      return wire.send(request, signal);
    },
    {
      isDebugging: true,
      statusOf: ({ status }) => {
        note('status');
        return said.shift() ?? status;
      },
      reload: async (read) => {
        note('key read');
        return read();
      },
    },
  );
  const take = bench.calls.take.bind(bench.calls);
  bench.calls.take = async (...asked) => {
    const permit = await take(...asked);
    note(`permit at ${bench.clock.monotonicMs()}`);
    return {
      ...permit,
      throttled: (answer) => {
        note('pause');
        permit.throttled(answer);
      },
      release: (how) => {
        note(`permit back ${how}`);
        permit.release(how);
      },
    };
  };
  Object.assign(bench.observer, {
    started: () => note('measure'),
    ended: (_operation: string, code: string) => note(`measured ${code}`),
  });
  Object.assign(bench.logger, { debug: () => note('log') });
  bench.keyProvider.rotate('key-2');
  const outcome = bench.outcomeOf({ mayRetry: false });
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
  'permit back answered',
];
const retried = [
  ...sent('key-1'),
  ...answered(429),
  ...sent('key-1', 1000),
  ...answered(200),
  '200',
];
const cutOff: unknown = expect.stringMatching(/^ApiError: api\.newrelic\.com: no complete answer/u);

describe('send', () => {
  it.each<[string, readonly Step[], readonly unknown[], (readonly number[])?]>([
    ['an answer', [anAnswer()], [...sent('key-1'), ...answered(200), '200']],
    ['a retry, of which everything is done again', [anAnswer(429, soon), anAnswer()], retried],
    [
      'a 429 in a 200, which is one for all',
      [anAnswer(200, soon), anAnswer()],
      retried,
      [429, 200],
    ],
    [
      'another key, read when the first request has ended',
      [anAnswer(401), anAnswer()],
      [...sent('key-1'), ...answered(401), 'key read', ...sent('key-2'), ...answered(200), '200'],
    ],
    [
      'no answer in time',
      [never],
      [...sent('key-1'), 'log', 'measured timeout', 'permit back failed', cutOff],
    ],
  ])('does all it has to do in one order: %s', async (_, steps, events, saying) => {
    expect(await eventsOf(steps, saying)).toEqual(events);
  });

  it.each([
    ['without an answer', new ApiError('client', 'broken'), 'failed'],
    ['with a bad one', new ApiError('too_large', 'broken', { status: 200 }), 'answered'],
    ['as the caller wanted', new Error('stopping'), 'aborted'],
  ])('gives the permit back once when the request fails %s', async (_, failure, how) => {
    const given = (await eventsOf([failure])).filter((event) => event.startsWith('permit back'));

    expect(given).toEqual([`permit back ${how}`]);
  });

  it('has never more requests in flight than allowed, and says how many', async () => {
    const wire = held();
    const { calls: account, clock, send } = aSendBench(wire.send, { account: { concurrency: 3 } });
    const calls = Array.from({ length: 7 }, async () => send());
    const inFlight: number[] = [];
    for (const _ of calls) {
      await clock.advance(0);
      inFlight.push(account.requestsInFlight());
      wire.answer();
    }
    await Promise.all(calls);

    expect(inFlight).toEqual([3, 3, 3, 3, 3, 2, 1]);
    expect([account.requestsInFlight(), wire.requests.length]).toEqual([0, 7]);
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
    expect(await outcomeOf({}, controller.signal)).toBe(reason);
    await clock.advance(0);
    expect([wire.requests.length, clock.pendingTimers()]).toEqual([1, 0]);
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

    await clock.advance(0);
    expect([wire.requests.length, clock.pendingTimers()]).toEqual([2000, 0]);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(warnings).toEqual([]);
  });
});

describe('the deadline of a request', () => {
  const raise = "raise the account's timeout or look";
  it.each([
    [undefined, 30_000, raise],
    [10_000, 10_000, 'if this lasts, look for a slow proxy'],
    [60_000, 30_000, raise],
  ])('is the shorter limit when it wants %s ms, and tells the wire', async (...row) => {
    const [timeoutMs, endsAfterMs, says] = row;
    const signals: AbortSignal[] = [];
    const bench = aSendBench(async (_request, signal) => {
      signals.push(signal);
      return never();
    });
    const { signal } = new AbortController();
    const wanted = timeoutMs === undefined ? {} : { timeoutMs };
    const outcome = bench.outcomeOf({ ...wanted, mayRetry: false }, signal);

    await bench.clock.advance(endsAfterMs - 1);
    const before = signals.map(({ aborted }) => aborted);
    await bench.clock.advance(1);

    expect(before).toEqual([false]);
    const message: unknown = expect.stringContaining(says);
    expect(await outcome).toMatchObject({ reason: 'timeout', message });
    expect(signals.map(({ reason }) => reason as unknown)).toEqual([await outcome]);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('is one for each attempt', async () => {
    const bench = aSendBench(never);
    const outcome = bench.outcomeOf();
    await bench.clock.advance(120_000);

    expect(await outcome).toMatchObject({ reason: 'timeout' });
    const ended = bench.observer.events.filter((event) => event.startsWith('ended'));
    expect(ended).toEqual(Array(2).fill('ended host_metrics timeout 30'));
    expect(bench.clock.pendingTimers()).toBe(0);
  });
});

describe('the counters of requests', () => {
  it.each<[string, Step, FailureReason | undefined]>([
    ['204', anAnswer(204), undefined],
    ['302', anAnswer(302), 'redirect'],
    ['401', anAnswer(401), 'auth'],
    ['404', anAnswer(404), 'not_found'],
    ['422', anAnswer(422), 'client'],
    ['429', anAnswer(429), 'throttled'],
    ['503', anAnswer(503), 'server'],
    ['dns', new ApiError('dns', 'no such host'), 'dns'],
    ['200', new ApiError('not_json', 'compressed', { status: 200 }), 'not_json'],
    ['aborted', new Error('no'), undefined],
  ])('have one that ended with %s', async (code, step, reason) => {
    const bench = aSendBench(scripted(step).send);
    void bench.outcomeOf({ operation: 'list_hosts', mayRetry: false });
    await settle();

    expect(bench.observer.events).toEqual([
      'started list_hosts',
      ...(reason === undefined ? [] : [`failed list_hosts ${reason}`]),
      ...(code === '429' ? ['throttled'] : []),
      `ended list_hosts ${code} 0`,
    ]);
  });

  it('have every attempt, and why it is one', async () => {
    const wire = scripted(anAnswer(401), new ApiError('reset', 'no'), anAnswer());
    const bench = aSendBench(wire.send);
    bench.keyProvider.rotate('key-2');
    const outcome = bench.outcomeOf();
    await bench.clock.advance(10_000);

    expect([await outcome, ...bench.sentAtMs]).toEqual([200, 0, 0, 500]);
    const begun = bench.observer.events.filter((event) => /^(?:retried|started)/u.test(event));
    const again = ['auth', 'reset'].map((reason) => `retried host_metrics ${reason}`);
    expect(begun).toEqual(['', ...again].flatMap((one) => [one, 'started host_metrics']).slice(1));
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
