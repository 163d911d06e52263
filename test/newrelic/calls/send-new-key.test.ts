import { describe, expect, it } from 'vitest';
import { settle } from '../../support/fake-clock.ts';
import { aThrottled } from './call-fakes.ts';
import { anAnswer, aRequest, held, scripted } from './fakes.ts';
import { aSendBench } from './send-bench.ts';

const refused = [{ status: 401 }, { status: 403 }];

describe('a refused key', () => {
  it.each([{ status: 200 }, { status: 404 }, { status: 422 }])(
    'is not read again after a $status',
    async ({ status }) => {
      const bench = aSendBench(scripted(anAnswer(status)).send);

      expect(await bench.outcomeOf()).toBe(status);
      expect(bench.keyProvider.reloads()).toBe(0);
    },
  );

  it.each(refused)(
    'leads to the new one after a $status, with which the request is sent again',
    async ({ status }) => {
      const wire = scripted(anAnswer(status), anAnswer(200));
      const bench = aSendBench(wire.send);
      bench.keyProvider.rotate('key-2');

      expect(await bench.outcomeOf()).toBe(200);
      expect(wire.requests).toMatchObject([
        aRequest(),
        { ...aRequest(), attempt: 2, retriedFor: 'auth', delayMs: 0 },
      ]);
      expect(bench.headers).toEqual([{ 'Api-Key': 'key-1' }, { 'Api-Key': 'key-2' }]);
    },
  );

  it.each(refused)(
    'is what the request ends with when it is still the same: $status',
    async ({ status }) => {
      const bench = aSendBench(scripted(anAnswer(status)).send);

      expect(await bench.outcomeOf()).toBe(status);
      expect(bench.keyProvider.reloads()).toBe(1);
    },
  );

  it('is read after every 401, but after a 403 at most every ten seconds', async () => {
    const statuses = [403, 403, 401, 403, 403, 403];
    const bench = aSendBench(scripted(...statuses.map((status) => anAnswer(status))).send);
    const reloads: number[] = [];

    for (const waitMs of [0, 0, 0, 0, 9999, 1]) {
      await bench.clock.advance(waitMs);
      await bench.send();
      reloads.push(bench.keyProvider.reloads());
    }

    expect(reloads).toEqual([1, 1, 2, 2, 2, 3]);
  });

  it.each(refused)(
    'is read once for requests that fail together with $status',
    async ({ status }) => {
      const wire = held();
      const bench = aSendBench(wire.send);
      const outcomes = Promise.all([1, 2, 3].map(async () => bench.outcomeOf()));
      bench.keyProvider.rotate('key-2');
      await settle();

      wire.answerAll(anAnswer(status));
      await settle();
      wire.answerAll();

      expect(await outcomes).toEqual([200, 200, 200]);
      expect(bench.keyProvider.reloads()).toBe(1);
      expect(wire.requests).toHaveLength(6);
    },
  );

  it('is not replaced a second time for one request', async () => {
    const bench = aSendBench(scripted(anAnswer(401), anAnswer(401)).send);
    bench.keyProvider.rotate('key-2');

    expect(await bench.outcomeOf()).toBe(401);
    expect(bench.keyProvider.reloads()).toBe(1);
  });

  it('gives way to the one that another request has found in the meantime', async () => {
    const wire = held();
    const bench = aSendBench(wire.send);
    const outcome = bench.outcomeOf();
    await settle();
    bench.keyProvider.rotate('key-2');
    await bench.keyProvider.reload();

    wire.answer(anAnswer(401));
    await settle();
    wire.answer();

    expect(await outcome).toBe(200);
    expect(bench.keyProvider.reloads()).toBe(1);
  });

  it('is not sent twice by a request that had waited while it was read', async () => {
    const bench = aSendBench(scripted(anAnswer(401)).send);
    bench.calls.key.throttled(aThrottled(1000));
    const outcome = bench.outcomeOf();
    bench.keyProvider.rotate('key-2');
    await bench.keyProvider.reload();

    expect(await outcome).toBe(401);
    expect(bench.headers).toEqual([{ 'Api-Key': 'key-2' }]);
    expect(bench.keyProvider.reloads()).toBe(2);
  });

  it('is what the request ends with when no other can be read', async () => {
    const reload = async (): Promise<never> => Promise.reject(new Error('no such file'));

    expect(await aSendBench(scripted(anAnswer(401)).send, { reload }).outcomeOf()).toBe(401);
  });

  it('lets nothing more be sent once the caller has aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const wire = scripted(async () => {
      controller.abort(reason);
      return anAnswer(401);
    });
    const bench = aSendBench(wire.send);
    bench.keyProvider.rotate('key-2');

    expect(await bench.outcomeOf({}, controller.signal)).toBe(reason);
    expect(wire.requests).toHaveLength(1);
  });
});
