import { EventEmitter, once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { ServerTls } from '../../src/model/web-config.ts';
import { createConnections } from '../../src/web/connections.ts';
import { createHttpListener } from '../../src/web/http-listener.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';

export interface Client {
  readonly socket: Socket;
  /** The server's end of the connection. */
  readonly accepted: Socket;
  readonly received: () => string;
}

export interface Listeners {
  readonly ports: readonly number[];
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
  /** Connects, and resolves when the server has accepted it. */
  readonly connected: (listener?: number) => Promise<Client>;
  /** Connects and sends a request; resolves when the answer arrives. */
  readonly answered: (listener?: number) => Promise<Client>;
  /** The same with a request that is never answered. */
  readonly waiting: (listener?: number) => Promise<Client>;
  /** Asks once more on a connection; resolves when the answer arrives. */
  readonly askAgain: (client: Client) => Promise<void>;
}

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return address.port;
}

/** Runs two listeners with one limit during `use`. `/wait` is never answered. */
export async function withListeners(
  options: {
    readonly maxConnections: number;
    readonly headersTimeoutMs?: number;
    readonly tls?: ServerTls;
  },
  use: (listeners: Listeners) => Promise<void>,
): Promise<void> {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  const events = new EventEmitter();
  const connections = createConnections(options.maxConnections, { clock, logger });
  const answer = async (url: string | undefined, response: ServerResponse): Promise<void> => {
    events.emit('asked');
    if (url !== '/wait') response.end('ok');
  };
  const servers = [1, 2]
    .map(() =>
      createHttpListener(
        { writeTimeoutMs: 30_000, ...options },
        {
          handler: async ({ url }, response) => answer(url, response),
          connections,
          logger,
          clock,
          isClosing: () => false,
        },
      ),
    )
    .map(({ server }) => server);
  // Each client that is not yet accepted is a listener.
  for (const server of servers) server.setMaxListeners(0);
  const ports = await Promise.all(servers.map(portOf));
  const clients: Socket[] = [];

  const connected = async (listener = 0): Promise<Client> => {
    const server = servers[listener];
    if (server === undefined) throw new Error(`no listener ${listener}`);
    const accept = once(server, 'connection') as Promise<[Socket]>;
    const socket = connect({
      host: '127.0.0.1',
      port: ports[listener] ?? 0,
      // Never closes its side.
      allowHalfOpen: true,
    });
    clients.push(socket);
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text;
    });
    socket.on('error', () => undefined);
    const [[accepted]] = await Promise.all([accept, once(socket, 'connect')]);
    return { socket, accepted, received: () => received };
  };

  const askAgain = async ({ socket }: Client): Promise<void> => {
    const data = once(socket, 'data');
    socket.write(request('/'));
    await data;
  };

  try {
    await use({
      ports,
      clock,
      logger,
      connected,
      askAgain,
      answered: async (listener) => {
        const client = await connected(listener);
        await askAgain(client);
        return client;
      },
      waiting: async (listener) => {
        const client = await connected(listener);
        const asked = once(events, 'asked');
        client.socket.write(request('/wait'));
        await asked;
        return client;
      },
    });
  } finally {
    for (const socket of clients) socket.destroy();
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  }
}
