import { describe, expect, it } from 'vitest';
import {
  type AccountTransport,
  createAccountTransport,
  type SendSettings,
} from '../../src/transport/account-transport.ts';
import type { Transport } from '../../src/transport/transport.ts';
import { createFakeClock, settle } from '../support/fake-clock.ts';
import {
  anAnswer,
  aRequest,
  createFakeKeyProvider,
  createFakeMembership,
  createRecordingObserver,
  held,
  neverAborted,
} from './fakes.ts';

const settings: SendSettings = { apiKeyHeader: 'Api-Key', concurrency: 2, timeoutMs: 30_000 };

function setUp(wire: Transport) {
  const clock = createFakeClock();
  const sentHeaders: Readonly<Record<string, string>>[] = [];
  const account: AccountTransport = createAccountTransport(
    { baseUrl: 'https://api.newrelic.com', ...settings },
    {
      clock,
      membership: createFakeMembership({ clock }),
      observer: createRecordingObserver(),
      keyProvider: createFakeKeyProvider(),
      random: () => 0.5,
      events: { throttled: () => undefined, clockSkewed: () => undefined },
      raw: {
        send: async (request, headers, signal) => {
          sentHeaders.push(headers);
          return wire(request, signal);
        },
        close: async () => {},
      },
    },
  );
  return { account, clock, sentHeaders };
}

describe('reconfigure', () => {
  it('sends the key in another header from then on', async () => {
    const { account, sentHeaders } = setUp(async () => anAnswer());

    await account.send(aRequest(), neverAborted);
    account.reconfigure({ ...settings, apiKeyHeader: 'X-Api-Key' });
    await account.send(aRequest(), neverAborted);

    expect(sentHeaders).toEqual([{ 'Api-Key': 'key-1' }, { 'X-Api-Key': 'key-1' }]);
  });

  it('gives requests that leave from then on another time, and those under way their own', async () => {
    const wire = held();
    const { account, clock } = setUp(wire.send);
    const ended: string[] = [];
    const send = async (name: string): Promise<unknown> =>
      account.send(aRequest('list_hosts'), neverAborted).catch(() => ended.push(name));

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

  it('counts what is in flight against another concurrency', async () => {
    const wire = held();
    const { account } = setUp(wire.send);
    const calls = Array.from({ length: 6 }, async () => account.send(aRequest(), neverAborted));
    await settle();
    const atFirst = wire.requests.length;

    account.reconfigure({ ...settings, concurrency: 5 });
    await settle();
    const enlarged = wire.requests.length;
    account.reconfigure({ ...settings, concurrency: 1 });
    wire.answer();
    await settle();
    const afterOneAnswer = [wire.requests.length, account.requestsInFlight()];
    for (let left = 5; left > 0; left -= 1) {
      wire.answer();
      await settle();
    }
    await Promise.all(calls);

    expect([atFirst, enlarged]).toEqual([2, 5]);
    expect(afterOneAnswer).toEqual([5, 4]);
    expect(wire.requests).toHaveLength(6);
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

    account.reconfigure({ ...settings, concurrency: 4, timeoutMs: 10_000 });

    expect(before[0]).toBe(1);
    expect(before[1]).toBeGreaterThan(3590);
    expect([account.retries(), account.clockSkewSeconds()]).toEqual(before);
  });
});
