import { createSystemClock } from '../../src/daemon/node-platform.ts';
import type { StatusSource } from '../../src/model/status.ts';
import { MetricsServer } from '../../src/web/metrics-server.ts';
import { aPage } from '../web/harness.ts';
import { settle } from './fake-clock.ts';
import { createFakeLogger } from './fake-logger.ts';

/** The server of the exporter at a real port, with a source that a test may change. */
export interface StatusServer {
  readonly url: string;
  /** From now on this is shown. */
  show(source: StatusSource): void;
  /** How often a page was rendered. */
  asked(): number;
  close(): Promise<void>;
}

export async function startStatusServer(first: StatusSource): Promise<StatusServer> {
  let current = first;
  let asked = 0;
  const status: StatusSource = {
    process: () => {
      asked += 1;
      return current.process();
    },
    accounts: () => current.accounts(),
    applications: () => current.applications(),
    effectiveConfig: () => current.effectiveConfig(),
  };
  const server = new MetricsServer(
    {
      listenAddresses: ['127.0.0.1:0'],
      telemetryPath: '/metrics',
      maxRequests: 40,
    },
    {
      page: async () => aPage(''),
      selfMetrics: async () => '',
      scraped: () => undefined,
      status,
      nextTurn: settle,
      stalled: () => undefined,
      logger: createFakeLogger(),
      clock: createSystemClock(),
    },
  );
  const [address] = await server.listen();
  return {
    url: `http://127.0.0.1:${address?.port}`,
    show: (next) => {
      current = next;
    },
    asked: () => asked,
    close: async () => server.close(1),
  };
}
