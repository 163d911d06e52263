import { createServer, type RequestListener } from 'node:http';

export interface HttpListenerOptions {
  readonly host: string;
  readonly port: number;
}

/** A server that can be ended at once, whatever its clients are doing. */
export interface HttpListener {
  /** Resolves with the port when connections are accepted; rejects if the port is taken. */
  open(): Promise<number>;
  /** Cuts every connection. */
  close(): Promise<void>;
}

/** Longer than the pauses between polls: no reset races with an idle connection. */
const keepAliveTimeoutMs = 120_000;

export function createHttpListener(
  options: HttpListenerOptions,
  onRequest: RequestListener,
): HttpListener {
  const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs }, onRequest);
  return {
    open: () =>
      new Promise<number>((resolve, reject) => {
        server.once('error', reject);
        server.listen(options.port, options.host, () => {
          server.off('error', reject);
          const address = server.address();
          resolve(typeof address === 'object' && address !== null ? address.port : options.port);
        });
      }),
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      });
    },
  };
}
