import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { askStatus } from '../../src/server/ask-status.ts';

async function aServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/-/healthy`;
}

describe('askStatus', () => {
  it.each([{ status: 200 }, { status: 503 }])('gives the status $status', async ({ status }) => {
    const url = await aServer((_request, response) => {
      response.writeHead(status).end('text');
    });

    expect(await askStatus(url, { timeoutMs: 2000 })).toEqual({ status });
  });

  it('reports that nobody listens', async () => {
    const url = await aServer(() => {});
    const closed = url.replace(/:\d+/u, ':1');

    expect(await askStatus(closed, { timeoutMs: 2000 })).toEqual({
      status: undefined,
      problem: 'connect ECONNREFUSED 127.0.0.1:1',
    });
  });

  it('gives up on a server that does not answer', async () => {
    const url = await aServer(() => {});

    expect(await askStatus(url, { timeoutMs: 50 })).toEqual({
      status: undefined,
      problem: 'no answer within 0.05 s',
    });
  });
});
