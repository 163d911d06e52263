import type { AccountConfig } from '../model/config.ts';
import {
  type AccountTransport,
  type AccountTransportDependencies,
  createAccountTransport,
} from '../transport/account-transport.ts';
import type { RawTransport } from '../transport/raw-send.ts';
import type { Transport } from '../transport/transport.ts';

export type ConnectionSettings = Pick<
  AccountConfig,
  'baseUrl' | 'apiKeyHeader' | 'concurrency' | 'timeoutMs'
>;

/** What stays the same, whichever way calls take. */
export type ConnectionDependencies = Omit<AccountTransportDependencies, 'raw'>;

/** The way to the vendor of one account, which a reload can replace. */
export interface AccountConnection {
  readonly send: Transport;
  /** The transport that calls take from now on. */
  current(): AccountTransport;
  requestsInFlight(): number;
  /** Requests that were sent again because the first one failed. */
  retries(): number;
  /** Another way from now on. Calls that have set out on the old one end there; then it is closed. */
  replace(settings: ConnectionSettings, raw: RawTransport): void;
  /** Breaks off the calls under way, and closes every connection. */
  close(): Promise<void>;
}

interface Route {
  readonly transport: AccountTransport;
  calls: number;
  isReplaced: boolean;
}

export function createAccountConnection(
  initial: ConnectionSettings,
  initialRaw: RawTransport,
  dependencies: ConnectionDependencies,
): AccountConnection {
  const open = (settings: ConnectionSettings, raw: RawTransport): Route => ({
    transport: createAccountTransport(settings, { ...dependencies, raw }),
    calls: 0,
    isReplaced: false,
  });
  let route = open(initial, initialRaw);
  const routes = new Set([route]);
  let earlierRetries = 0;

  const closeIfDone = (one: Route): void => {
    if (!one.isReplaced || one.calls > 0 || !routes.delete(one)) return;
    earlierRetries += one.transport.retries();
    void one.transport.close();
  };

  const sumOf = (of: (transport: AccountTransport) => number): number =>
    [...routes].reduce((sum, { transport }) => sum + of(transport), 0);

  return {
    send: async (request, signal) => {
      const taken = route;
      taken.calls += 1;
      try {
        return await taken.transport.send(request, signal);
      } finally {
        taken.calls -= 1;
        closeIfDone(taken);
      }
    },
    current: () => route.transport,
    requestsInFlight: () => sumOf((transport) => transport.requestsInFlight()),
    retries: () => earlierRetries + sumOf((transport) => transport.retries()),
    replace: (settings, raw) => {
      const replaced = route;
      route = open(settings, raw);
      routes.add(route);
      replaced.isReplaced = true;
      closeIfDone(replaced);
    },
    close: async () => {
      await Promise.all([...routes].map(async ({ transport }) => transport.close()));
    },
  };
}
