import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { FailureReason } from '../../src/model/api-error.ts';
import { httpsServer, proxyServer, tcpServer } from '../newrelic/calls/loopback-server.ts';
import { freePort, until } from '../support/daemon-process.ts';
import { type FaultBench, withSocketFaults } from './fault-bench.ts';
import { sources } from './sources.ts';

const key = readFileSync(
  new URL('../newrelic/calls/fixtures/test-only-key.pem', import.meta.url),
  'utf8',
);
const cert = readFileSync(
  new URL('../newrelic/calls/fixtures/test-only-certificate.pem', import.meta.url),
  'utf8',
);
const failures = 'newrelic_exporter_api_request_failures_total';
const success = 'newrelic_application_poll_success';
const shop = { app_id: '101' };

async function untilFailed(bench: FaultBench, reason: FailureReason, times = 1): Promise<void> {
  await until(async () =>
    (await bench.scrape()).total(failures, { reason }) >= times ? true : undefined,
  );
}

async function untilSuccess(bench: FaultBench, wanted: number): Promise<void> {
  await until(async () =>
    (await bench.scrape()).value(success, shop) === wanted ? true : undefined,
  );
}

describe.each(sources)('$name', (source) => {
  describe('a vendor that nothing listens for', () => {
    it('at the start is waited for, and found', async () => {
      const port = await freePort();
      const options = {
        source: source.account,
        isStartedByTest: true,
        simulator: { port },
        account: { baseUrl: `http://127.0.0.1:${port}` },
      };
      await withSocketFaults(options, async (bench) => {
        await untilFailed(bench, 'connect', 3);
        const during = await bench.scrape();
        await bench.faulty.simulator.start();
        await untilSuccess(bench, 1);

        expect(during.value('newrelic_up')).toBe(0);
        expect(during.series(success)).toEqual([]);
        expect(bench.logs('discovery failed')).toMatchObject([{ error: { reason: 'connect' } }]);
        expect(bench.logs('account discovered')).toHaveLength(0);
        expect(bench.logs('discovery works again')).toHaveLength(1);
      });
    });

    it('for a while leaves the values, and is found again', async () => {
      const port = await freePort();
      await withSocketFaults({ source: source.account, simulator: { port } }, async (bench) => {
        const rpm = 'newrelic_application_requests_per_minute';

        await until(async () =>
          (await bench.scrape()).series(rpm).length === 3 ? true : undefined,
        );
        await bench.faulty.simulator.stop();
        await untilFailed(bench, 'connect', 10);
        await untilSuccess(bench, 0);
        await until(async () =>
          (await bench.scrape()).value('newrelic_up') === 0 ? true : undefined,
        );
        const during = await bench.scrape();
        await bench.faulty.simulator.start();
        await untilSuccess(bench, 1);
        const after = await bench.scrape();

        expect(during.series(rpm)).toHaveLength(3);
        expect(during.value('newrelic_up')).toBe(0);
        expect(after.series(rpm)).toHaveLength(3);
        expect(bench.logs('discovery failed')).toHaveLength(1);
      });
    });
  });

  describe('TLS', () => {
    it('with a certificate of an own authority works when that is named', async () => {
      const seen: string[] = [];
      const server = await httpsServer({ key, cert }, (request, response) => {
        seen.push(request.url ?? '');
        current?.faulty.simulator.handle(request, response);
      });
      let current: FaultBench | undefined;
      const options = {
        source: source.account,
        isStartedByTest: true,
        files: { '/ca.pem': cert },
        account: { baseUrl: `https://localhost:${server.port}`, caFile: '/ca.pem' },
      };
      await withSocketFaults(options, async (bench) => {
        current = bench;
        await untilSuccess(bench, 1);

        const { discovery, poll } = source.calls;
        expect(seen.length).toBeGreaterThanOrEqual(discovery + poll);
        expect((await bench.scrape()).total(failures)).toBe(0);
      });
    });

    it.each([
      {
        what: 'an unknown authority',
        host: 'localhost',
        caFile: undefined,
        code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
      },
      {
        what: 'another host',
        host: '127.0.0.1',
        caFile: '/ca.pem',
        code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      },
    ])(
      'with a certificate of $what is refused, and nothing is sent',
      async ({ host, caFile, code }) => {
        const seen: string[] = [];
        const server = await httpsServer({ key, cert }, (request) => seen.push(request.url ?? ''));
        const options = {
          source: source.account,
          isStartedByTest: true,
          files: { '/ca.pem': cert },
          account: { baseUrl: `https://${host}:${server.port}`, caFile },
        };
        await withSocketFaults(options, async (bench) => {
          await untilFailed(bench, 'tls', 2);
          const page = await bench.scrape();

          expect(server.connections()).toBeGreaterThanOrEqual(2);
          expect(seen).toEqual([]);
          expect(page.value('newrelic_up')).toBe(0);
          expect(page.total('newrelic_exporter_api_request_retries_total')).toBe(0);
          expect(bench.logs('discovery failed')).toHaveLength(1);
          expect(bench.logs('discovery failed')[0]?.error?.message).toContain(code);
        });
      },
    );

    it('whose handshake does not end is given up', async () => {
      const server = await tcpServer(() => undefined);
      const options = {
        source: source.account,
        isStartedByTest: true,
        account: { baseUrl: `https://127.0.0.1:${server.port}`, timeoutMs: 5000 },
      };
      await withSocketFaults(options, async (bench) => {
        await untilFailed(bench, 'connect');

        expect(server.connections()).toBeGreaterThanOrEqual(1);
        expect((await bench.scrape()).total(failures)).toBe(
          (await bench.scrape()).total(failures, { reason: 'connect' }),
        );
      });
    });
  });

  describe('a proxy', () => {
    it.each([{ status: 407 }, { status: 502 }])(
      'that refuses the tunnel with $status is named without its password',
      async ({ status }) => {
        const tunnels: (string | undefined)[] = [];
        const proxy = await proxyServer(
          (request, socket) => {
            tunnels.push(request.url);
            socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
          },
          (_request, response) => response.writeHead(500).end(),
        );
        const proxyUrl = `http://user:proxy-password@127.0.0.1:${proxy.port}`;
        const account = { baseUrl: 'https://vendor.invalid', proxyUrl, source: source.account };
        await withSocketFaults({ isStartedByTest: true, account }, async (bench) => {
          await untilFailed(bench, 'connect', 3);
          const page = await bench.scrape();

          expect(tunnels[0]).toBe('vendor.invalid:443');
          expect(page.value('newrelic_up')).toBe(0);
          expect(bench.logs('discovery failed')[0]?.error?.message).toContain(String(status));
          expect(`${bench.platform.stderr.text()}${bench.pages.join('')}`).not.toContain(
            'proxy-password',
          );
        });
      },
    );

    it('that closes every connection asked for a tunnel draws one for each call', async () => {
      const proxy = await tcpServer((socket) => socket.end());
      const proxyUrl = `http://user:proxy-password@127.0.0.1:${proxy.port}`;
      const account = { baseUrl: 'https://vendor.invalid', proxyUrl, source: source.account };
      await withSocketFaults({ isStartedByTest: true, account }, async (bench) => {
        await untilFailed(bench, 'reset', 4);
        const page = await bench.scrape();
        const calls = page.total('newrelic_exporter_api_requests_total');

        // One more may be under way.
        expect(proxy.connections()).toBeLessThanOrEqual(calls + 1);
        expect(page.total(failures)).toBe(page.total(failures, { reason: 'reset' }));
        const message = bench.logs('discovery failed')[0]?.error?.message;
        expect(message).toContain(`the proxy 127.0.0.1:${proxy.port}`);
        expect(message).toContain('check that proxy_url leads to a proxy that works');
        expect(bench.platform.stderr.text()).not.toContain('proxy-password');
      });
    });

    it('that is down is a failure to connect', async () => {
      const port = await freePort();
      const account = {
        source: source.account,
        baseUrl: 'https://vendor.invalid',
        proxyUrl: `http://user:proxy-password@127.0.0.1:${port}`,
      };
      await withSocketFaults({ isStartedByTest: true, account }, async (bench) => {
        await untilFailed(bench, 'connect', 3);

        expect((await bench.scrape()).value('newrelic_up')).toBe(0);
        expect(bench.platform.stderr.text()).not.toContain('proxy-password');
      });
    });
  });
});
