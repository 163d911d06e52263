import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { eachAfter, slow } from '../support/slow.ts';
import { applicationListText } from '../support/vendor-documents.ts';
import { expectListHeld, fewBadAnswers } from './bad-answers.ts';
import { usualApplications, withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { sources } from './sources.ts';

const everyone = ['neighbour 101', 'neighbour 102', 'production 101', 'production 102'];
const up = 'newrelic_up';
const hostRpm = 'newrelic_application_host_requests_per_minute';
const production = { account: 'production' };

/** From the third minute to the end of the seventh. */
const badTime = { fromMs: 2 * minuteMs, untilMs: 7 * minuteMs } as const;
const lists = { endpoints: ['applications'], ...badTime } as const;

const shopText = { id: '101', name: '"shop"', hostIds: '1011,1012' };
const workerText = { id: '102', name: '"worker"', hostIds: '1021' };

describe.each(sources)('$name', (source) => {
  const badLists = { ...source.lists, ...badTime };

  describe('a list of applications that cannot be read for five minutes', () => {
    const notFound = {
      what: '404',
      fault: { kind: 'status', status: 404 },
      reason: 'not_found',
      isRetried: false,
    } as const;

    eachAfter(2, [...fewBadAnswers(source.account), notFound])(
      'removes nothing and stops no poll: $what',

      async (row) => {
        await expect(expectListHeld(source, row)).resolves.toBeUndefined();
      },
    );

    it(
      'drops what only the list says after stale_after, and goes on with the rest',
      slow,
      async () => {
        const when = { ...badLists, untilMs: 25 * minuteMs };
        const script: FaultRule[] = [{ when, fault: { kind: 'html' } }];
        await withTimedFaults({ source: source.account, script }, async (bench) => {
          const shop = { ...production, app_id: '101' };

          await bench.advance(16.5 * minuteMs);
          const held = await bench.scrape();
          await bench.advance(3 * minuteMs);
          const stale = await bench.scrape();
          await bench.advance(7 * minuteMs);
          const after = await bench.scrape();

          const pages = [held, stale, after];
          const valuesOf = (name: string): unknown[] => pages.map((page) => page.value(name, shop));
          expect(valuesOf('newrelic_application_hosts')).toEqual([2, undefined, 2]);
          expect(valuesOf('newrelic_application_reporting')).toEqual([1, undefined, 1]);
          expect(valuesOf('newrelic_application_poll_success')).toEqual([1, 1, 1]);
          expect(freshness(after, bench.clock)).toEqual(everyone);
        });
      },
    );
  });
});

describe('11.1 a list of the REST API that is not whole', () => {
  it.each([
    {
      what: 'its second page fails',
      script: [
        {
          when: { ...lists, calls: { every: 2 } },
          fault: {
            kind: 'document',
            body: applicationListText([shopText]),
            link: '</v2/applications.json?page=2>; rel="next"',
          },
        },
        { when: lists, fault: { kind: 'status', status: 422 } },
      ],
      reason: 'client',
    },
    {
      what: 'its second page fails, and the first one lists fewer hosts',
      script: [
        {
          when: { ...lists, calls: { every: 2 } },
          fault: {
            kind: 'document',
            body: applicationListText([{ ...shopText, hostIds: '1012' }]),
            link: '</v2/applications.json?page=2>; rel="next"',
          },
        },
        { when: lists, fault: { kind: 'status', status: 422 } },
      ],
      reason: 'client',
    },
    {
      what: 'its next page has no number',
      script: [
        {
          when: lists,
          fault: {
            kind: 'document',
            body: applicationListText([shopText]),
            link: '</v2/applications.json?cursor=abc123>; rel="next"',
          },
        },
      ],
      reason: 'schema',
    },
    {
      what: 'it is empty, and its applications are still there by their ids',
      script: [
        {
          when: { ...lists, calls: { every: 2 } },
          fault: { kind: 'document', body: applicationListText([]) },
        },
      ],
      reason: 'server',
    },
    {
      what: 'an element has no id',
      script: [
        {
          when: lists,
          fault: {
            kind: 'document',
            body: applicationListText([shopText, { ...workerText, id: '"102a"' }]),
          },
        },
      ],
      reason: 'schema',
    },
  ] satisfies { what: string; script: FaultRule[]; reason: string }[])(
    'removes no application and no host that it leaves out: $what',
    async ({ script, reason }) => {
      await withTimedFaults({ script }, async (bench) => {
        await bench.advance(6.9 * minuteMs);
        const during = await bench.scrape();

        expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(4);
        expect(during.value(up, production)).toBe(0);
        expect(freshness(during, bench.clock)).toEqual(everyone);
        const web = { ...production, transaction_type: 'web' };
        expect(during.series(hostRpm, web).map(({ host_id: id }) => id)).toEqual(['1011', '1012']);
        expect(bench.logs('discovery failed')).toMatchObject([{ error: { reason } }]);
      });
    },
  );

  it('removes no application of which it can only read the id, and is whole otherwise', async () => {
    const body = applicationListText([shopText, { ...workerText, name: '7' }]);
    const script: FaultRule[] = [{ when: lists, fault: { kind: 'document', body } }];
    await withTimedFaults({ script }, async (bench) => {
      await bench.advance(6.9 * minuteMs);
      const during = await bench.scrape();

      expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(4);
      expect(during.value(up, production)).toBe(1);
      expect(freshness(during, bench.clock)).toEqual(everyone);
    });
  });

  it(
    'goes on saying what it says of those that it finds, and not of others after stale_after',
    slow,
    async () => {
      const when = { ...lists, untilMs: 25 * minuteMs };
      const link = '</v2/applications.json?page=2>; rel="next"';
      const body = applicationListText([{ ...shopText, more: '"reporting":true' }]);
      const script: FaultRule[] = [
        { when: { ...when, calls: { every: 2 } }, fault: { kind: 'document', body, link } },
        { when, fault: { kind: 'status', status: 422 } },
      ];
      await withTimedFaults({ script }, async (bench) => {
        await bench.advance(20 * minuteMs);
        const page = await bench.scrape();

        const reporting = page.series('newrelic_application_reporting', production);
        expect(page.value(up, production)).toBe(0);
        expect(reporting.map(({ app_id: id }) => id)).toEqual(['101']);
      });
    },
  );

  it('tells nothing of how many applications entries exclude', slow, async () => {
    const entries = [
      { selector: { kind: 'match', pattern: /^worker$/u }, exclude: true },
      {},
    ] as const;
    const link = '</v2/applications.json?page=2>; rel="next"';
    const body = applicationListText([shopText]);
    const script: FaultRule[] = [
      { when: { ...lists, calls: { every: 2 } }, fault: { kind: 'document', body, link } },
      { when: lists, fault: { kind: 'status', status: 422 } },
    ];
    await withTimedFaults({ entries, script }, async (bench) => {
      const excluded = (): number | undefined => bench.daemon.status()[0]?.excludedApplications;

      await bench.advance(1.9 * minuteMs);
      const before = excluded();
      await bench.advance(5 * minuteMs);

      expect((await bench.scrape()).value(up, production)).toBe(0);
      expect([before, excluded()]).toEqual([1, 1]);
    });
  });

  it('removes all when the list is empty and nothing of it is there by its id either', async () => {
    await withTimedFaults({}, async (bench) => {
      await bench.advance(3 * minuteMs);
      for (const id of [101, 102]) bench.faulty.simulator.fleet.removeApplication(id);
      await bench.advance(1.1 * minuteMs);
      const page = await bench.scrape();

      const asked = bench.faulty.simulator.journal.count(({ query }) =>
        decodeURIComponent(query).includes('[ids]=101,102'),
      );
      expect(asked).toBe(1);
      expect(page.series('newrelic_application_info', production)).toEqual([]);
      expect(page.value(up, production)).toBe(1);
    });
  });

  it('removes at once what a whole list leaves out, and lets it come back', async () => {
    const fault = { kind: 'document', body: applicationListText([shopText]) } as const;
    await withTimedFaults({ script: [{ when: lists, fault }] }, async (bench) => {
      await bench.advance(3 * minuteMs);
      const during = await bench.scrape();
      await bench.advance(5.5 * minuteMs);
      const after = await bench.scrape();

      const worker = { ...production, app_id: '102' };
      expect(bench.faulty.faults.hits().length).toBeGreaterThan(3);
      expect(during.series('newrelic_application_info', worker)).toEqual([]);
      expect(during.series('newrelic_application_requests_per_minute', worker)).toEqual([]);
      expect(during.value(up, production)).toBe(1);
      expect(freshness(after, bench.clock)).toEqual(everyone);
    });
  });
});

describe('11.1 a list of ids that leaves one out', () => {
  it('is not believed before that id was asked for alone, even if it was missing once', async () => {
    const cart = { id: 103, name: 'cart', kind: 'web', webRpm: 600, hosts: 1 } as const;
    const simulator = { fleet: { applications: [...usualApplications, cart] } };
    const entries = ['101', '102', '103'].map((id) => ({ selector: { kind: 'id', id } as const }));
    const { endpoints } = lists;
    const untilMs = 1.5 * minuteMs;
    const bodyOf = (...texts: (typeof shopText)[]): FaultRule['fault'] => ({
      kind: 'document',
      body: applicationListText(texts),
    });
    const script: FaultRule[] = [
      { when: { endpoints, untilMs, queryIncludes: '[ids]=101' }, fault: bodyOf(shopText) },
      { when: { endpoints, untilMs }, fault: bodyOf() },
      // By now all have been found. Alone, each is found from now on too.
      {
        when: { endpoints, fromMs: 4 * minuteMs, queryIncludes: '102,103' },
        fault: bodyOf(shopText, workerText),
      },
    ];
    await withTimedFaults({ simulator, entries, script }, async (bench) => {
      const pages: (number | undefined)[] = [];
      for (const atMs of [1, 3.9, 6.9].map((minutes) => minutes * minuteMs)) {
        await bench.advance(atMs - bench.clock.monotonicMs());
        const page = await bench.scrape();
        const missing = { ...production, selector: 'id=103' };
        pages.push(page.value('newrelic_exporter_app_missing', missing));
      }

      const hits = script.map((rule) => bench.faulty.faults.hits(rule).length > 0);
      expect(hits).toEqual([true, true, true]);
      expect(pages).toEqual([1, undefined, undefined]);
      expect(freshness(await bench.scrape(), bench.clock)).toEqual([...everyone, 'production 103']);
    });
  });
});

describe('11.1 a list of ids that leaves out more than are asked for alone at a time', () => {
  it('removes none of them', slow, async () => {
    const ids = Array.from({ length: 15 }, (_, index) => 101 + index);
    const applications = ids.map(
      (id) => ({ id, name: `app ${id}`, kind: 'web', hosts: 0 }) as const,
    );
    const entries = ids.map((id) => ({ selector: { kind: 'id', id: `${id}` } as const }));
    const when = { endpoints: lists.endpoints, fromMs: 4 * minuteMs, queryIncludes: ',' };
    const script: FaultRule[] = [
      { when, fault: { kind: 'document', body: applicationListText([shopText]) } },
    ];
    await withTimedFaults(
      { simulator: { fleet: { applications } }, entries, script },
      async (bench) => {
        const fresh: number[] = [];
        for (const minute of [3.9, 4.9, 6.9, 8.9]) {
          await bench.advance(minute * minuteMs - bench.clock.monotonicMs());
          const shown = freshness(await bench.scrape(), bench.clock);
          fresh.push(shown.filter((name) => name.startsWith('production')).length);
        }

        expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(2);
        expect(fresh).toEqual([15, 15, 15, 15]);
      },
    );
  });
});

describe('the Link header of a list', () => {
  const body = applicationListText([shopText, workerText]);

  it.each([
    {
      what: 'that names the page itself',
      link: '<https://api.newrelic.com/v2/applications.json?page={page}>; rel="next"',
      pages: ['1'],
      isWhole: 0,
    },
    {
      what: 'with a blank cursor',
      link: '</v2/applications.json?cursor=>; rel="next"',
      pages: ['1'],
    },
    {
      what: 'to another host',
      link: '<http://evil.invalid/v2/applications.json?page=2>; rel="next"',
      pages: ['1', '2'],
    },
  ])('is read for its page number alone, $what', async ({ link, pages, isWhole = 1 }) => {
    const when = { ...lists, calls: { every: pages.length } };
    await withTimedFaults(
      { script: [{ when, fault: { kind: 'document', body, link } }] },
      async (bench) => {
        await bench.advance(6 * minuteMs);
        const page = await bench.scrape();

        const { journal } = bench.faulty.simulator;
        const asked = journal
          .entries(
            ({ path, monotonicMs }) =>
              path === '/v2/applications.json' && monotonicMs >= lists.fromMs,
          )
          .map(({ query }) => new URLSearchParams(query).get('page') ?? '1');
        expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(3);
        expect(asked.slice(0, pages.length)).toEqual(pages);
        expect(new Set(asked)).toEqual(new Set(pages));
        expect(page.value(up, production)).toBe(isWhole);
        expect(freshness(page, bench.clock)).toEqual(everyone);
      },
    );
  });

  it('may name a next page for ever: the list is given up, not the polls', async () => {
    const link = '</v2/applications.json?page={next}>; rel="next"';
    const fault = { kind: 'document', body, link } as const;
    await withTimedFaults({ script: [{ when: lists, fault }] }, async (bench) => {
      await bench.advance(6 * minuteMs);
      const during = await bench.scrape();
      const duringFresh = freshness(during, bench.clock);
      await bench.advance(4 * minuteMs);
      const after = await bench.scrape();

      expect(bench.faulty.faults.hits().length).toBeGreaterThan(2);
      expect(during.value(up, production)).toBe(0);
      expect(duringFresh).toEqual(everyone);
      expect(bench.logs('discovery failed')).toMatchObject([{ error: { reason: 'schema' } }]);
      expect(after.value(up, production)).toBe(1);
    });
  });
});

describe('a host that is chosen by its name', () => {
  it('costs no call since the list of applications no longer has it', async () => {
    const rule: FaultRule = {
      when: { endpoints: ['applications'], fromMs: 3 * minuteMs },
      fault: {
        kind: 'document',
        body: applicationListText([{ ...shopText, hostIds: '1012' }, workerText]),
      },
    };
    const entries = [{ hosts: { kind: 'match', pattern: /./u } }] as const;
    await withTimedFaults({ script: [rule], entries }, async (bench) => {
      await bench.advance(8 * minuteMs);

      const [hit] = bench.faulty.faults.hits(rule);
      const callsFor = (id: string): readonly boolean[] =>
        bench.faulty.simulator.journal
          .entries(({ hostId }) => hostId === id)
          .map(({ monotonicMs }) => monotonicMs > (hit?.request.monotonicMs ?? Infinity));
      expect(new Set(callsFor('1011'))).toEqual(new Set([false]));
      expect(new Set(callsFor('1012'))).toEqual(new Set([false, true]));
    });
  });
});
