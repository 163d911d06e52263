import type { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../src/model/api-error.ts';
import type { Operation } from '../../src/model/telemetry.ts';
import { type AnswerMemory, createAnswerMemory } from '../../src/transport/answer-memory.ts';
import { createAbortWatch } from '../../src/transport/deadline.ts';
import { ResponseCollector } from '../../src/transport/response-collector.ts';
import type { ApiResponse } from '../../src/transport/transport.ts';

type Controller = Dispatcher.DispatchController;

/** An exchange, the promise of its outcome, and what it asked of undici. */
function setUp(
  signal: AbortSignal = new AbortController().signal,
  operation: Operation = 'list_applications',
  memory: AnswerMemory = createAnswerMemory({ heapBytes: 0 }),
) {
  const abortWatch = createAbortWatch({ keepsListening: true });
  let exchange: ResponseCollector | undefined;
  const outcome = new Promise<ApiResponse>((resolve, reject) => {
    exchange = new ResponseCollector(
      { maxBytes: memory.maxBytesOf(operation), peer: 'api', signal, abortWatch, memory },
      { resolve, reject },
    );
  });
  if (exchange === undefined) throw new Error('a promise runs its executor at once');
  let aborts = 0;
  const controller = {
    abort: () => {
      aborts += 1;
    },
  } as unknown as Controller;
  return { exchange, outcome, controller, aborts: () => aborts };
}

const limitBytes = 65_536;

describe('ResponseCollector', () => {
  it.each([
    { what: 'an empty body', chunks: [], body: '' },
    { what: 'one chunk', chunks: ['{"a":1}'], body: '{"a":1}' },
    { what: 'a character cut in two', chunks: [[0xc3], [0xbc]], body: 'ü' },
    { what: 'a byte order mark', chunks: [[0xef, 0xbb, 0xbf], '{}'], body: '{}' },
  ])('gives $what as text', async ({ chunks, body }) => {
    const { exchange, outcome, controller } = setUp();

    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, { 'x-a': 'b' });
    for (const chunk of chunks) exchange.onResponseData(controller, Buffer.from(chunk as string));
    exchange.onResponseEnd();

    expect(await outcome).toEqual({ status: 200, headers: { 'x-a': 'b' }, body });
  });

  it('takes an informational answer for none', async () => {
    const { exchange, outcome, controller } = setUp();

    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 103, { link: 'a', 'content-encoding': 'gzip' });
    exchange.onResponseStart(controller, 200, { 'x-a': 'b' });
    exchange.onResponseData(controller, Buffer.from('{}'));
    exchange.onResponseEnd();

    expect(await outcome).toEqual({ status: 200, headers: { 'x-a': 'b' }, body: '{}' });
  });

  it.each([
    { sizes: [limitBytes - 1], bytes: limitBytes - 1, brokenOff: 0 },
    { sizes: [limitBytes], bytes: limitBytes, brokenOff: 1 },
    { sizes: [limitBytes - 1, 5], bytes: limitBytes, brokenOff: 1 },
    { sizes: [limitBytes + 5], bytes: limitBytes, brokenOff: 1 },
  ])('reads $bytes bytes of a failure that comes in chunks of $sizes', async (row) => {
    const { exchange, outcome, controller, aborts } = setUp();

    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 500, {});
    for (const size of row.sizes) exchange.onResponseData(controller, Buffer.alloc(size, 'x'));
    exchange.onResponseEnd();

    expect((await outcome).body).toHaveLength(row.bytes);
    expect(aborts()).toBe(row.brokenOff);
  });

  it('ends the body of a failure where the connection breaks', async () => {
    const { exchange, outcome, controller } = setUp();

    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 502, {});
    exchange.onResponseData(controller, Buffer.from('abc'));
    exchange.onResponseError(controller, new Error('the connection broke'));

    expect(await outcome).toEqual({ status: 502, headers: {}, body: 'abc' });
  });

  it('rejects when the connection breaks in the middle of an answer', async () => {
    const { exchange, outcome, controller } = setUp();

    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    exchange.onResponseData(controller, Buffer.from('abc'));
    exchange.onResponseError(controller, Object.assign(new Error('no'), { code: 'ECONNRESET' }));

    await expect(outcome).rejects.toMatchObject({ reason: 'reset' });
  });

  it('breaks off a request that is aborted', async () => {
    const caller = new AbortController();
    const { exchange, outcome, controller, aborts } = setUp(caller.signal);
    const reason = new Error('shutting down');
    exchange.onRequestStart(controller);

    caller.abort(reason);

    await expect(outcome).rejects.toBe(reason);
    expect(aborts()).toBe(1);
  });

  it('rejects at once when aborted before there is a connection, and then sends nothing', async () => {
    const caller = new AbortController();
    const { exchange, outcome, controller, aborts } = setUp(caller.signal);
    const reason = new Error('shutting down');

    caller.abort(reason);
    await expect(outcome).rejects.toBe(reason);
    exchange.onRequestStart(controller);

    expect(aborts()).toBe(1);
  });

  it('is not broken off by an abort after its end', async () => {
    const caller = new AbortController();
    const { exchange, outcome, controller, aborts } = setUp(caller.signal);
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    exchange.onResponseEnd();
    await outcome;

    caller.abort();

    expect(aborts()).toBe(0);
  });

  it.each([
    { what: 'numbers up to the bound', element: '1', count: 524_285, outcome: '200' },
    { what: 'one number more', element: '1', count: 524_286, outcome: 'too_large' },
    { what: 'objects', element: '{}', count: 110_000, outcome: 'too_large' },
    { what: 'arrays', element: '[]', count: 110_000, outcome: 'too_large' },
    { what: 'members', element: '"a":1', count: 110_000, outcome: 'too_large' },
  ])('lets a large document pass by what it becomes when parsed: $what', async (row) => {
    const { exchange, outcome, controller } = setUp();
    const document = `[${`${row.element},`.repeat(row.count - 1)}${row.element}]`;

    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    exchange.onResponseData(controller, Buffer.from(document));
    exchange.onResponseEnd();
    const seen = await outcome.then(
      ({ status }) => String(status),
      (error: ApiError) => error.reason,
    );

    expect(seen).toBe(row.outcome);
  });

  it('does not look into a small one', async () => {
    const { exchange, outcome, controller } = setUp(undefined, 'application_metrics');

    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    exchange.onResponseData(controller, Buffer.from('{'.repeat(65_536)));
    exchange.onResponseEnd();

    expect((await outcome).body).toHaveLength(65_536);
  });

  it('refuses what is announced as too large before any of it has come', async () => {
    const { exchange, outcome, controller, aborts } = setUp(undefined, 'host_metrics');

    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, { 'content-length': '65537' });

    await expect(outcome).rejects.toMatchObject({ reason: 'too_large' });
    expect(aborts()).toBe(1);
  });

  it.each([
    { status: 200, expected: 'too_large' },
    { status: 502, expected: '502 xxx' },
  ])('gives up when there is no memory for all answers: $status', async ({ status, expected }) => {
    const memory = createAnswerMemory({ heapBytes: 0 });
    const { exchange, outcome, controller, aborts } = setUp(undefined, undefined, memory);

    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, status, {});
    exchange.onResponseData(controller, Buffer.from('xxx'));
    exchange.giveUp();
    const seen = await outcome.then(
      (answer) => `${answer.status} ${answer.body}`,
      (error: ApiError) => error.reason,
    );

    expect(seen).toBe(expected);
    expect(aborts()).toBe(1);
  });

  it.each([
    {
      end: 'an end',
      act: (exchange: ResponseCollector) => {
        exchange.onResponseEnd();
      },
    },
    {
      end: 'a failure',
      act: (exchange: ResponseCollector) => {
        exchange.fail(new Error('no'));
      },
    },
    {
      end: 'an abort',
      act: (_exchange: ResponseCollector, caller: AbortController) => {
        caller.abort();
      },
    },
  ])('holds no memory after $end', async ({ act }) => {
    const memory = createAnswerMemory({ heapBytes: 0 });
    const caller = new AbortController();
    const { exchange, outcome, controller } = setUp(caller.signal, undefined, memory);
    const settled = outcome.then(
      () => undefined,
      () => undefined,
    );
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    exchange.onResponseData(controller, Buffer.alloc(3 * 1024 * 1024, ' '));
    act(exchange, caller);
    await settled;

    let gaveUp = 0;
    memory.hold(
      {
        giveUp: () => {
          gaveUp += 1;
        },
      },
      9 * 1024 * 1024,
    );

    expect(gaveUp).toBe(0);
  });
});
