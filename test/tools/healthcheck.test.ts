import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { askStatus } from '../../src/web/ask-status.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { tlsFiles, tlsText } from '../support/tls-files.ts';

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function anExporter(status: number): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/-/healthy' ? status : 404).end();
  });
  return `http://${await listening(server)}`;
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

describe('askStatus', () => {
  it('gives up on a server that does not answer', async () => {
    const server = createServer(() => {});
    const url = `http://${await listening(server)}`;

    expect(await askStatus(url, { timeoutMs: 50 })).toBe('no answer within 0.05 s');
  });
});

describe('healthcheck over TLS', () => {
  async function anExporterWithTls(requestCert: boolean): Promise<string> {
    const server = createTlsServer(
      {
        cert: tlsText('server'),
        key: tlsText('server-key'),
        ca: tlsText('ca'),
        requestCert,
        rejectUnauthorized: requestCert,
      },
      (_request, response) => response.end(),
    );
    return `https://${await listening(server)}/-/healthy`;
  }

  it('accepts the certificate of the exporter, whoever has signed it', async () => {
    const platform = createFakePlatform();
    const url = await anExporterWithTls(false);

    expect(await run(['healthcheck', `--url=${url}`], platform)).toBe(0);
  });

  it.each([
    {
      what: 'with',
      flags: ['--tls.cert-file=/client.pem', '--tls.key-file=/client-key.pem'],
      exitCode: 0,
    },
    { what: 'without', flags: [], exitCode: 1 },
    { what: 'with a broken', flags: ['--tls.cert-file=/broken'], exitCode: 1 },
    { what: 'with a missing', flags: ['--tls.cert-file=/nothing'], exitCode: 2 },
  ])('asks $what certificate of its own and ends with $exitCode', async ({ flags, exitCode }) => {
    const platform = createFakePlatform({ files: { ...tlsFiles(''), '/broken': 'x' } });
    const url = await anExporterWithTls(true);

    expect(await run(['healthcheck', `--url=${url}`, ...flags], platform)).toBe(exitCode);
    expect(platform.stderr.text() === '').toBe(exitCode === 0);
  });
});
