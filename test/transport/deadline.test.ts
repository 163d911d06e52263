import { getEventListeners, setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { withDeadline } from '../../src/transport/deadline.ts';
import type { Transport } from '../../src/transport/transport.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { aRequest, held, scripted } from './fakes.ts';

function limited(next: Transport, clock: FakeClock): Transport {
  return withDeadline({ timeoutMs: 30_000, host: 'api.newrelic.com' }, { clock })(next);
}

const never: Transport = () => new Promise(() => undefined);

describe('withDeadline', () => {
  it('ends a request that takes longer, even when the transport does not notice', async () => {
    const clock = createFakeClock();
    const { signal } = new AbortController();
    const call = limited(never, clock)(aRequest(), signal);
    const failure = call.catch((error: unknown) => error);

    await clock.advance(30_000);

    expect(await failure).toMatchObject({
      reason: 'timeout',
      message: expect.stringMatching(/^api\.newrelic\.com: no complete answer within 30 s; /),
    });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it.each([
    { wanted: 10_000, endsAfterMs: 10_000, says: 'if this lasts, look for a slow proxy' },
    { wanted: 60_000, endsAfterMs: 30_000, says: "raise the account's timeout or look" },
  ])('takes the shorter limit when the request wants $wanted ms', async (row) => {
    const clock = createFakeClock();
    const request = { ...aRequest(), timeoutMs: row.wanted };
    const call = limited(never, clock)(request, new AbortController().signal);
    const failures: unknown[] = [];
    call.catch((error: unknown) => failures.push(error));

    await clock.advance(row.endsAfterMs - 1);
    expect(failures).toEqual([]);
    await clock.advance(1);

    expect(failures).toMatchObject([
      { reason: 'timeout', message: expect.stringContaining(row.says) },
    ]);
  });

  it('tells the transport to stop, with the same error', async () => {
    const clock = createFakeClock();
    const signals: AbortSignal[] = [];
    const call = limited((_request, signal) => {
      signals.push(signal);
      return never(_request, signal);
    }, clock)(aRequest(), new AbortController().signal);
    const failure = call.catch((error: unknown) => error);

    await clock.advance(30_000);

    expect(signals.map(({ reason }) => reason as unknown)).toEqual([await failure]);
  });

  it('leaves nothing at a signal that thousands of calls have shared', async () => {
    const { signal } = new AbortController();
    setMaxListeners(0, signal);
    const clock = createFakeClock();
    const next = held();
    const send = limited(next.send, clock);

    const calls = Array.from({ length: 5000 }, async () => send(aRequest(), signal));
    for (const _ of calls) next.answer();
    await Promise.all(calls);

    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('sends nothing when the signal is aborted already', async () => {
    const clock = createFakeClock();
    const reason = new Error('shutting down');
    const next = scripted();

    const call = limited(next.send, clock)(aRequest(), AbortSignal.abort(reason));

    await expect(call).rejects.toBe(reason);
    expect(next.requests).toHaveLength(0);
  });
});
