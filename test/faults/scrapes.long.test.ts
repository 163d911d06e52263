import { connect, type Socket } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { type BoundAddress, MetricsServer } from '../../src/web/metrics-server.ts';
import { Readiness } from '../../src/web/routes.ts';
import { get, until } from '../support/daemon-process.ts';
import { settle } from '../support/fake-clock.ts';
import { aStatusSource } from '../support/status-source.ts';
import { applicationListText } from '../support/vendor-documents.ts';
import { type FaultBench, withSocketFaults, withTimedFaults } from './fault-bench.ts';
import { publishedOf } from './published-of.ts';
import type { Scrape } from './scrape.ts';

const inForce = { inForceSinceMs: 0, problem: undefined };
const shop = { account: 'production', app_id: '101' };
const lastSuccess = 'newrelic_application_last_success_timestamp_seconds';

/** Serves what a bench publishes, on a free port. */
async function withServer(
  { daemon, logger, clock }: FaultBench,
  maxRequests: number,
  use: (address: BoundAddress, url: string) => Promise<void>,
): Promise<void> {
  const server = new MetricsServer(
    { listenAddresses: ['127.0.0.1:0'], telemetryPath: '/metrics', maxRequests },
    {
      page: async () => daemon.store.page(),
      selfMetrics: async () => daemon.metrics.text(),
      scraped: (status) => {
        daemon.metrics.scraped(status);
      },
      status: { ...aStatusSource(), accounts: () => daemon.status() },
      nextTurn: settle,
      stalled: () => undefined,
      logger,
      clock,
    },
  );
  const [address] = await server.listen();
  if (address === undefined) throw new Error('nothing listens');
  try {
    await use(address, `http://127.0.0.1:${address.port}`);
  } finally {
    await server.close(1);
  }
}

/** Waits for polls of `shop` that ended after now. */
async function untilPolledAgain(bench: FaultBench, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const before = (await bench.scrape()).value(lastSuccess, shop) ?? 0;
    await until(async () =>
      ((await bench.scrape()).value(lastSuccess, shop) ?? 0) > before ? true : undefined,
    );
  }
}

describe('the first scrape', () => {
  it('before anything was polled shows that nothing is known, and no application', async () => {
    await withTimedFaults({ script: [{ fault: { kind: 'silence' } }] }, async (bench) => {
      const readiness = new Readiness();
      await bench.advance(1000);
      const page = await bench.scrape();

      const families = bench.pages[0]?.match(/^newrelic_application_\w+\{account="production"/gmu);
      expect(bench.faulty.faults.hits()).toHaveLength(1);
      expect(families ?? []).toEqual([]);
      expect(page.value('newrelic_up', { account: 'production' })).toBe(0);
      expect(page.value('newrelic_exporter_polls_total', { account: 'production' })).toBe(0);
      expect(readiness.answer(bench.daemon.status(), inForce).status).toBe(503);
    });
  });
});

describe('7 a scrape while values are exchanged', () => {
  it('sees the old ones or the new ones of an application, never both', async () => {
    const simulator = { latencyMs: [500, 4000] as const };
    await withTimedFaults({ simulator }, async (bench) => {
      const scrapes: Scrape[] = [];
      for (let step = 0; step < 220; step += 1) {
        await bench.advance(2700);
        scrapes.push(await bench.scrape());
      }

      const windowEnd = 'newrelic_application_window_end_timestamp_seconds';
      const valuesOf = new Map<number, string>();
      const mixed = scrapes.filter((page) => {
        const end = page.value(windowEnd, shop);
        if (end === undefined) return false;
        const values = JSON.stringify(publishedOf(page, shop));
        const known = valuesOf.get(end) ?? values;
        valuesOf.set(end, known);
        return known !== values;
      });
      expect(valuesOf.size).toBeGreaterThanOrEqual(9);
      expect(new Set(valuesOf.values()).size).toBe(valuesOf.size);
      expect(mixed).toEqual([]);
    });
  });
});

describe('7 a flood of scrapes', () => {
  it('is answered, holds up no poll and asks the vendor nothing', async () => {
    await withSocketFaults({}, async (bench) => {
      await withServer(bench, 40, async (_address, url) => {
        await untilPolledAgain(bench, 1);
        const statuses: number[] = [];
        const flood = Array.from({ length: 20 }, async () => {
          for (let scrape = 0; scrape < 25; scrape += 1) {
            statuses.push((await get(`${url}/metrics`)).status);
          }
        });
        const startMs = bench.clock.monotonicMs();
        await Promise.all([untilPolledAgain(bench, 3), ...flood]);
        const tookMs = bench.clock.monotonicMs() - startMs;

        const asked = bench.faulty.simulator.journal.count(
          ({ monotonicMs }) => monotonicMs >= startMs,
        );
        expect(statuses).toHaveLength(500);
        expect(new Set(statuses)).toEqual(new Set([200]));
        expect(bench.logs('poll failed')).toEqual([]);
        // Two applications with three hosts and the list: six calls an interval of 150 ms, at most.
        expect(asked).toBeLessThanOrEqual(6 * (tookMs / 150 + 3));
      });
    });
  });
});

describe('7 scrapers that read nothing', () => {
  it('hold up neither the polls nor another scrape', async () => {
    await withSocketFaults({}, async (bench) => {
      await withServer(bench, 10, async ({ port }, url) => {
        await untilPolledAgain(bench, 1);
        const sockets: Socket[] = [];
        try {
          for (let scraper = 0; scraper < 50; scraper += 1) {
            const socket = connect(port, '127.0.0.1');
            socket.on('error', () => undefined);
            socket.pause();
            // Never read, so that it is the server that has to give up.
            socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20));
            sockets.push(socket);
          }
          await untilPolledAgain(bench, 3);
          const healthy = await get(`${url}/-/healthy`);

          expect(sockets.filter(({ bytesRead }) => bytesRead > 0)).toEqual([]);
          expect(healthy.status).toBe(200);
          expect(bench.logs('poll failed')).toEqual([]);
        } finally {
          for (const socket of sockets) socket.destroy();
        }
        await until(async () => ((await get(`${url}/metrics`)).status === 200 ? true : undefined));
      });
    });
  });
});

describe('a list of 15 MB', () => {
  it('does not keep the process from answering for much longer than parsing it takes', async () => {
    const filler = 'x'.repeat(340);
    const applications = Array.from({ length: 40_000 }, (_, index) => ({
      id: String(index + 1000),
      name: `"other ${index}"`,
      more: `"language":"${filler}"`,
    }));
    const usual = [
      { id: '101', name: '"shop"', hostIds: '1011,1012' },
      { id: '102', name: '"worker"', hostIds: '1021' },
    ];
    const body = applicationListText([...usual, ...applications]);
    const when = { endpoints: ['applications'], calls: { first: 2, last: 4 } } as const;
    const entries = [{ selector: { kind: 'match', pattern: /^(?:shop|worker)$/u } }] as const;
    const script = [{ when, fault: { kind: 'document', body } }] as const;
    await withSocketFaults({ script, entries }, async (bench) => {
      await untilPolledAgain(bench, 1);
      const startMs = performance.now();
      JSON.parse(body);
      const parseMs = performance.now() - startMs;
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      await until(() => (bench.faulty.faults.hits().length === 3 ? true : undefined));
      await untilPolledAgain(bench, 2);
      delay.disable();
      const page = await bench.scrape();

      expect(body.length).toBeGreaterThan(14 * 1024 * 1024);
      expect(page.value('newrelic_application_poll_success', shop)).toBe(1);
      expect(delay.max / 1e6).toBeLessThan(10 * parseMs + 500);
    });
  });
});
