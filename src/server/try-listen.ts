import { createServer } from 'node:net';
import { askStatus } from './ask-status.ts';
import { type ListenError, listenErrorOf, parseListenAddress } from './listen-address.ts';

/** What listening on an address would come to. */
export type ListenTrial =
  | { readonly kind: 'free' }
  /** An exporter that works listens there. */
  | { readonly kind: 'exporter' }
  | { readonly kind: 'failed'; readonly error: ListenError };

/** Any local address of a process that listens on all of them. */
const loopback = '127.0.0.1';

async function opened(text: string): Promise<ListenError | undefined> {
  const { host, port } = parseListenAddress(text);
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => {
      resolve(listenErrorOf(text, error));
    });
    server.listen({ host, port, exclusive: true }, () => {
      server.close(() => {
        resolve(undefined);
      });
    });
  });
}

/**
 * Listens on an address for a moment, to see whether the daemon could. If the address is taken, it asks
 * whether an exporter is there. Never rejects if the address is of the right form.
 */
export async function tryListen(text: string): Promise<ListenTrial> {
  const error = await opened(text);
  if (error === undefined) return { kind: 'free' };
  if (error.kind !== 'in_use') return { kind: 'failed', error };
  const { host = loopback, port } = parseListenAddress(text);
  const asked = host === '0.0.0.0' || host === '::' ? loopback : host;
  const name = asked.includes(':') ? `[${asked}]` : asked;
  const { status } = await askStatus(`http://${name}:${port}/-/healthy`, { timeoutMs: 1000 });
  return status === 200 ? { kind: 'exporter' } : { kind: 'failed', error };
}
