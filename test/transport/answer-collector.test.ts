import fc from 'fast-check';
import type { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../src/model/api-error.ts';
import { AnswerCollector } from '../../src/transport/answer-collector.ts';
import {
  type AnswerMemory,
  type AnswerSize,
  createAnswerMemory,
} from '../../src/transport/answer-memory.ts';
import type { ApiResponse } from '../../src/transport/transport.ts';
import { settle } from '../support/fake-clock.ts';

type Controller = Dispatcher.DispatchController;

/** An exchange, the promise of its outcome, and what it asked of undici. */
function setUp(
  signal: AbortSignal = new AbortController().signal,
  size: AnswerSize = 'large',
  memory: AnswerMemory = createAnswerMemory({ heapBytes: 0 }),
) {
  let exchange: AnswerCollector | undefined;
  const outcome = new Promise<ApiResponse>((resolve, reject) => {
    exchange = new AnswerCollector(
      { maxBytes: memory.maxBytes[size], peer: 'api', signal, memory },
      { resolve, reject },
    );
  });
  if (exchange === undefined) throw new Error('a promise runs its executor at once');
  const asked: string[] = [];
  const controller = {
    abort: () => asked.push('abort'),
    pause: () => asked.push('pause'),
    resume: () => asked.push('resume'),
  } as unknown as Controller;
  const aborts = (): number => asked.filter((what) => what === 'abort').length;
  return { exchange, outcome, controller, asked, aborts };
}

/** One answer of this many bytes, in chunks of a socket. */
async function give(
  { exchange, controller }: Pick<ReturnType<typeof setUp>, 'exchange' | 'controller'>,
  bytes: Buffer,
): Promise<void> {
  exchange.onRequestStart(controller);
  exchange.onResponseStart(controller, 200, {});
  for (let from = 0; from < bytes.length; from += limitBytes) {
    exchange.onResponseData(controller, bytes.subarray(from, from + limitBytes));
    await settle();
  }
  exchange.onResponseEnd();
}

const limitBytes = 65_536;

describe('AnswerCollector', () => {
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
    { what: 'as many ids as fit', element: '12345678', count: 340_000, outcome: '200' },
    { what: 'numbers', element: '1', count: 600_000, outcome: 'too_large' },
    { what: 'a few numbers', element: '1', count: 500_000, outcome: '200' },
    { what: 'empty objects', element: '{}', count: 80_000, outcome: 'too_large' },
    { what: 'empty arrays', element: '[]', count: 80_000, outcome: 'too_large' },
    { what: 'small objects', element: '{"a":1}', count: 80_000, outcome: 'too_large' },
    { what: 'a few small objects', element: '{"a":1}', count: 70_000, outcome: '200' },
    { what: 'hosts', element: '{"id":1,"name":"a"}', count: 40_000, outcome: '200' },
  ])('lets a large document pass by what it becomes when parsed: $what', async (row) => {
    const one = setUp();
    const document = `[${`${row.element},`.repeat(row.count)}0]`;

    await give(one, Buffer.from(document));
    const seen = await one.outcome.then(
      ({ status }) => String(status),
      (error: ApiError) => error.reason,
    );

    expect(seen).toBe(row.outcome);
  });

  it('does not look into a small one', async () => {
    const { exchange, outcome, controller } = setUp(undefined, 'small');

    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    exchange.onResponseData(controller, Buffer.from('{'.repeat(65_536)));
    exchange.onResponseEnd();

    expect((await outcome).body).toHaveLength(65_536);
  });

  it('refuses what is too large as soon as that much has come', async () => {
    const { exchange, outcome, controller, aborts } = setUp(undefined, 'small');

    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    exchange.onResponseData(controller, Buffer.alloc(limitBytes + 1));

    await expect(outcome).rejects.toMatchObject({ reason: 'too_large' });
    expect(aborts()).toBe(1);
  });

  it('is the text of a large answer however it is cut', async () => {
    // Of more bytes than characters.
    const text = 'a document of somé kilobytes, '.repeat(30_000);
    const bytes = Buffer.from(text);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: bytes.length }), { maxLength: 20 }), async (cuts) => {
        const { exchange, outcome, controller } = setUp();
        exchange.onRequestStart(controller);
        exchange.onResponseStart(controller, 200, {});
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        for (const [index, from] of at.entries()) {
          exchange.onResponseData(controller, bytes.subarray(from, at[index + 1]));
          await settle();
        }
        exchange.onResponseEnd();

        expect((await outcome).body === text).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it('takes about as much memory as it has bytes when they come one by one', () => {
    const { exchange, controller } = setUp(undefined, 'large');
    const byte = Buffer.from('x');
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    const beforeBytes = process.memoryUsage().heapUsed;
    for (let count = 0; count < 1_000_000; count += 1) exchange.onResponseData(controller, byte);

    // A buffer for each would be 100 MB.
    expect(process.memoryUsage().heapUsed - beforeBytes).toBeLessThan(40_000_000);
  });

  it('waits for a place before it takes more than a chunk, and leaves it at its end', async () => {
    const memory = createAnswerMemory({ heapBytes: 0 });
    const full = [1, 2, 3].map(() => setUp(undefined, 'large', memory));
    const waiting = setUp(undefined, 'large', memory);
    const text = Buffer.from('"'.padEnd(3 * limitBytes, 'x'));

    for (const { exchange, controller } of [...full, waiting]) {
      exchange.onRequestStart(controller);
      exchange.onResponseStart(controller, 200, {});
      exchange.onResponseData(controller, text.subarray(0, limitBytes + 1));
    }
    await settle();
    const before = [...waiting.asked];
    full[0]?.exchange.onResponseEnd();
    await settle();
    waiting.exchange.onResponseData(waiting.controller, text.subarray(limitBytes + 1));
    waiting.exchange.onResponseEnd();

    expect(full.map(({ asked }) => asked)).toEqual(full.map(() => ['pause', 'resume']));
    expect([before, waiting.asked]).toEqual([['pause'], ['pause', 'resume']]);
    expect((await waiting.outcome).body).toBe(text.toString());
  });

  it.each([
    { what: 'while it waits', isWaiting: true },
    { what: 'in its place', isWaiting: false },
  ])('keeps no place when it is aborted $what', async ({ isWaiting }) => {
    const memory = createAnswerMemory({ heapBytes: 0 });
    const others = [];
    for (let one = 0; one < (isWaiting ? 3 : 2); one += 1) others.push(await memory.takePlace());
    const caller = new AbortController();
    const { exchange, outcome, controller } = setUp(caller.signal, 'large', memory);
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    exchange.onResponseData(controller, Buffer.alloc(limitBytes + 1));
    await settle();

    caller.abort(new Error('shutting down'));
    await expect(outcome).rejects.toThrow('shutting down');
    for (const place of others) place.leave();

    const places = await Promise.all([1, 2, 3].map(async () => memory.takePlace()));
    expect(new Set(places.map(({ bytes }) => bytes)).size).toBe(3);
  });
});
