import { describe, expect, it } from 'vitest';
import {
  type AccountTransport,
  createAccountTransport,
  createReplaceableTransport,
  type SendSettings,
} from '../../src/transport/account-transport.ts';
import type { RawTransport, Transport } from '../../src/transport/transport.ts';
import { createFakeTurn } from '../rate-limit/fakes.ts';
import { createFakeClock, settle } from '../support/fake-clock.ts';
import {
  anAnswer,
  aRequest,
  createFakeKeyProvider,
  createRecordingObserver,
  type HeldTransport,
  held,
  neverAborted,
  scripted,
} from './fakes.ts';

const settings: SendSettings = { apiKeyHeader: 'Api-Key', timeoutMs: 30_000 };

function setUp(wire: Transport) {
  const clock = createFakeClock();
  const turn = createFakeTurn({ clock });
  const sentHeaders: Readonly<Record<string, string>>[] = [];
  let closed = 0;
  const account: AccountTransport = createAccountTransport(
    { baseUrl: 'https://api.newrelic.com', ...settings },
    {
      clock,
      membership: turn,
      first: turn,
      observer: createRecordingObserver(),
      keyProvider: createFakeKeyProvider(),
      random: () => 0.5,
      events: { throttled: () => undefined, clockSkewed: () => undefined },
      raw: {
        send: async (request, headers, signal) => {
          sentHeaders.push(headers);
          return wire(request, signal);
        },
        close: async () => {
          closed += 1;
        },
      },
    },
  );
  return { account, clock, sentHeaders, closed: () => closed };
}

describe('reconfigure', () => {
  it('sends the key in another header from then on', async () => {
    const { account, sentHeaders } = setUp(async () => anAnswer());

    await account.send(aRequest(), neverAborted);
    account.reconfigure({ ...settings, apiKeyHeader: 'X-Api-Key' });
    await account.send(aRequest(), neverAborted);

    expect(sentHeaders).toEqual([{ 'Api-Key': 'key-1' }, { 'X-Api-Key': 'key-1' }]);
  });

  it('applies another timeout to requests that leave from then on, not to those in flight', async () => {
    const wire = held();
    const { account, clock } = setUp(wire.send);
    const ended: string[] = [];
    const send = async (name: string): Promise<unknown> =>
      account
        .send({ ...aRequest('list_hosts'), isOptional: true }, neverAborted)
        .catch(() => ended.push(name));

    const before = send('before');
    await settle();
    account.reconfigure({ ...settings, timeoutMs: 5000 });
    const after = send('after');
    await clock.advance(29_000);
    const endedSoon = [...ended];
    await clock.advance(1000);
    await Promise.all([before, after]);

    expect(endedSoon).toEqual(['after']);
    expect(ended).toEqual(['after', 'before']);
  });

  it('sends through other connections if some are given, and closes the old ones', async () => {
    const { account, closed, sentHeaders } = setUp(async () => anAnswer(201));
    const other = scripted(anAnswer(202), anAnswer(203));
    const raw: RawTransport = {
      send: async (request, _headers, signal) => other.send(request, signal),
      close: async () => {},
    };

    const before = await account.send(aRequest(), neverAborted);
    account.reconfigure(settings, raw);
    const closedAfterwards = closed();
    const after = await account.send(aRequest(), neverAborted);
    account.reconfigure({ ...settings, timeoutMs: 20_000 });
    const kept = await account.send(aRequest(), neverAborted);

    expect([before, after, kept].map(({ status }) => status)).toEqual([201, 202, 203]);
    expect([closedAfterwards, sentHeaders.length]).toEqual([1, 1]);
  });

  it("forgets nothing: neither retries nor the vendor's clock", async () => {
    const hourMs = 3_600_000;
    let answers = 0;
    const bench = setUp(async () => {
      answers += 1;
      const date = new Date(bench.clock.wallMs() + hourMs).toUTCString();
      return anAnswer(answers === 1 ? 500 : 200, { date });
    });
    const { account, clock } = bench;
    for (let call = 0; call < 4; call += 1) {
      const answer = account.send(aRequest(), neverAborted);
      await clock.advance(10_000);
      await answer;
    }
    const before = [account.retries(), account.clockSkewSeconds()];

    account.reconfigure({ ...settings, timeoutMs: 10_000 });

    expect(before[0]).toBe(1);
    expect(before[1]).toBeGreaterThan(3590);
    expect([account.retries(), account.clockSkewSeconds()]).toEqual(before);
  });
});

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

  it('closes old connections when their last request has failed', async () => {
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

  it('waits for old connections to be closed when it is closed', async () => {
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
