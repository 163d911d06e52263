import { describe, expect, it } from 'vitest';
import { reloadKey } from '../../src/transport/retry.ts';
import type { KeyProvider } from '../../src/transport/transport.ts';
import { createFakeClock, settle } from '../support/fake-clock.ts';
import {
  anAnswer,
  aRequest,
  createFakeKeyProvider,
  held,
  neverAborted,
  scripted,
} from './fakes.ts';

/** It stands still. */
const clock = createFakeClock();

describe('reloadKey', () => {
  it.each([{ status: 200 }, { status: 404 }, { status: 500 }])(
    'leaves the key alone after a $status',
    async ({ status }) => {
      const keyProvider = createFakeKeyProvider();
      const next = scripted(anAnswer(status));
      const send = reloadKey({ clock, keyProvider })(next.send);

      const answer = await send(aRequest(), neverAborted);

      expect(answer.status).toBe(status);
      expect(keyProvider.reloads()).toBe(0);
    },
  );

  it.each([{ status: 401 }, { status: 403 }])(
    'sends the request again when a $status leads to another key',
    async ({ status }) => {
      const keyProvider = createFakeKeyProvider();
      const next = scripted(anAnswer(status), anAnswer(200));
      keyProvider.rotate('key-2');

      const send = reloadKey({ clock, keyProvider })(next.send);
      const answer = await send(aRequest(), neverAborted);

      expect(answer.status).toBe(200);
      const again = { ...aRequest(), attempt: 2, retriedFor: 'auth', delayMs: 0 };
      expect(next.requests).toEqual([aRequest(), again]);
    },
  );

  it.each([{ status: 401 }, { status: 403 }])(
    'returns the $status when the key is still the same',
    async ({ status }) => {
      const keyProvider = createFakeKeyProvider();
      const next = scripted(anAnswer(status));

      const send = reloadKey({ clock, keyProvider })(next.send);
      const answer = await send(aRequest(), neverAborted);

      expect(answer.status).toBe(status);
      expect(keyProvider.reloads()).toBe(1);
      expect(next.requests).toHaveLength(1);
    },
  );

  it('reads the key after every 401, but after a 403 at most every ten seconds', async () => {
    const moving = createFakeClock();
    const keyProvider = createFakeKeyProvider();
    const reloads: number[] = [];
    const steps = [403, 403, 401, 403].map((status) => anAnswer(status));
    const send = reloadKey({ clock: moving, keyProvider })(
      scripted(...steps, ...[403, 403].map((status) => anAnswer(status))).send,
    );

    for (let call = 0; call < 4; call += 1) {
      await send(aRequest(), neverAborted);
      reloads.push(keyProvider.reloads());
    }
    for (const waitMs of [9999, 1]) {
      await moving.advance(waitMs);
      await send(aRequest(), neverAborted);
      reloads.push(keyProvider.reloads());
    }

    expect(reloads).toEqual([1, 1, 2, 2, 2, 3]);
  });

  it('lets a 403 share the reload that another call has begun', async () => {
    const keyProvider = createFakeKeyProvider();
    const next = held();
    const send = reloadKey({ clock, keyProvider })(next.send);
    const calls = [1, 2].map(() => send(aRequest(), neverAborted));
    keyProvider.rotate('key-2');

    next.answerAll(anAnswer(403));
    await settle();
    next.answerAll();
    const answers = await Promise.all(calls);

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(keyProvider.reloads()).toBe(1);
  });

  it('does not try a third time', async () => {
    const keyProvider = createFakeKeyProvider();
    const next = scripted(anAnswer(401), anAnswer(401));
    keyProvider.rotate('key-2');

    const answer = await reloadKey({ clock, keyProvider })(next.send)(aRequest(), neverAborted);

    expect(answer.status).toBe(401);
    expect(next.requests).toHaveLength(2);
  });

  it('reads the key once for calls that fail together', async () => {
    const keyProvider = createFakeKeyProvider();
    const next = held();
    const send = reloadKey({ clock, keyProvider })(next.send);
    const calls = [1, 2, 3].map(() => send(aRequest(), neverAborted));
    keyProvider.rotate('key-2');

    next.answerAll(anAnswer(401));
    await settle();
    next.answerAll();
    const answers = await Promise.all(calls);

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(keyProvider.reloads()).toBe(1);
    expect(next.requests).toHaveLength(6);
  });

  it('uses a key that another call has found in the meantime', async () => {
    const keyProvider = createFakeKeyProvider();
    const next = held();
    const send = reloadKey({ clock, keyProvider })(next.send);
    const call = send(aRequest(), neverAborted);
    keyProvider.rotate('key-2');
    await keyProvider.reload();

    next.answer(anAnswer(401));
    await settle();
    next.answer();

    expect((await call).status).toBe(200);
    expect(keyProvider.reloads()).toBe(1);
  });

  it('returns the 401 when the key cannot be read', async () => {
    const keyProvider: KeyProvider = {
      current: () => 'key-1',
      reload: async () => {
        throw new Error('no such file');
      },
    };
    const next = scripted(anAnswer(401));
    const send = reloadKey({ clock, keyProvider })(next.send);

    const answer = await send(aRequest(), neverAborted);

    expect(answer.status).toBe(401);
  });

  it('sends nothing more once the caller has aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const keyProvider = createFakeKeyProvider();
    const next = scripted(async () => {
      controller.abort(reason);
      return anAnswer(401);
    });
    keyProvider.rotate('key-2');
    const send = reloadKey({ clock, keyProvider })(next.send);

    const call = send(aRequest(), controller.signal);

    await expect(call).rejects.toBe(reason);
  });
});
