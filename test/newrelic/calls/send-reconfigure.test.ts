import { describe, expect, it } from 'vitest';
import type { SendSettings } from '../../../src/newrelic/calls/send.ts';
import type { RawTransport } from '../../../src/newrelic/calls/transport.ts';
import { settle } from '../../support/fake-clock.ts';
import { anAnswer, aRequest, type HeldTransport, held, neverAborted, scripted } from './fakes.ts';
import { aSendBench, type SendBench } from './send-bench.ts';

const settings: SendSettings = { apiKeyHeader: 'Api-Key', timeoutMs: 30_000 };

describe('reconfigure', () => {
  it('sends the key in another header from then on', async () => {
    const { transport, send, headers } = aSendBench(async () => anAnswer());

    await send();
    transport.reconfigure({ ...settings, apiKeyHeader: 'X-Api-Key' });
    await send();

    expect(headers).toEqual([{ 'Api-Key': 'key-1' }, { 'X-Api-Key': 'key-1' }]);
  });

  it('applies another timeout to requests that leave from then on, not to those in flight', async () => {
    const { transport, clock, outcomeOf } = aSendBench(held().send);
    const ended: string[] = [];
    const send = async (name: string): Promise<void> => {
      await outcomeOf({ isOptional: true });
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

    expect(endedSoon).toEqual(['after']);
    expect(ended).toEqual(['after', 'before']);
  });

  it('sends through other connections if some are given, and closes the old ones', async () => {
    const { transport, outcomeOf, closed, headers } = aSendBench(async () => anAnswer(201));
    const other = scripted(anAnswer(202), anAnswer(203));
    const raw: RawTransport = {
      send: async (request, _headers, signal) => other.send(request, signal),
      close: async () => {},
    };

    const statuses = [await outcomeOf()];
    transport.reconfigure(settings, raw);
    const closedAfterwards = closed();
    statuses.push(await outcomeOf());
    transport.reconfigure({ ...settings, timeoutMs: 20_000 });
    statuses.push(await outcomeOf());

    expect(statuses).toEqual([201, 202, 203]);
    expect([closedAfterwards, headers.length]).toEqual([1, 1]);
  });

  it("does not forget the vendor's clock", async () => {
    const bench: SendBench = aSendBench(async () =>
      anAnswer(200, { date: new Date(bench.clock.wallMs() + 3_600_000).toUTCString() }),
    );
    const { transport, send } = bench;
    for (let call = 0; call < 3; call += 1) await send();
    const before = transport.vendorClock.skewSeconds();

    transport.reconfigure({ ...settings, timeoutMs: 10_000 });

    expect(before).toBeGreaterThan(3590);
    expect(transport.vendorClock.skewSeconds()).toBe(before);
  });

  it('closes its connections', async () => {
    const { transport, closed } = aSendBench(scripted().send);

    await transport.close();

    expect(closed()).toBe(1);
  });
});

interface Replaceable {
  readonly send: RawTransport['send'];
  readonly replace: (raw: RawTransport) => void;
  readonly close: () => Promise<void>;
}

/** An account that sends over these connections. */
function replaceable(raw: RawTransport): Replaceable {
  const { transport } = aSendBench(scripted().send);
  const replace = (next: RawTransport): void => transport.reconfigure(settings, next);
  replace(raw);
  return {
    send: async (request, _headers, signal) => transport.send(request, signal),
    replace,
    close: async () => transport.close(),
  };
}

interface FakeConnections extends RawTransport {
  readonly wire: HeldTransport;
  closed(): number;
}

/** Connections on which requests wait until the test answers them, or until they are closed. */
function someConnections(): FakeConnections {
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
    },
  };
}

describe('connections that may be replaced', () => {
  it('closes the old connections once their last request has ended, and not before', async () => {
    const [old, next] = [someConnections(), someConnections()];
    const connections = replaceable(old);
    const sent = [1, 2].map(async () => connections.send(aRequest(), {}, neverAborted));
    await settle();

    connections.replace(next);
    old.wire.answer();
    await settle();
    const afterOne = old.closed();
    old.wire.answer();
    await Promise.all(sent);

    expect(afterOne).toBe(0);
    expect(old.closed()).toBe(1);
    expect(next.closed()).toBe(0);
  });

  it('closes idle connections at once when they are replaced, and not when they are in use', async () => {
    const [first, second, third] = [someConnections(), someConnections(), someConnections()];
    const connections = replaceable(first);

    connections.replace(second);
    const sent = connections.send(aRequest(), {}, neverAborted);
    await settle();
    second.wire.answer();
    await sent;
    const afterUse = second.closed();
    connections.replace(third);

    expect(first.closed()).toBe(1);
    expect(afterUse).toBe(0);
    expect(second.closed()).toBe(1);
  });

  it('closes old connections when their last request has failed', async () => {
    let fail: (reason: Error) => void = () => undefined;
    let closed = 0;
    const connections = replaceable({
      send: async () =>
        new Promise((_, reject) => {
          fail = reject;
        }),
      close: async () => {
        closed += 1;
      },
    });
    const sent = connections.send(aRequest(), {}, neverAborted);
    await settle();

    connections.replace(someConnections());
    fail(new Error('reset'));

    await expect(sent).rejects.toThrow('reset');
    expect(closed).toBe(1);
  });

  it('breaks off everything when it is closed, and closes nothing twice', async () => {
    const [old, next] = [someConnections(), someConnections()];
    const connections = replaceable(old);
    const onOld = connections.send(aRequest(), {}, neverAborted);
    await settle();
    connections.replace(next);
    const onNext = connections.send(aRequest(), {}, neverAborted);
    await settle();
    const outcomes = Promise.allSettled([onOld, onNext]);

    await connections.close();

    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect([old.closed(), next.closed()]).toEqual([1, 1]);
  });

  it('waits for old connections to be closed when it is closed', async () => {
    let release = (): void => {};
    const slow: RawTransport = {
      send: async () => anAnswer(),
      close: async () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    };
    const connections = replaceable(slow);
    connections.replace(someConnections());
    const events: string[] = [];
    const close = async (): Promise<void> => {
      await connections.close();
      events.push('all closed');
    };

    const closing = close();
    await settle();
    events.push('old ones closed');
    release();
    await closing;

    expect(events).toEqual(['old ones closed', 'all closed']);
  });
});
