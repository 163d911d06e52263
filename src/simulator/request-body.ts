import type { IncomingMessage } from 'node:http';

/** As much of a request as its body needs. */
type BodyStream = Pick<IncomingMessage, 'on'>;

/**
 * Reads a body as UTF-8, then calls `done` once: with the text, or with `undefined` if it is larger than
 * `mostBytes`. A client that goes away before the end is never heard of again.
 */
export function readBody(
  incoming: BodyStream,
  mostBytes: number,
  done: (body: string | undefined) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    // The rest is read but not kept, so that the client can read the answer.
    if (bytes <= mostBytes) chunks.push(chunk);
  });
  incoming.on('end', () => {
    done(bytes > mostBytes ? undefined : Buffer.concat(chunks).toString('utf8'));
  });
}
