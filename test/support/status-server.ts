import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StatusSource } from '../../src/model/status.ts';
import { plainAnswer, send } from '../../src/server/answer.ts';
import { createStatusRoutes } from '../../src/server/status-routes.ts';

/** The pages of a source that a test may change, at a real port. */
export interface StatusServer {
  readonly url: string;
  /** From now on these are shown. */
  show(source: StatusSource): void;
  /** How often the status page itself was asked for. */
  asked(): number;
  /** From now on every answer is a 500, or no longer. */
  fail(isFailing: boolean): void;
  close(): Promise<void>;
}

export async function startStatusServer(first: StatusSource): Promise<StatusServer> {
  let current = first;
  let asked = 0;
  let isFailing = false;
  const source: StatusSource = {
    process: () => current.process(),
    accounts: () => current.accounts(),
    applications: () => current.applications(),
    history: (account, id) => current.history(account, id),
    effectiveConfig: () => current.effectiveConfig(),
  };
  const routes = createStatusRoutes({ telemetryPath: '/metrics' }, source);
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    if (path === '/') asked += 1;
    const route = isFailing ? undefined : routes.get(path);
    const answer = route?.(request) ?? Promise.resolve(plainAnswer(500, 'It fails.'));
    answer.then(
      (one) => {
        send(request, response, one);
      },
      (error: unknown) => {
        send(request, response, plainAnswer(500, String(error)));
      },
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    show: (next) => {
      current = next;
    },
    asked: () => asked,
    fail: (failing) => {
      isFailing = failing;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
