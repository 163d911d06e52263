import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Answer } from './answer.ts';
import { prefersGzip } from './negotiation.ts';

const compress = promisify(gzip);

/** The answer in gzip if the client prefers that; compressed in another thread. */
export async function compressed(request: IncomingMessage, answer: Answer): Promise<Answer> {
  const headers = { ...answer.headers, Vary: 'Accept-Encoding' };
  if (!prefersGzip(request.headers['accept-encoding'])) return { ...answer, headers };
  return {
    status: answer.status,
    headers: { ...headers, 'Content-Encoding': 'gzip' },
    body: [await compress(Buffer.concat(answer.body))],
  };
}
