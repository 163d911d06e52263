import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { freePort, until } from '../support/daemon-process.ts';
import { type FaultBench, withSocketFaults } from './fault-bench.ts';
import { sources } from './sources.ts';

const failures = 'newrelic_exporter_api_request_failures_total';
const retries = 'newrelic_exporter_api_request_retries_total';
const lastSuccess = 'newrelic_application_last_success_timestamp_seconds';
const success = 'newrelic_application_poll_success';
const shop = { app_id: '101' };

async function untilPolledAgain(bench: FaultBench, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const before = (await bench.scrape()).value(lastSuccess, shop) ?? 0;
    await until(async () =>
      ((await bench.scrape()).value(lastSuccess, shop) ?? 0) > before ? true : undefined,
    );
  }
}

describe.each(sources)('$name', (source) => {
  describe('a connection that the vendor closes while the next request is on its way', () => {
    it.each([{ kind: 'close' }, { kind: 'reset' }] as const)(
      'costs a retry within the poll, and the poll succeeds: $kind',
      async (fault) => {
        // Of the requests over a connection that served one before, every seventh is lost: by then the
        // retry of the one before has been answered.
        const script = [{ when: { connection: 'reused', calls: { every: 7 } }, fault }] as const;
        await withSocketFaults({ source: source.account, script }, async (bench) => {
          await until(() => (bench.faulty.faults.hits().length >= 5 ? true : undefined));
          bench.faulty.faults.end();
          const hits = bench.faulty.faults.hits().length;
          await untilPolledAgain(bench, 2);
          const page = await bench.scrape();

          const countsOf = (name: string): Record<string, number | undefined> =>
            Object.fromEntries(
              page
                .series(name)
                // Nobody waits for names of hosts: they are asked for again by a later poll.
                .filter(({ operation }) => operation !== 'list_hosts')
                .filter((labels) => page.value(name, labels) !== 0)
                .map((labels) => [
                  `${labels['operation']} ${labels['reason']}`,
                  page.value(name, labels),
                ]),
            );
          expect(hits).toBeGreaterThanOrEqual(5);
          expect(page.total(failures)).toBe(hits);
          expect(page.total(failures, { reason: 'reset' })).toBe(hits);
          expect(countsOf(retries)).toEqual(countsOf(failures));
          expect(page.total('newrelic_exporter_polls_failed_total')).toBe(0);
          expect(page.value(success, shop)).toBe(1);
        });
      },
    );
  });

  interface Relay {
    readonly port: number;
    /** From now on the connections that stand carry nothing any more; new ones do. */
    forget(): void;
    /** Connections, forgotten ones included. */
    connections(): number;
    close(): Promise<void>;
  }

  /** Passes bytes on to a port, as a router does that may forget its connections. */
  async function openRelay(targetPort: number): Promise<Relay> {
    const pairs: { readonly inner: Socket; readonly outer: Socket }[] = [];
    const server = createServer((inner) => {
      const outer = connectTo(targetPort, '127.0.0.1');
      for (const socket of [inner, outer]) socket.on('error', () => undefined);
      inner.pipe(outer).pipe(inner);
      pairs.push({ inner, outer });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return {
      port: (server.address() as AddressInfo).port,
      forget: () => {
        for (const { inner, outer } of pairs) {
          inner.unpipe(outer);
          outer.unpipe(inner);
          // What arrives is lost, and nobody is told.
          inner.resume();
          outer.resume();
        }
      },
      connections: () => pairs.length,
      close: async () => {
        for (const { inner, outer } of pairs) {
          inner.destroy();
          outer.destroy();
        }
        await new Promise((resolve) => {
          server.close(resolve);
        });
      },
    };
  }

  describe('connections that a change of the network has left half open', () => {
    it('are given up after the timeout, and new ones are made', async () => {
      const port = await freePort();
      const relay = await openRelay(port);
      const options = {
        source: source.account,
        isStartedByTest: true,
        simulator: { port },
        account: { baseUrl: `http://127.0.0.1:${relay.port}`, timeoutMs: 1500 },
      };
      try {
        await withSocketFaults(options, async (bench) => {
          await bench.faulty.simulator.start();
          await untilPolledAgain(bench, 2);
          const before = relay.connections();
          relay.forget();
          await until(async () =>
            (await bench.scrape()).total(failures, { reason: 'timeout' }) > 0 ? true : undefined,
          );
          await untilPolledAgain(bench, 3);
          const page = await bench.scrape();

          expect(relay.connections()).toBeGreaterThan(before);
          expect(page.value(success, shop)).toBe(1);
          expect(page.value('newrelic_up')).toBe(1);
          // Each connection that stood can swallow one request.
          expect(page.total(failures, { reason: 'timeout' })).toBeLessThanOrEqual(before);
        });
      } finally {
        await relay.close();
      }
    });
  });

  const hasIpv6 = Object.values(networkInterfaces()).some((addresses = []) =>
    addresses.some(({ address }) => address === '::1'),
  );

  describe('a vendor that has IPv6 only', () => {
    it('is polled like any other', async ({ skip }) => {
      skip(!hasIpv6, 'this machine has no IPv6');
      await withSocketFaults(
        { source: source.account, simulator: { listenHost: '::1' } },
        async (bench) => {
          await untilPolledAgain(bench, 2);

          expect(bench.config.accounts[0]?.baseUrl).toMatch(/^http:\/\/\[::1\]:\d+$/u);
          expect(bench.faulty.simulator.journal.count()).toBeGreaterThan(2 * source.calls.poll);
          expect((await bench.scrape()).total(failures)).toBe(0);
        },
      );
    });
  });
});
