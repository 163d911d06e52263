import { describe, expect, it } from 'vitest';
import { operations } from '../../src/model/operation.ts';
import { pace } from '../../src/transport/pace.ts';
import { anAnswer, aRequest, createFakePacer, held, neverAborted, scripted } from './fakes.ts';

describe('pace', () => {
  it('lets the lists go before the values', async () => {
    const pacer = createFakePacer();
    const send = pace({ pacer })(async () => anAnswer());

    for (const operation of operations) await send(aRequest(operation), neverAborted);

    expect(operations.filter((_operation, index) => pacer.acquired[index] === true)).toEqual([
      'list_applications',
      'list_hosts',
    ]);
  });

  it('keeps the place until the request has ended and gives it back once', async () => {
    const pacer = createFakePacer();
    const next = held();

    const call = pace({ pacer })(next.send)(aRequest(), neverAborted);
    await Promise.resolve();
    const releasedBefore = pacer.released();
    next.answer();
    await call;

    expect(releasedBefore).toBe(0);
    expect(pacer.released()).toBe(1);
  });

  it('gives the place back once when the request fails', async () => {
    const pacer = createFakePacer();
    const failure = new Error('broken');

    const call = pace({ pacer })(scripted(failure).send)(aRequest(), neverAborted);

    await expect(call).rejects.toBe(failure);
    expect(pacer.released()).toBe(1);
  });

  it('sends nothing without a place', async () => {
    const pacer = createFakePacer();
    const reason = new Error('shutting down');
    const next = scripted();

    const call = pace({ pacer })(next.send)(aRequest(), AbortSignal.abort(reason));

    await expect(call).rejects.toBe(reason);
    expect([next.requests.length, pacer.released()]).toEqual([0, 0]);
  });
});
