import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import {
  type ConfigParts,
  type Fault,
  faulty,
  linesOf,
  listsOf,
  nrqlOf,
  ofQueries,
  ownLinesOf,
  queriesStarted,
  queryConfig,
  queryStatus,
} from '../support/query-daemon.ts';
import { aRunningDaemon, type RunningDaemon } from '../support/running-daemon.ts';
import { slow } from '../support/slow.ts';

const calls = '  - { as: calls, nrql: SELECT count(*) FROM Transaction FACET appName LIMIT 20 }';
const errors =
  '  - { as: errors, nrql: SELECT count(*) FROM TransactionError FACET appName LIMIT 20 }';
const empty = '  - { as: empty, nrql: SELECT count(*) FROM Nowhere FACET appName LIMIT 20 }';

/** The same with more behind it. */
function withMore(query: string, more: string): string {
  return query.replace(/ \}$/u, `, ${more} }`);
}

async function applied({ daemon }: RunningDaemon, parts: ConfigParts): Promise<void> {
  await daemon.apply(await queryConfig(parts));
}

/** All series of queries, and those of the exporter that name one. */
async function allOf(bench: RunningDaemon): Promise<readonly string[]> {
  const own = await ownLinesOf(bench, /query="/u);
  return [...(await linesOf(bench, /^(calls|errors|empty|newrelic_query)/u)), ...own];
}

describe('8.3 a query that a reload takes out', () => {
  it('has no series, no state and no metric of the exporter on the very next page, and is not asked again', async () => {
    const bench = await queriesStarted({ queries: [calls, errors, empty].join('\n') });
    await bench.platform.clock.advance(minuteMs);
    expect(await ownLinesOf(bench, /^newrelic_exporter_query_missing/u)).toHaveLength(1);
    await applied(bench, { queries: calls });

    expect((await allOf(bench)).filter((line) => !line.includes('calls'))).toEqual([]);
    expect(bench.daemon.status()[0]?.queries?.map(({ name }) => name)).toEqual(['calls']);
    const before = nrqlOf(bench, 'FROM TransactionError FACET').length;
    await applied(bench, {});
    expect(await allOf(bench)).toEqual([]);
    await bench.platform.clock.advance(5 * minuteMs);
    expect(nrqlOf(bench, 'FROM TransactionError FACET')).toHaveLength(before);
    expect(await allOf(bench)).toEqual([]);
  });

  it('shows nothing of the answer that was under way', async () => {
    const bench = await queriesStarted({ queries: calls }, { latencyMs: 5000 });
    await bench.platform.clock.advance(6000);
    await applied(bench, { queries: `${calls}\n${errors}` });
    await bench.platform.clock.advance(2000);
    await applied(bench, { queries: calls });
    await bench.platform.clock.advance(10_000);

    expect(nrqlOf(bench, 'FROM TransactionError FACET')).toHaveLength(1);
    expect(await linesOf(bench, /errors/u)).toEqual([]);
    expect(bench.daemon.status()[0]?.requestsInFlight).toBe(0);
  });

  it.each([false, true])('never becomes an application (lists fail: %s)', async (fails) => {
    const fault: Fault = { answer: () => undefined };
    const bench = await queriesStarted({ queries: calls }, faulty(fault));
    if (fails) {
      fault.answer = ({ operation }) =>
        operation === 'list_applications' ? { status: 500, headers: {}, body: '' } : undefined;
    }
    await bench.platform.clock.advance(2 * minuteMs);
    await applied(bench, { queries: calls.replace('FROM Transaction', 'FROM TransactionError') });

    expect(bench.daemon.applications().map(({ name }) => name)).toEqual(['cart', 'shop']);
    await bench.platform.clock.advance(65_000);
    expect(await linesOf(bench, /app_id="(?!\d+")/u)).toEqual([]);
    expect(await linesOf(bench, /^newrelic_application_poll_success\{.* 1$/u)).toHaveLength(2);
    expect(nrqlOf(bench, 'appId IN').filter(({ text }) => !/IN \([\d,]+\)/u.test(text))).toEqual(
      [],
    );
    expect(listsOf(bench).filter(({ text }) => text.includes('query'))).toEqual([]);
  });
});

describe('8.3 an application that a reload takes out while its call hangs', () => {
  it('is in its retry, which is for the one that stays, and then neither shown nor asked for', async () => {
    const fault: Fault = { answer: ({ operation }) => isOfApplications(operation) };
    const bench = await aRunningDaemon(await queryConfig({}), faulty(fault));
    await bench.platform.clock.advance(2000);
    fault.answer = () => undefined;
    await applied(bench, { apps: 'apps: [{ match: shop, discovery_interval: 60s }]' });
    await bench.platform.clock.advance(20_000);

    const asked = (): readonly number[] =>
      nrqlOf(bench, 'appId IN').map(({ text }) => idsIn(text).length);
    // Those that hung have not got there.
    expect(asked()).toEqual([2, 2]);
    expect(await linesOf(bench, /^newrelic_application_poll_success\{.*shop.* 1$/u)).toHaveLength(
      1,
    );
    expect(await linesOf(bench, /cart/u)).toEqual([]);
    await bench.platform.clock.advance(minuteMs);
    expect(asked()).toEqual([2, 2, 1, 1]);
  });
});

function isOfApplications(operation: string): 'hang' | undefined {
  return /^(application|host)_metrics$/u.test(operation) ? 'hang' : undefined;
}

function idsIn(nrql: string): readonly string[] {
  return /appId IN \(([^)]*)\)/u.exec(nrql)?.[1]?.split(',') ?? [];
}

describe('8.2 a query that a reload keeps', () => {
  it('has its values in the very next page, is asked at its old times, and loses no poll under way', async () => {
    const bench = await queriesStarted({ queries: calls }, { latencyMs: 5000 });
    const shown = await linesOf(bench, /^(calls|newrelic_query)/u);
    // The second poll is under way for two seconds.
    await bench.platform.clock.advance(nextPollMs(bench, 'calls') + 2000);
    const before = nrqlOf(bench, 'FROM Transaction FACET').length;
    await applied(bench, { queries: `${errors}\n${calls}` });

    expect(await linesOf(bench, /^(calls|newrelic_query)/u)).toEqual(shown);
    await bench.platform.clock.advance(3500);
    expect(
      bench.platform.clock.wallMs() - (queryStatus(bench, 'calls')?.lastPollMs ?? 0),
    ).toBeLessThanOrEqual(500);
    expect(nrqlOf(bench, 'FROM Transaction FACET')).toHaveLength(before);
    await bench.platform.clock.advance(10 * minuteMs);
    expect(nrqlOf(bench, 'FROM Transaction FACET')).toHaveLength(before + 10);
  });

  it.each([
    ['a label', 'constant_labels: { team: shop }', /^calls\{.*team="shop"\} 600$/u],
    ['its help', 'help: Other words.', /^calls\{/u],
    ['its interval', 'interval: 5m', /^calls\{/u],
    ['its stale_after', 'stale_after: 20m', /^calls\{/u],
  ])(
    'keeps its rows, and shows them as they are now, at once: with %s',
    async (_, more, series) => {
      const bench = await queriesStarted({ queries: calls });
      const before = nrqlOf(bench, 'FROM Transaction FACET').length;
      await applied(bench, { queries: withMore(calls, more) });

      expect(await linesOf(bench, series)).not.toEqual([]);
      expect(await linesOf(bench, /^calls\{/u)).toHaveLength(2);
      expect(await linesOf(bench, /^newrelic_query_success.* 1$/u)).toHaveLength(1);
      expect((await bench.page()).includes('# HELP calls Other words.')).toBe(
        more.startsWith('help'),
      );
      expect(nrqlOf(bench, 'FROM Transaction FACET')).toHaveLength(before);
    },
  );

  it.each([
    ['longer', '2m', 0],
    ['less', '10m', 2],
  ])(
    'whose rows have been held for %s than its new stale_after (%s) shows them until that, and not for longer',
    async (_, staleAfter, rows) => {
      const fault: Fault = { answer: () => undefined };
      const bench = await queriesStarted({ queries: calls }, faulty(fault));
      fault.answer = ofQueries({ status: 500, headers: {}, body: '' });
      await bench.platform.clock.advance(6 * minuteMs);
      expect(await linesOf(bench, /^calls\{/u)).toHaveLength(2);
      await applied(bench, { queries: withMore(calls, `stale_after: ${staleAfter}`) });
      await bench.platform.clock.advance(0);

      expect(await linesOf(bench, /^calls\{/u)).toHaveLength(rows);
      expect(await linesOf(bench, /^newrelic_query_success.* 0$/u)).toHaveLength(1);
      await bench.platform.clock.advance(5 * minuteMs);
      expect(await linesOf(bench, /^calls\{/u)).toEqual([]);
    },
  );

  it('is asked in its new interval', async () => {
    const bench = await queriesStarted({ queries: calls });
    await applied(bench, { queries: withMore(calls, 'interval: 5m') });
    await bench.platform.clock.advance(5 * minuteMs);
    const before = nrqlOf(bench, 'FROM Transaction FACET').length;
    await bench.platform.clock.advance(20 * minuteMs);

    expect(nrqlOf(bench, 'FROM Transaction FACET')).toHaveLength(before + 4);
  });
});

/** From now on, until the next poll of the query begins. */
function nextPollMs(bench: RunningDaemon, name: string): number {
  return (queryStatus(bench, name)?.nextPollMs ?? 0) - bench.platform.clock.wallMs();
}

describe('8.3 a query that a reload changes', () => {
  it.each([
    ['NRQL', calls.replace('FROM Transaction', 'FROM TransactionError')],
    ['window', withMore(calls, 'window: 1h')],
    ['delay', withMore(calls, 'delay: 10m')],
    ['max_series', withMore(calls, 'max_series: 1')],
    ['gauge', calls.replace('as: calls', 'as: { count: calls }').replace('(*)', '(*) AS count')],
    ['label', withMore(calls, 'labels: { appName: shop_name }')],
  ])('in its %s shows nothing of what it asked before, and is asked at once', async (_, next) => {
    const bench = await queriesStarted({ queries: withMore(calls, 'interval: 1h') });
    await bench.platform.clock.advance(10 * minuteMs);
    expect(await linesOf(bench, /^calls/u)).toHaveLength(2);
    const before = nrqlOf(bench, 'FROM Transaction').filter(isQuery).length;
    await applied(bench, { queries: withMore(next, 'interval: 1h') });

    expect(await linesOf(bench, /^(calls|newrelic_query)/u)).toEqual([]);
    await bench.platform.clock.advance(5000);
    expect(nrqlOf(bench, 'FROM Transaction').filter(isQuery)).toHaveLength(before + 1);
    expect(await linesOf(bench, /^newrelic_query_success.* 1$/u)).toHaveLength(1);
  });

  it(
    'shows the numbers of its new window only: pairs of two windows never stand beside each other',
    slow,
    async () => {
      const bench = await queriesStarted({ queries: withMore(calls, 'interval: 1h') });
      await bench.platform.clock.advance(64 * minuteMs);
      await applied(bench, { queries: withMore(calls, 'interval: 1h, window: 1h') });
      await bench.platform.clock.advance(30_000);

      // 120 and 60 a minute.
      expect(await linesOf(bench, /^calls/u)).toEqual([
        'calls{account="one",app_name="cart"} 3600',
        'calls{account="one",app_name="shop"} 7200',
      ]);
    },
  );

  it('takes nothing of the answer to what it asked before', async () => {
    const bench = await queriesStarted({ queries: calls }, { latencyMs: 5000 });
    await bench.platform.clock.advance(nextPollMs(bench, 'calls') + 2000);
    await applied(bench, { queries: calls.replace('FROM Transaction', 'FROM TransactionError') });
    await bench.platform.clock.advance(4000);

    expect(await linesOf(bench, /^(calls|newrelic_query)/u)).toEqual([]);
    await bench.platform.clock.advance(2000);
    expect(await linesOf(bench, /^calls/u)).not.toEqual([]);
  });
});

function isQuery({ text }: { readonly text: string }): boolean {
  return text.includes('FACET appName');
}

describe('a reload of queries', () => {
  it('causes no list, and throws none away that is being read', async () => {
    const bench = await queriesStarted({ queries: calls });
    await bench.platform.clock.advance(20_000);
    const lists = (): number => listsOf(bench).length;
    let before = lists();
    await applied(bench, { queries: `${calls}\n${errors}` });
    await bench.platform.clock.advance(500);
    expect(lists()).toBe(before);
    before = lists();
    for (const queries of [calls, errors, withMore(errors, 'window: 10m'), '']) {
      await applied(bench, { queries });
      await bench.platform.clock.advance(5 * minuteMs);
    }
    expect(lists() - before).toBe(20);
  });

  it('again and again, faster than a list is read, stops neither the list nor the newest query', async () => {
    const bench = await queriesStarted({ queries: calls }, { latencyMs: 5000 });
    const of = (number: number): string => calls.replace('calls', `calls_${number}`);
    const before = listsOf(bench).length;
    let shown = 0;
    for (let number = 1; number <= 20; number += 1) {
      await applied(bench, { queries: of(number) });
      await bench.platform.clock.advance(4900);
      shown += (await linesOf(bench, /^calls/u)).length;
    }

    // An answer takes longer than each of them is wanted.
    expect(shown).toBe(0);
    await bench.platform.clock.advance(200);
    expect(await linesOf(bench, /^calls/u)).toEqual([
      'calls_20{account="one",app_name="cart"} 300',
      'calls_20{account="one",app_name="shop"} 600',
    ]);
    expect(listsOf(bench).length - before).toBeLessThanOrEqual(2);
    expect(listsOf(bench).length).toBeGreaterThan(before);
    expect(await linesOf(bench, /^newrelic_up.* 1$/u)).toHaveLength(1);
  });

  it('while every answer to queries hangs leaves nothing behind', async () => {
    const fault: Fault = { answer: ofQueries('hang') };
    const bench = await queriesStarted({ queries: `${calls}\n${errors}` }, faulty(fault));
    fault.answer = () => undefined;
    await applied(bench, { queries: empty });
    await bench.platform.clock.advance(1000);

    expect(bench.daemon.status()[0]?.queries?.map(({ name }) => name)).toEqual(['empty']);
    expect(await linesOf(bench, /^(calls|errors)|query="(calls|errors)"/u)).toEqual([]);
    expect(await linesOf(bench, /^newrelic_query_rows.* 0$/u)).toHaveLength(1);
    expect(bench.daemon.status()[0]?.requestsInFlight).toBe(0);
  });
});
