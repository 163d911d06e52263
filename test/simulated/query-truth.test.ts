import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { targetsJson } from '../../src/web/status/targets-json.ts';
import { textOf } from '../support/html-parts.ts';
import {
  linesOf,
  nrqlOf,
  ownLinesOf,
  queriesStarted,
  queryConfig,
  queryStatus,
  statusSourceOf,
} from '../support/query-daemon.ts';
import {
  aRunningDaemon,
  type RunningDaemon,
  type RunningDaemonOptions,
} from '../support/running-daemon.ts';

const calls =
  '  - { as: calls, stale_after: 5m, nrql: "SELECT count(*) AS n FROM Transaction FACET appName, name LIMIT 20" }';

/** What New Relic says of one NRQL. */
interface NrqlAnswer {
  results: Record<string, unknown>[];
  otherResult: Record<string, unknown>;
  totalResult: Record<string, unknown>;
  metadata: { facets: string[]; timeWindow: { begin: number; end: number } };
}
interface Body {
  data: { actor: { account: { nrql: NrqlAnswer | null } } };
  errors?: unknown[];
}

/** Returns whether the sums of the answer stay as they were; else they follow its rows. */
type Change = (nrql: NrqlAnswer, body: Body) => boolean | void;

/** How answers to queries are changed on their way; `undefined` for not at all. A test may change it. */
interface Changes {
  change: Change | undefined;
}

function changing(changes: Changes): Pick<RunningDaemonOptions, 'wire'> {
  return {
    wire: (wire) => ({
      ...wire,
      send: async (...request) => {
        const answer = await wire.send(...request);
        const { change } = changes;
        if (request[0].operation !== 'query' || change === undefined) return answer;
        const body = JSON.parse(answer.body) as Body;
        const { nrql } = body.data.actor.account;
        if (nrql !== null && change(nrql, body) !== true) {
          const amounts = nrql.results.map(({ n }) => (typeof n === 'number' ? n : 0));
          nrql.otherResult = { n: 0 };
          nrql.totalResult = { n: amounts.reduce((sum, amount) => sum + amount, 0) };
        }
        return { ...answer, body: JSON.stringify(body) };
      },
    }),
  };
}

const lies: readonly [what: string, change: Change, reason?: string][] = [
  [
    'says that it is grouped by something else',
    ({ metadata }) => {
      metadata.facets = ['host', 'name'];
    },
  ],
  [
    'says that it is grouped in another order',
    ({ metadata }) => {
      metadata.facets.reverse();
    },
  ],
  [
    'has a row without its facets',
    ({ results }) => {
      results[0] = { n: 5 };
    },
  ],
  [
    'has a row with one facet of two',
    ({ results }) => {
      results[0] = { ...results[0], facet: ['shop'] };
    },
  ],
  [
    'has a row with three facets of two',
    ({ results }) => {
      results[0] = { ...results[0], facet: ['a', 'b', 'c'] };
    },
  ],
  ...(['shop', ['shop'], ['a', 'b', 'c']] as const).map((facet): (typeof lies)[number] => [
    `says only by ${JSON.stringify(facet)} what a row is about`,
    ({ results }) => {
      results[0] = { n: 5, facet };
    },
  ]),
  [
    'says twice what a row is about, not alike',
    ({ results }) => {
      results[0] = { ...results[0], appName: 'x' };
    },
  ],
  [
    'has the same facets twice',
    ({ results }) => {
      results.push({ ...results[0] });
    },
  ],
  [
    'is about twice the time',
    ({ metadata: { timeWindow } }) => {
      timeWindow.begin -= 5 * minuteMs;
    },
  ],
  [
    'is about a fifth of the time',
    ({ metadata: { timeWindow } }) => {
      timeWindow.begin += 4 * minuteMs;
    },
  ],
  [
    'is about an hour ago',
    ({ metadata: { timeWindow } }) => {
      timeWindow.begin -= 60 * minuteMs;
      timeWindow.end -= 60 * minuteMs;
    },
  ],
  [
    'comes with an error',
    (_, body) => {
      body.errors = [{ message: 'shard lost' }];
    },
    'server',
  ],
];

describe('11.1 an answer to a query that', () => {
  it.each(lies)(
    '%s is a failure: the values before are held, and none of its own is shown',
    async (_, lie, reason = 'schema') => {
      const changes: Changes = { change: undefined };
      const bench = await queriesStarted({ queries: calls }, changing(changes));
      const before = await linesOf(bench, /^calls/u);
      changes.change = (nrql, body) => {
        // Seen, if a value of this answer were shown.
        for (const row of nrql.results) row['n'] = -1;
        return lie(nrql, body);
      };
      await bench.platform.clock.advance(2 * minuteMs);

      expect(before).not.toEqual([]);
      expect(await linesOf(bench, /^calls/u)).toEqual(before);
      expect(queryStatus(bench, 'calls')).toMatchObject({
        state: 'failing',
        isHeld: true,
        failure: { reason },
      });
      expect(await linesOf(bench, /^newrelic_query_success.* 0$/u)).toHaveLength(1);
      await bench.platform.clock.advance(5 * minuteMs);
      expect(await linesOf(bench, /^calls/u)).toEqual([]);
      changes.change = undefined;
      await bench.platform.clock.advance(minuteMs);
      expect(await linesOf(bench, /^calls/u)).toHaveLength(before.length);
    },
  );

  it.each([
    { by: 'the names of its facets', without: ['facet'] },
    { by: 'a list of its facets', without: ['appName', 'name'] },
  ])('says by $by alone what a row is about is shown', async ({ without }) => {
    const changes: Changes = { change: undefined };
    const bench = await queriesStarted({ queries: calls }, changing(changes));
    const labelsOf = async (): Promise<readonly string[]> =>
      (await linesOf(bench, /^calls/u)).map((line) => line.split(' ')[0] ?? '');
    const before = await labelsOf();
    changes.change = ({ results }) => {
      for (const row of results) for (const member of without) Reflect.deleteProperty(row, member);
    };
    await bench.platform.clock.advance(minuteMs);

    expect(before).not.toEqual([]);
    expect(await labelsOf()).toEqual(before);
    expect(queryStatus(bench, 'calls')?.state).toBe('up');
  });

  it.each([[[null, '']], [['', null]]])(
    'has rows that look alike, such as of %j, shows one of them, the same each time, and counts the rest',
    async (names) => {
      const changes: Changes = {
        change: ({ results }) => {
          const row = (name: string | null) => ({ facet: ['shop', name], n: name === '' ? 1 : 2 });
          results.splice(0, results.length, ...names.map(row));
        },
      };
      const bench = await queriesStarted({ queries: calls }, changing(changes));

      expect(await linesOf(bench, /^calls/u)).toEqual([
        'calls{account="one",app_name="shop",name=""} 2',
      ]);
      const answers = nrqlOf(bench, 'FROM Transaction').length;
      expect(await ownLinesOf(bench, /^newrelic_exporter_invalid_samples.*duplicate/u)).toEqual([
        `newrelic_exporter_invalid_samples_total{account="one",reason="duplicate"} ${answers}`,
      ]);
    },
  );

  it.each([
    { rows: 'c9 a8 b7', shown: 'a8 c9' },
    { rows: 'c9 b9 a9', shown: 'a9 b9' },
  ])('has more rows than max_series, $rows, shows the first: $shown', async ({ rows, shown }) => {
    const changes: Changes = {
      change: ({ results }) => {
        const all = rows.split(' ').map(([name, n]) => ({ facet: [name, 'x'], n: Number(n) }));
        results.splice(0, results.length, ...all);
      },
    };
    const queries = calls.replace(' nrql', ' max_series: 2, nrql');
    const lines = await linesOf(await queriesStarted({ queries }, changing(changes)), /^calls/u);

    expect(lines.map((one) => one.replace(/.*app_name="(.)".* /u, '$1')).join(' ')).toBe(shown);
  });

  it.each([
    { window: '6h', stepMinutes: 5 },
    { window: '7h', stepMinutes: 10 },
    { window: '13d', stepMinutes: 60 },
    { window: '14d', stepMinutes: 180 },
  ])(
    'is about $window, moved by a step of the roll-up ($stepMinutes minutes), is shown, and by more is not',
    async ({ window, stepMinutes }) => {
      const movedBy =
        (minutes: number): Change =>
        ({ results, metadata: { timeWindow } }) => {
          for (const row of results) row['n'] = minutes;
          timeWindow.begin -= minutes * minuteMs;
          timeWindow.end -= minutes * minuteMs;
        };
      const changes: Changes = { change: movedBy(stepMinutes) };
      const queries = calls.replace(' nrql', ` window: ${window}, nrql`);
      const bench = await queriesStarted({ queries }, changing(changes));
      const shown = await linesOf(bench, /^calls/u);
      changes.change = movedBy(stepMinutes + 1);
      await bench.platform.clock.advance(minuteMs);

      expect(shown).not.toEqual([]);
      for (const line of shown) expect(line).toMatch(new RegExp(` ${stepMinutes}$`, 'u'));
      expect(await linesOf(bench, /^calls/u)).toEqual(shown);
      expect(queryStatus(bench, 'calls')?.failure?.reason).toBe('schema');
    },
  );

  it('is whole but moved by a step of the roll-up is shown, with the window that it states', async () => {
    const changes: Changes = {
      change: ({ results, metadata: { timeWindow } }) => {
        for (const row of results) row['n'] = -1;
        timeWindow.begin -= 2 * minuteMs;
        timeWindow.end -= 2 * minuteMs;
      },
    };
    const bench = await queriesStarted({ queries: calls }, changing(changes));

    expect(await linesOf(bench, /^calls.* -1$/u)).not.toEqual([]);
    const nowMs = bench.platform.clock.wallMs();
    const ageMs = nowMs - (queryStatus(bench, 'calls')?.reading?.windowEndMs ?? 0);
    expect(ageMs).toBeGreaterThanOrEqual(5 * minuteMs);
  });
});

interface Told {
  readonly headline: boolean;
  readonly title: string | undefined;
  readonly row: boolean;
  readonly json: unknown;
  readonly state: string | undefined;
  readonly metric: readonly string[];
  readonly lines: readonly unknown[];
}

/** All that says that a query never has a value. */
async function toldOf(bench: RunningDaemon): Promise<Told> {
  const source = statusSourceOf(bench);
  const html = statusPage(source, new URLSearchParams(), { telemetryPath: '/metrics' });
  const shown = textOf(html);
  const query = { state: 'any', scrapePool: undefined, applicationId: undefined } as const;
  const targets = JSON.parse([...targetsJson(source, query)].join('')) as {
    data: { queries: { missing: unknown }[] };
  };
  return {
    headline: shown.includes('1 query never has a value'),
    title: /<title>([^<]*)/u.exec(html)?.[1],
    row: /no value\s+calls/u.test(shown),
    json: targets.data.queries[0]?.missing,
    state: bench.daemon.status()[0]?.state,
    metric: await ownLinesOf(bench, /^newrelic_exporter_query_missing/u),
    lines: bench.logger.lines
      .filter(({ message }) => message === 'query never has a value')
      .map(({ fields }) => fields['remedy']),
  };
}

const nothing = { headline: false, row: false, json: null, state: 'up', metric: [], lines: [] };

describe('11.3 a query that never has a value', () => {
  const valueless: readonly [string, Change, string, string?][] = [
    [
      'no rows',
      ({ results }) => {
        results.length = 0;
      },
      'it has no rows',
    ],
    [
      'null in all rows',
      ({ results }) => {
        for (const row of results) row['n'] = null;
      },
      'null',
    ],
    [
      'a text in all rows',
      ({ results }) => {
        for (const row of results) row['n'] = 'x';
      },
      'text',
    ],
    [
      'a list in all rows',
      ({ results }) => {
        for (const row of results) row['n'] = [1];
      },
      'text',
    ],
    [
      'one row that is too large',
      () => undefined,
      'max_series',
      '  - { as: { p: calls }, max_series: 1, nrql: "SELECT percentile(duration, 50, 95) AS p FROM Transaction" }',
    ],
  ];

  it.each(valueless)(
    'because of %s is named, and amber, after its second poll, until it has one',
    async (_, change, remedy, queries = calls) => {
      const changes: Changes = { change };
      const bench = await aRunningDaemon(await queryConfig({ queries }), changing(changes));
      await bench.platform.clock.advance(2000);
      const atFirst = await toldOf(bench);
      await bench.platform.clock.advance(minuteMs);
      const told = await toldOf(bench);
      await bench.platform.clock.advance(20 * minuteMs);

      // Series that are left out are a problem of their own, from the first answer on.
      const state = remedy === 'max_series' ? 'degraded' : 'up';
      expect(atFirst).toMatchObject({ ...nothing, state });
      expect(told).toMatchObject({ headline: true, row: true, state: 'degraded' });
      expect(told.title).not.toBe(atFirst.title);
      expect(told.json).toContain(remedy);
      expect(told.metric).toEqual([
        'newrelic_exporter_query_missing{account="one",query="calls"} 1',
      ]);
      expect(told.lines).toEqual([told.json]);
      expect(await toldOf(bench)).toEqual(told);
      expect(await linesOf(bench, /^newrelic_query_success.* 1$/u)).toHaveLength(1);
      if (remedy === 'max_series') return;
      changes.change = undefined;
      await bench.platform.clock.advance(minuteMs);
      expect(await toldOf(bench)).toMatchObject({ ...nothing, lines: told.lines });
      expect(await linesOf(bench, /^calls/u)).not.toEqual([]);
      // It has had one.
      changes.change = change;
      await bench.platform.clock.advance(5 * minuteMs);
      expect(await toldOf(bench)).toMatchObject({ ...nothing, lines: told.lines });
    },
  );

  it('says how many rows there are, whatever becomes of them', async () => {
    const changes: Changes = {
      change: ({ results }) => {
        for (const row of results) row['n'] = null;
      },
    };
    const bench = await queriesStarted({ queries: calls }, changing(changes));

    expect((await linesOf(bench, /^newrelic_query_rows/u))[0]).toMatch(/ [1-9]\d*$/u);
  });
});
