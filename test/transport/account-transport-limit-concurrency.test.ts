import { describe, expect, it } from 'vitest';
import { createConcurrencyLimit } from '../../src/transport/account-transport.ts';
import { settle } from '../support/fake-clock.ts';
import { aRequest, held, neverAborted, scripted } from './fakes.ts';

describe('createConcurrencyLimit', () => {
  it('lets the next request go only when one has ended', async () => {
    const next = held();
    const send = createConcurrencyLimit({ concurrency: 2 }).decorate(next.send);

    const calls = [1, 2, 3].map(() => send(aRequest(), neverAborted));
    await settle();
    const sentAtFirst = next.requests.length;
    next.answer();
    await settle();
    const sentAfterOneAnswer = next.requests.length;
    next.answer();
    next.answer();
    await Promise.all(calls);

    expect([sentAtFirst, sentAfterOneAnswer]).toEqual([2, 3]);
  });

  it('gives the place of a request that failed to the next one', async () => {
    const failure = new Error('broken');
    const send = createConcurrencyLimit({ concurrency: 1 }).decorate(
      scripted(failure, failure).send,
    );

    const calls = await Promise.allSettled([1, 2].map(() => send(aRequest(), neverAborted)));

    expect(calls.map((call) => call.status)).toEqual(['rejected', 'rejected']);
  });
});
