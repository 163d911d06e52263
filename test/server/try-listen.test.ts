import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tryListen } from '../../src/server/try-listen.ts';

/** The port of a server on the loopback address that answers everything with a status. */
async function portOf(status: number): Promise<number> {
  const server = createServer((_, response) => {
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
  });
  const address = server.address() as AddressInfo;
  return address.port;
}

describe('tryListen', () => {
  it('finds a free address, and leaves it free', async () => {
    expect(await tryListen('127.0.0.1:0')).toEqual({ kind: 'free' });
  });

  it('tells an exporter that works from another process', async () => {
    const exporter = await portOf(200);
    const other = await portOf(404);

    expect(await tryListen(`127.0.0.1:${exporter}`)).toEqual({ kind: 'exporter' });
    expect(await tryListen(`127.0.0.1:${other}`)).toMatchObject({
      kind: 'failed',
      error: { kind: 'in_use' },
    });
  });

  it('says why it cannot listen', async () => {
    expect(await tryListen('192.0.2.1:0')).toMatchObject({
      kind: 'failed',
      error: { kind: 'unavailable' },
    });
  });
});
