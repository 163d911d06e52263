import { describe, expect, it } from 'vitest';
import { createReplaceableTransport } from '../../src/transport/replaceable-transport.ts';
import type { RawTransport } from '../../src/transport/transport.ts';
import { settle } from '../support/fake-clock.ts';
import { anAnswer, aRequest, type HeldTransport, held, neverAborted } from './fakes.ts';

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

describe('createReplaceableTransport', () => {
  it('sends through the new connections, and lets what has left end on the old ones', async () => {
    const [old, next] = [someConnections(), someConnections()];
    const connections = createReplaceableTransport(old);
    const first = connections.send(aRequest(), {}, neverAborted);

    connections.replace(next);
    const second = connections.send(aRequest(), {}, neverAborted);
    next.wire.answer(anAnswer(202));
    old.wire.answer(anAnswer(201));

    expect((await first).status).toBe(201);
    expect((await second).status).toBe(202);
    expect([old.wire.requests.length, next.wire.requests.length]).toEqual([1, 1]);
  });

  it('closes the old connections once their last request has ended, and not before', async () => {
    const [old, next] = [someConnections(), someConnections()];
    const connections = createReplaceableTransport(old);
    const sent = [1, 2].map(async () => connections.send(aRequest(), {}, neverAborted));

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
    const connections = createReplaceableTransport(first);

    connections.replace(second);
    const sent = connections.send(aRequest(), {}, neverAborted);
    second.wire.answer();
    await sent;
    const afterUse = second.closed();
    connections.replace(third);

    expect(first.closed()).toBe(1);
    expect(afterUse).toBe(0);
    expect(second.closed()).toBe(1);
  });

  it('keeps each of several earlier connections until it is idle', async () => {
    const [first, second, third] = [someConnections(), someConnections(), someConnections()];
    const connections = createReplaceableTransport(first);
    const onFirst = connections.send(aRequest(), {}, neverAborted);
    connections.replace(second);
    const onSecond = connections.send(aRequest(), {}, neverAborted);
    connections.replace(third);

    second.wire.answer();
    await onSecond;
    const afterSecond = [first.closed(), second.closed()];
    first.wire.answer();
    await onFirst;

    expect(afterSecond).toEqual([0, 1]);
    expect([first.closed(), third.closed()]).toEqual([1, 0]);
  });

  it('is done with connections of which a request has failed', async () => {
    const broken: RawTransport = {
      send: async () => {
        throw new Error('reset');
      },
      close: async () => {},
    };
    let closed = 0;
    const connections = createReplaceableTransport({
      ...broken,
      close: async () => {
        closed += 1;
      },
    });
    const sent = connections.send(aRequest(), {}, neverAborted);

    connections.replace(someConnections());

    await expect(sent).rejects.toThrow('reset');
    expect(closed).toBe(1);
  });

  it('breaks off everything when it is closed, and closes nothing twice', async () => {
    const [old, next] = [someConnections(), someConnections()];
    const connections = createReplaceableTransport(old);
    const onOld = connections.send(aRequest(), {}, neverAborted);
    connections.replace(next);
    const onNext = connections.send(aRequest(), {}, neverAborted);
    const outcomes = Promise.allSettled([onOld, onNext]);

    await connections.close();

    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect([old.closed(), next.closed()]).toEqual([1, 1]);
  });

  it('has closed old connections as well when it is closed', async () => {
    let release = (): void => {};
    const slow: RawTransport = {
      send: async () => anAnswer(),
      close: async () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    };
    const connections = createReplaceableTransport(slow);
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
