import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiResponse, RawTransport } from '../../src/newrelic/calls/transport.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';

/** As much of a server's response as the simulator uses, kept instead of sent. */
class KeptResponse extends EventEmitter {
  sendDate = true;
  headersSent = false;
  destroyed = false;
  statusCode = 0;
  readonly headers: Record<string, string> = {};
  body = '';

  setHeader(name: string, value: string): void {
    this.headers[name.toLowerCase()] = value;
  }

  writeHead(status: number, headers: Readonly<Record<string, string | number>>): void {
    this.statusCode = status;
    this.headersSent = true;
    for (const [name, value] of Object.entries(headers)) this.setHeader(name, `${value}`);
  }

  end(body: string): void {
    this.body = body;
    this.emit('finish');
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

/**
 * The simulator without the port, so that a test can run hours of it on a fake clock. Everything
 * above the socket is the real thing.
 */
export function inMemoryTransport(simulator: Simulator): RawTransport {
  return {
    send: async (request, headers, signal) =>
      new Promise<ApiResponse>((resolve, reject) => {
        const response = new KeptResponse();
        const onAbort = (): void => {
          response.destroy();
          reject(signal.reason as Error);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        response.once('finish', () => {
          signal.removeEventListener('abort', onAbort);
          resolve({ status: response.statusCode, headers: response.headers, body: response.body });
        });
        const lowerCase = Object.entries(headers).map(([name, value]) => [
          name.toLowerCase(),
          value,
        ]);
        const incoming = Object.assign(new EventEmitter(), {
          url: request.target,
          method: request.body === undefined ? 'GET' : 'POST',
          headers: { accept: 'application/json', ...Object.fromEntries(lowerCase) },
          socket: { remotePort: 0 },
        });
        simulator.handle(
          incoming as unknown as IncomingMessage,
          response as unknown as ServerResponse,
        );
        // It has arrived as a whole, like everything here.
        if (request.body !== undefined) incoming.emit('data', Buffer.from(request.body));
        incoming.emit('end');
      }),
    close: async () => {},
  };
}
