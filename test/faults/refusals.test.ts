import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/model/clock.ts';
import { minuteMs } from '../../src/model/time.ts';
import { eachAfter } from '../support/slow.ts';
import { type VendorOptions, withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { publishedOf } from './published-of.ts';
import { sources } from './sources.ts';

const everyone = ['neighbour 101', 'neighbour 102', 'production 101', 'production 102'];
const neighbours = ['neighbour 101', 'neighbour 102'];
const production = { account: 'production' };
const shop = { ...production, app_id: '101' };
const up = 'newrelic_up';

describe.each(sources)('$name', (source) => {
  describe('8.4 a new key in the file', () => {
    it('is used from the next discovery on, although the old one is not refused', async () => {
      const keys = ['NRAK-OLDSECRET', 'NRAK-NEWSECRET'];
      let [text] = keys;
      const simulator = { apiKeys: keys };
      const keyFile = (): string => text ?? '';
      await withTimedFaults({ source: source.account, simulator, keyFile }, async (bench) => {
        await bench.advance(2.5 * minuteMs);
        [, text] = keys;
        await bench.advance(5 * minuteMs);

        const callsWith = (keyIndex: number): readonly number[] =>
          bench.faulty.simulator.journal
            .entries((entry) => entry.keyIndex === keyIndex)
            .map(({ monotonicMs }) => monotonicMs / minuteMs);
        const [before, after] = [callsWith(0), callsWith(1)];
        expect(Math.max(...before)).toBeLessThan(3.6);
        expect(Math.min(...after)).toBeGreaterThan(2.5);
        expect(after.length).toBeGreaterThan(before.length);
        expect(bench.logs('API key changed')).toHaveLength(1);
        expect(freshness(await bench.scrape(), bench.clock)).toEqual(everyone);
      });
    });
  });

  describe('8.4 a key that is refused', () => {
    eachAfter(1, [
      { what: '401 to everything', status: 401, endpoints: undefined },
      { what: '403 to everything', status: 403, endpoints: undefined },
    ])(
      'is tried once a minute, with the values held, until it is accepted again: $what',
      async (row) => {
        const when = { endpoints: row.endpoints, fromMs: 2 * minuteMs, untilMs: 12 * minuteMs };
        const fault = { kind: 'status', status: row.status } as const;
        const options = { source: source.account, script: [{ when, fault }] };
        await withTimedFaults(options, async (bench) => {
          await bench.advance(1.9 * minuteMs);
          const before = await bench.scrape();
          await bench.advance(10 * minuteMs);
          const during = await bench.scrape();
          const duringFresh = freshness(during, bench.clock);
          await bench.advance(3 * minuteMs);
          const after = await bench.scrape();

          const asked = bench.faulty.faults.hits().length;
          expect(asked).toBeGreaterThanOrEqual(10);
          expect(asked).toBeLessThanOrEqual(10 + 6);
          expect(during.value(up, production)).toBe(0);
          expect(publishedOf(during, shop)).toEqual(publishedOf(before, shop));
          expect(duringFresh).toEqual(neighbours);
          expect(after.value(up, production)).toBe(1);
          expect(freshness(after, bench.clock)).toEqual(everyone);
          expect(bench.logs('discovery failed')).toMatchObject([{ error: { reason: 'auth' } }]);
          expect(bench.logs('discovery works again')).toHaveLength(1);
        });
      },
    );

    it.each([
      { what: '401', status: 401, apartMs: 0 },
      { what: '403', status: 403, apartMs: 0 },
      {
        what: '401, of which the next arrives when the new one is in use',
        status: 401,
        apartMs: 2000,
      },
    ])(
      'is read again at once, and a new one is used for the very same call: $what',
      async ({ status, apartMs }) => {
        let refusals = 0;
        const keys = ['NRAK-OLDSECRET', 'NRAK-NEWSECRET'];
        let text = 'NRAK-OLDSECRET\n';
        const rule = {
          when: { keyIndex: 0, fromMs: 155_000 },
          fault: { kind: 'status', status },
        } as const;
        const options = {
          source: source.account,
          script: [rule],
          simulator: { apiKeys: keys },
          network: (wire, clock) => ({
            ...wire,
            send: async (request, headers, signal) => {
              const answer = await wire.send(request, headers, signal);
              if (answer.status !== status) return answer;
              refusals += 1;
              await sleep(clock, refusals * apartMs, signal);
              return answer;
            },
          }),
          // The file is read every thirty seconds: polls find the refusal before.
          entries: [{ poll: { discoveryIntervalMs: 10 * minuteMs, intervalMs: 20_000 } }],
          keyFile: () => text,
        } satisfies VendorOptions;
        await withTimedFaults(options, async (bench) => {
          await bench.advance(155_000);
          text = 'NRAK-NEWSECRET\n';
          await bench.advance(5 * minuteMs);
          const page = await bench.scrape();

          const { journal } = bench.faulty.simulator;
          const isOld = ({ keyIndex }: { readonly keyIndex: number | undefined }): boolean =>
            keyIndex === 0;
          expect(
            journal.count((entry) => isOld(entry) && entry.monotonicMs < 2 * minuteMs),
          ).toBeGreaterThan(2 * source.calls.poll);
          expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(apartMs === 0 ? 1 : 2);
          expect(bench.faulty.faults.hits().length).toBeLessThanOrEqual(3);
          expect(
            page.total('newrelic_exporter_api_request_retries_total', { reason: 'auth' }),
          ).toBe(bench.faulty.faults.hits().length);
          expect(page.value(up, production)).toBe(1);
          expect(freshness(page, bench.clock)).toEqual(everyone);
          expect(bench.logs('API key changed')).toHaveLength(1);
          const changed = 'newrelic_exporter_api_key_last_change_timestamp_seconds';
          const ageSeconds = bench.clock.wallMs() / 1000 - (page.value(changed, production) ?? 0);
          expect(ageSeconds).toBeLessThan(5 * 60);
          expect(page.value('newrelic_exporter_api_key_readable', production)).toBe(1);
          expect(bench.logs('poll failed')).toEqual([]);
          expect(bench.logs('discovery failed')).toEqual([]);
        });
      },
    );

    it('is kept in force while its file cannot be read', async () => {
      let text = 'NRAK-ONLYSECRET';
      const options = {
        source: source.account,
        simulator: { apiKeys: ['NRAK-ONLYSECRET'] },
        keyFile: () => text,
      };
      await withTimedFaults(options, async (bench) => {
        await bench.advance(minuteMs);
        text = '';
        await bench.advance(3 * minuteMs);
        const page = await bench.scrape();
        const freshOnes = freshness(page, bench.clock);
        text = 'NRAK-ONLYSECRET';
        await bench.advance(2 * minuteMs);
        const after = await bench.scrape();

        expect(bench.logs('API key not readable, keeping the old')).toHaveLength(1);
        expect(freshOnes).toEqual(everyone);
        const readable = 'newrelic_exporter_api_key_readable';
        expect([page.value(readable, production), after.value(readable, production)]).toEqual([
          0, 1,
        ]);
      });
    });
  });
});

describe('a list of names of hosts that fails', () => {
  it('is not asked for again at once: the values do not need it', async () => {
    const rule = {
      when: { endpoints: ['hosts'], applicationId: '101' },
      fault: { kind: 'status', status: 500 },
    } as const;
    await withTimedFaults({ script: [rule] }, async (bench) => {
      await bench.advance(45_000);

      expect(bench.faulty.faults.hits(rule)).toHaveLength(1);
      expect(freshness(await bench.scrape(), bench.clock)).toEqual(everyone);
    });
  });
});

describe('a 404 of the REST API', () => {
  const notFound = { kind: 'status', status: 404 } as const;
  const during = { fromMs: 2 * minuteMs, untilMs: 5 * minuteMs };

  it('for an application takes its series away at once, and no others, until it is back', async () => {
    const endpoints = ['application_metrics', 'host_metrics'] as const;
    const when = { endpoints, applicationId: '101', ...during };
    await withTimedFaults({ script: [{ when, fault: notFound }] }, async (bench) => {
      await bench.advance(4.5 * minuteMs);
      const gone = await bench.scrape();
      const goneFresh = freshness(gone, bench.clock);
      await bench.advance(4 * minuteMs);
      const back = await bench.scrape();

      expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(2);
      expect(bench.pages[0]).not.toContain('account="production",app_id="101"');
      expect(goneFresh).toEqual([...neighbours, 'production 102']);
      expect(freshness(back, bench.clock)).toEqual(everyone);
      expect(bench.logs('application is gone')).toMatchObject([{ level: 'info', app_id: '101' }]);
      expect(bench.logs().filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
    });
  });

  it('for a host takes its series away, and the poll is a success', async () => {
    const when = { hostId: '1011', ...during };
    await withTimedFaults({ script: [{ when, fault: notFound }] }, async (bench) => {
      const hosts = 'newrelic_application_host_requests_per_minute';

      await bench.advance(4.5 * minuteMs);
      const gone = await bench.scrape();
      const goneFresh = freshness(gone, bench.clock);
      await bench.advance(2 * minuteMs);
      const back = await bench.scrape();

      expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(2);
      expect(gone.series(hosts, shop).map(({ host_id: id }) => id)).toEqual(['1012', '1012']);
      expect(goneFresh).toEqual(everyone);
      expect(back.series(hosts, shop)).toHaveLength(4);
      expect(bench.logs('poll failed')).toEqual([]);
    });
  });

  it('for the names of hosts leaves the hosts with their ids for names', async () => {
    await withTimedFaults({ simulator: { hostsEndpoint: false } }, async (bench) => {
      await bench.advance(3 * minuteMs);
      const page = await bench.scrape();

      const names = page.series('newrelic_application_host_requests_per_minute', {
        ...production,
        transaction_type: 'other',
      });
      expect(names.map(({ host_name: name }) => name)).toEqual(['1011', '1012', '1021']);
      expect(freshness(page, bench.clock)).toEqual(everyone);
    });
  });
});
