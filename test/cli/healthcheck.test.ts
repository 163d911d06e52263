import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { createFakePlatform } from '../support/fake-platform.ts';

async function anExporter(status: number): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/-/healthy' ? status : 404).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('healthcheck', () => {
  it('says nothing when all is well', async () => {
    const platform = createFakePlatform();
    const url = await anExporter(200);

    const exitCode = await run(['healthcheck', `--url=${url}/-/healthy`], platform);

    expect([exitCode, platform.stdout.text(), platform.stderr.text()]).toEqual([0, '', '']);
  });

  it.each([
    { what: 'an unhealthy exporter', status: 500, path: '/-/healthy', found: 'status 500' },
    { what: 'something else', status: 200, path: '/other', found: 'status 404' },
  ])('fails for $what, and says why', async ({ status, path, found }) => {
    const platform = createFakePlatform();
    const url = `${await anExporter(status)}${path}`;

    const exitCode = await run(['healthcheck', `--url=${url}`], platform);

    expect(exitCode).toBe(1);
    expect(platform.stderr.text()).toBe(`${url}: ${found}, expected status 200\n`);
  });

  it('fails when nobody listens', async () => {
    const platform = createFakePlatform();

    const exitCode = await run(['healthcheck', '--url=http://127.0.0.1:1/'], platform);

    expect(exitCode).toBe(1);
    expect(platform.stderr.text()).toContain('ECONNREFUSED');
  });
});
