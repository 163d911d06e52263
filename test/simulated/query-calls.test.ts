import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import {
  answered,
  type Fault,
  faulty,
  linesOf,
  listsOf,
  nrqlOf,
  ofQueries,
  queriesStarted,
  queryConfig,
  queryStatus,
} from '../support/query-daemon.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';
import { slow } from '../support/slow.ts';
import { calls, callsInHalfAnHour } from './query-calls.ts';

const syntaxError = answered({
  errors: [{ message: 'NRQL Syntax Error', extensions: { errorClass: 'INVALID_INPUT' } }],
});

describe('the window of a query', () => {
  it('ends its delay before now, on a whole minute, as that of applications does', async () => {
    const bench = await queriesStarted({ queries: calls.replace(' }', ', delay: 3m }') });
    await bench.platform.clock.advance(10 * minuteMs);
    const windows = nrqlOf(bench, 'FROM Transaction FACET').map(({ wallMs, text }) => {
      const [, since, until] = /SINCE (\d+) UNTIL (\d+)/u.exec(text) ?? [];
      return { wallMs, fromMs: Number(since), toMs: Number(until) };
    });

    expect(windows.length).toBeGreaterThanOrEqual(10);
    for (const { wallMs, fromMs, toMs } of windows) {
      expect(toMs % minuteMs).toBe(0);
      expect(wallMs - toMs).toBeGreaterThanOrEqual(3 * minuteMs);
      expect(wallMs - toMs).toBeLessThan(4 * minuteMs);
      expect(toMs - fromMs).toBe(5 * minuteMs);
    }
    // Nothing of this ages on its way.
    expect(queryStatus(bench, 'calls')?.reading?.windowEndMs).toBe(windows.at(-1)?.toMs);
  });

  it('at 10:07:30 with a delay of 3 minutes ends at 10:04', async () => {
    const bench = await aRunningDaemon(await queryConfig({}));
    // The clock begins at 10:00:30.
    await bench.platform.clock.advance(7 * minuteMs);
    await bench.daemon.apply(await queryConfig({ queries: calls }));
    await bench.platform.clock.advance(1000);

    const [asked] = nrqlOf(bench, 'FROM Transaction FACET');
    expect(asked?.text).toContain(
      `SINCE ${Date.UTC(2026, 8, 1, 9, 59)} UNTIL ${Date.UTC(2026, 8, 1, 10, 4)}`,
    );
  });
});

describe('the window of a poll of applications', () => {
  it('is the same for all of its calls, though a minute begins between them', async () => {
    // The second call leaves eight seconds after the first, and polls begin at any second of a minute.
    const account = 'api_key_env: KEY_A, concurrency: 1';
    const parts = { account, poll: 'poll: { interval: 65s }' };
    const bench = await queriesStarted(parts, { latencyMs: 8000 });
    await bench.platform.clock.advance(30 * minuteMs);
    const asked = nrqlOf(bench, ' FACET appId').map(({ wallMs, text }) => ({
      minute: Math.floor(wallMs / minuteMs),
      window: /SINCE \d+ UNTIL \d+/u.exec(text)?.[0],
      isOfHosts: text.includes('FACET appId, host '),
    }));
    const pairs = asked.flatMap((one, at) => {
      const next = asked[at + 1];
      return one.isOfHosts || next?.isOfHosts !== true ? [] : [{ one, next }];
    });

    expect(pairs.filter(({ one, next }) => one.minute !== next.minute)).not.toEqual([]);
    for (const { one, next } of pairs) expect(one.window).toBe(next.window);
    expect(bench.logger.lines.filter(({ message }) => message === 'poll failed')).toEqual([]);
  });
});

describe('applications that were found at different times', () => {
  it('are asked for together soon, and none of them twice in half an interval', async () => {
    const select = (...names: string[]): string =>
      `apps: [${names.map((name) => `{ name: ${name} }`).join(', ')}]`;
    const bench = await aRunningDaemon(await queryConfig({ apps: select('shop') }));
    await bench.platform.clock.advance(40_000);
    await bench.daemon.apply(await queryConfig({ apps: select('shop', 'cart') }));
    await bench.platform.clock.advance(10 * minuteMs);

    const askedMs = (id: number): readonly number[] =>
      nrqlOf(bench, ' FACET appId LIMIT')
        .filter(({ text }) => new RegExp(`appId IN \\([^)]*${id}`, 'u').test(text))
        .map(({ atMs }) => atMs);
    const [shop, cart] = [askedMs(101), askedMs(102)];
    const gapsMs = [shop, cart].flatMap((times) =>
      times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0)),
    );
    expect(shop.slice(-7)).toEqual(cart.slice(-7));
    expect(shop.length).toBeGreaterThan(10);
    expect(Math.min(...gapsMs)).toBeGreaterThanOrEqual(minuteMs / 2);
  });
});

describe('the calls of a query', () => {
  it('are one in each interval, whatever goes beside it', slow, async () => {
    await expect(callsInHalfAnHour('30s')).resolves.toBe(60);
  });

  it('stay one in each interval if it fails for good, and cost others nothing', async () => {
    const bad =
      '  - { as: bad, nrql: SELECT count(*) FROM TransactionError FACET appName LIMIT 9 }';
    const asBad = ofQueries(syntaxError, 'TransactionError FACET');
    let sent = 0;
    const fault: Fault = {
      answer: (request) => {
        const answer = asBad(request);
        if (answer !== undefined) sent += 1;
        return answer;
      },
    };
    const bench = await queriesStarted({ queries: `${calls}\n${bad}` }, faulty(fault));
    sent = 0;
    const lists = listsOf(bench).length;
    const asked = nrqlOf(bench, '').length;
    await bench.platform.clock.advance(20 * minuteMs);

    expect(sent).toBe(20);
    expect(listsOf(bench).length - lists).toBe(20);
    // The other query, the applications and their hosts.
    expect(nrqlOf(bench, '').length - asked).toBe(60);
    expect(queryStatus(bench, 'calls')?.state).toBe('up');
    expect(await linesOf(bench, /^newrelic_application_poll_success.* 1$/u)).toHaveLength(2);
    expect(bench.logger.lines.filter(({ message }) => message === 'poll failed')).toHaveLength(1);
  });

  it('bring the next list forward when one of them alone is refused with 401', async () => {
    const fault: Fault = { answer: () => undefined };
    const apps = 'apps: [{ match: ., discovery_interval: 1h }]';
    const bench = await queriesStarted({ apps, queries: calls }, faulty(fault));
    const before = listsOf(bench).length;
    fault.answer = ofQueries(answered({ error: { title: 'no' } }, 401), 'FACET appName');
    await bench.platform.clock.advance(minuteMs + 15_000);

    expect(queryStatus(bench, 'calls')?.failure?.reason).toBe('auth');
    expect(listsOf(bench)).toHaveLength(before + 1);
  });
});

describe('queries of three shards', () => {
  it('are asked by exactly one of them each, and shown by that one', slow, async () => {
    const names = Array.from({ length: 30 }, (_, index) => `calls_${index}`);
    const queries = names
      .map(
        (name) =>
          `  - { as: ${name}, nrql: SELECT count(*) FROM Transaction WHERE '${name}' = '${name}' }`,
      )
      .join('\n');
    const config = await queryConfig({ queries });
    const [account] = config.accounts;
    if (account === undefined) throw new Error('there is one');
    const shown = await Promise.all(
      [0, 1, 2].map(async (ordinal) => {
        const accounts = [{ ...account, shard: { ordinal, total: 3 } }];
        const bench = await aRunningDaemon({ ...config, accounts });
        await bench.platform.clock.advance(2 * minuteMs);
        const own = bench.daemon.status()[0]?.queries?.map(({ name }) => name) ?? [];
        const asked = names.filter((name) => nrqlOf(bench, `'${name}'`).length > 0);
        expect(asked.toSorted()).toEqual(own.toSorted());
        const lines = await linesOf(bench, /^newrelic_query_success/u);
        expect(new Set(lines.map((line) => /query="(\w+)"/u.exec(line)?.[1]))).toEqual(
          new Set(asked),
        );
        return own;
      }),
    );

    expect(shown.flat().toSorted()).toEqual(names.toSorted());
    expect(shown.every(({ length }) => length > 0)).toBe(true);
  });

  it('leave a shard up that has none of them', async () => {
    const config = await queryConfig({
      apps: '',
      queries: '  - { as: calls, nrql: SELECT count(*) FROM Transaction }',
    });
    const [account] = config.accounts;
    if (account === undefined) throw new Error('there is one');
    const lines = await Promise.all(
      [0, 1, 2].map(async (ordinal) => {
        const accounts = [{ ...account, shard: { ordinal, total: 3 } }];
        const bench = await aRunningDaemon({ ...config, accounts });
        await bench.platform.clock.advance(minuteMs);
        expect(bench.daemon.status()[0]?.state).toBe('up');
        expect(await linesOf(bench, /^newrelic_up/u)).toEqual(['newrelic_up{account="one"} 1']);
        return linesOf(bench, /^calls/u);
      }),
    );

    expect(lines.flat()).toHaveLength(1);
  });
});

describe('a tag that has several values', () => {
  it('is the same label whatever the order in which New Relic gives them', async () => {
    let isTurned = false;
    const bench = await queriesStarted(
      { poll: 'poll: { tags: [team] }' },
      {
        wire: (wire) => ({
          ...wire,
          send: async (...request) => {
            const answer = await wire.send(...request);
            isTurned = !isTurned;
            const values = isTurned ? ['b', 'a', 'c'] : ['c', 'b', 'a'];
            return { ...answer, body: withTags(answer.body, { key: 'team', values }) };
          },
        }),
      },
    );
    const seen = new Set<string | undefined>();
    for (let minute = 0; minute < 6; minute += 1) {
      await bench.platform.clock.advance(minuteMs);
      const lines = await linesOf(bench, /^newrelic_application_info/u);
      for (const line of lines) seen.add(/team="([^"]*)"/u.exec(line)?.[1]);
    }

    expect([...seen]).toEqual(['a,b,c']);
  });
});

/** The body with this tag in each entity. */
function withTags(body: string, tag: object): string {
  return body.replaceAll('"tags":[', `"tags":[${JSON.stringify(tag)},`);
}
