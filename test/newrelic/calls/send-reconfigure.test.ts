import { describe, expect, it } from 'vitest';
import type { SendSettings } from '../../../src/newrelic/calls/send.ts';
import type { ApiResponse, RawTransport } from '../../../src/newrelic/calls/transport.ts';
import { settle } from '../../support/fake-clock.ts';
import { anAnswer, type HeldTransport, held, scripted } from './fakes.ts';
import { aSendBench, type SendBench } from './send-bench.ts';

const settings: SendSettings = { apiKeyHeader: 'Api-Key', timeoutMs: 30_000 };

describe('other settings', () => {
  it('send the key in another header from then on', async () => {
    const { transport, send, headers } = aSendBench(async () => anAnswer());
    await send();
    transport.reconfigure({ ...settings, apiKeyHeader: 'X-Api-Key' });
    await send();

    expect(headers).toEqual([{ 'Api-Key': 'key-1' }, { 'X-Api-Key': 'key-1' }]);
  });

  it('apply another timeout to requests that leave from then on, not to those in flight', async () => {
    const { transport, clock, outcomeOf } = aSendBench(held().send);
    const ended: string[] = [];
    const send = async (name: string): Promise<void> => {
      await outcomeOf({ mayRetry: false });
      ended.push(name);
    };
    const before = send('before');
    await settle();
    transport.reconfigure({ ...settings, timeoutMs: 5000 });
    const after = send('after');
    await clock.advance(29_000);
    const endedSoon = [...ended];
    await clock.advance(1000);
    await Promise.all([before, after]);

    expect([endedSoon, ended]).toEqual([['after'], ['after', 'before']]);
  });

  it("do not forget the vendor's clock", async () => {
    const bench: SendBench = aSendBench(async () =>
      anAnswer(200, { date: new Date(bench.clock.wallMs() + 3_600_000).toUTCString() }),
    );
    for (let call = 0; call < 3; call += 1) await bench.send();
    const { transport } = bench;
    const before = transport.vendorClock.skewSeconds();
    transport.reconfigure({ ...settings, timeoutMs: 10_000 });

    expect(before).toBeGreaterThan(3590);
    expect(transport.vendorClock.skewSeconds()).toBe(before);
  });
});

interface FakeConnections extends RawTransport {
  readonly wire: HeldTransport;
  closed(): number;
}

/** Connections on which requests wait until the test answers them, or until they are closed. */
function someConnections(close: () => Promise<void> = async () => undefined): FakeConnections {
  const wire = held();
  const breakOff = new AbortController();
  let closed = 0;
  return {
    wire,
    closed: () => closed,
    send: async (request, _headers, signal) =>
      wire.send(request, AbortSignal.any([signal, breakOff.signal])),
    close: async () => {
      closed += 1;
      breakOff.abort(new Error('closed'));
      return close();
    },
  };
}

/** An account that sends over the first of these connections, and how to change to others. */
function anAccountOver(first: FakeConnections) {
  const bench = aSendBench(scripted().send);
  const replaceBy = (next: RawTransport): void => bench.transport.reconfigure(settings, next);
  replaceBy(first);
  const send = async (): Promise<unknown> => {
    const sent = bench.outcomeOf({ mayRetry: false });
    await settle();
    return sent;
  };
  return { send, replaceBy, close: async () => bench.transport.close() };
}

describe('connections that are replaced', () => {
  it.each<[string, () => ApiResponse | Error]>([
    ['was answered', () => anAnswer()],
    ['has failed', () => new Error('reset')],
  ])('are closed once the last request on them %s, and not before', async (_, end) => {
    const [old, next] = [someConnections(), someConnections()];
    const account = anAccountOver(old);
    const sent = [account.send(), account.send()];
    await settle();
    account.replaceBy(next);
    old.wire.answer();
    await settle();
    const afterOne = old.closed();
    old.wire.answer(end());
    await Promise.all(sent);

    expect([afterOne, old.closed(), next.closed()]).toEqual([0, 1, 0]);
  });

  it('are closed at once if they are idle, and not when they become so in use', async () => {
    const [first, second, third] = [someConnections(), someConnections(), someConnections()];
    const account = anAccountOver(first);
    account.replaceBy(second);
    const sent = account.send();
    await settle();
    second.wire.answer();
    const status = await sent;
    const afterUse = second.closed();
    account.replaceBy(third);

    expect([status, first.closed(), afterUse, second.closed()]).toEqual([200, 1, 0, 1]);
  });

  it('are broken off with the new ones when all are closed, and none is closed twice', async () => {
    const [old, next] = [someConnections(), someConnections()];
    const account = anAccountOver(old);
    const onOld = account.send();
    await settle();
    account.replaceBy(next);
    const onNext = account.send();
    await settle();
    await account.close();

    // First, because a request that is not broken off would be waited for.
    expect([old.closed(), next.closed()]).toEqual([1, 1]);
    expect(await Promise.all([onOld, onNext])).toMatchObject([
      { message: 'closed' },
      { message: 'closed' },
    ]);
  });

  it('are waited for when all are closed', async () => {
    let release = (): void => undefined;
    const slow = someConnections(async () => new Promise((resolve) => void (release = resolve)));
    const account = anAccountOver(slow);
    account.replaceBy(someConnections());
    const events: string[] = [];
    const closing = account.close().then(() => events.push('all closed'));
    await settle();
    events.push('old ones closed');
    release();
    await closing;

    expect(events).toEqual(['old ones closed', 'all closed']);
  });
});
