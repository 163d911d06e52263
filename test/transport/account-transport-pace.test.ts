import { describe, expect, it } from 'vitest';
import { operations } from '../../src/model/telemetry.ts';
import { pace } from '../../src/transport/account-transport.ts';
import { anAnswer, aRequest, createFakeMembership, held, neverAborted, scripted } from './fakes.ts';

describe('pace', () => {
  it('lets the lists go before the values', async () => {
    const membership = createFakeMembership();
    const send = pace({ membership })(async () => anAnswer());

    for (const operation of operations) await send(aRequest(operation), neverAborted);

    expect(operations.filter((_operation, index) => membership.acquired[index] === true)).toEqual([
      'list_applications',
      'list_hosts',
    ]);
  });

  it('keeps the permit until the request has ended and releases it once', async () => {
    const membership = createFakeMembership();
    const next = held();

    const call = pace({ membership })(next.send)(aRequest(), neverAborted);
    await Promise.resolve();
    const releasedBefore = membership.released();
    next.answer();
    await call;

    expect(releasedBefore).toBe(0);
    expect(membership.released()).toBe(1);
  });

  it('releases the permit once when the request fails', async () => {
    const membership = createFakeMembership();
    const failure = new Error('broken');

    const call = pace({ membership })(scripted(failure).send)(aRequest(), neverAborted);

    await expect(call).rejects.toBe(failure);
    expect(membership.released()).toBe(1);
  });

  it('sends nothing without a permit', async () => {
    const membership = createFakeMembership();
    const reason = new Error('shutting down');
    const next = scripted();

    const call = pace({ membership })(next.send)(aRequest(), AbortSignal.abort(reason));

    await expect(call).rejects.toBe(reason);
    expect([next.requests.length, membership.released()]).toEqual([0, 0]);
  });
});
