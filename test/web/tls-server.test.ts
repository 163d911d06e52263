import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { Agent, get as getHttps, type RequestOptions } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { ConnectionOptions, SecureVersion, TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ServerTls } from '../../src/model/web-config.ts';
import { subjectAltNamesOf } from '../../src/web/tls-server.ts';
import { type TlsFileName, tlsText } from '../support/tls-files.ts';
import { aHeldPage, aPage, type Reply, readReply, withServer } from './harness.ts';
import { aServerTls, secureClient, tlsAccess } from './server-tls.ts';

type ClientOptions = Pick<
  RequestOptions & ConnectionOptions,
  'minVersion' | 'maxVersion' | 'ciphers' | 'ecdhCurve' | 'agent'
>;

/** Asks for the health of the server at a port, as the client whose certificate this is. */
async function ask(
  port: number,
  options: ClientOptions & { readonly as?: 'client' | 'stranger' | undefined } = {},
): Promise<Reply> {
  const { as, ...rest } = options;
  const request = getHttps({
    host: 'localhost',
    port,
    path: '/-/healthy',
    agent: false,
    ca: tlsText('ca'),
    ...(as === undefined ? {} : { cert: tlsText(as), key: tlsText(`${as}-key` as TlsFileName) }),
    ...rest,
  });
  return new Promise((resolve, reject) => {
    request.once('error', reject);
    request.once('response', (response) => {
      readReply(response).then(resolve, reject);
    });
  });
}

/** Whether a client is let in; an error is a refusal. */
async function isLetIn(port: number, options: Parameters<typeof ask>[1]): Promise<boolean> {
  return ask(port, options).then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** Everything that the server sends until it closes the connection. */
async function received(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    socket.once('close', () => {
      resolve(text);
    });
  });
}

describe('a server with TLS', () => {
  it('answers clients that trust its CA, over HTTP/1.1', async () => {
    await withServer({ access: tlsAccess() }, async ({ port }) => {
      const socket = secureClient(port, { ALPNProtocols: ['h2', 'http/1.1'] });
      await once(socket, 'secureConnect');
      const protocols = [socket.getProtocol(), socket.alpnProtocol];
      socket.destroy();

      expect((await ask(port)).body.toString()).toBe('Healthy.\n');
      expect(protocols).toEqual(['TLSv1.3', 'http/1.1']);
    });
  });

  it.each<{ what: string; server: Partial<ServerTls>; client: ClientOptions; isIn: boolean }>([
    {
      what: 'a version that is too old',
      server: {},
      client: { maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' },
      isIn: false,
    },
    {
      what: 'a version below the minimum',
      server: { minVersion: 'TLSv1.3' },
      client: { maxVersion: 'TLSv1.2' },
      isIn: false,
    },
    {
      what: 'an old version that is allowed',
      server: { minVersion: 'TLSv1' },
      client: { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' },
      isIn: true,
    },
    {
      what: 'a suite that is not in the list',
      server: { ciphers: 'TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256' },
      client: { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384' },
      isIn: false,
    },
    {
      what: 'a curve that is not in the list',
      server: { curves: 'P-521' },
      client: { ecdhCurve: 'P-384' },
      isIn: false,
    },
  ])('lets a client in with $what: $isIn', async ({ server, client, isIn }) => {
    await withServer({ access: tlsAccess(server) }, async ({ port }) => {
      expect(await isLetIn(port, client)).toBe(isIn);
    });
  });
});

describe('the order of suites', () => {
  it.each([
    { prefersServerCiphers: true, chosen: 'ECDHE-ECDSA-AES256-GCM-SHA384' },
    { prefersServerCiphers: false, chosen: 'ECDHE-ECDSA-AES128-GCM-SHA256' },
  ])('is ours: $prefersServerCiphers', async ({ prefersServerCiphers, chosen }) => {
    const ciphers =
      'TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256';
    await withServer({ access: tlsAccess({ ciphers, prefersServerCiphers }) }, async ({ port }) => {
      const socket = secureClient(port, {
        maxVersion: 'TLSv1.2',
        ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384',
      });
      await once(socket, 'secureConnect');
      const { name } = socket.getCipher();
      socket.destroy();

      expect(name).toBe(chosen);
    });
  });
});

describe('a client', () => {
  const clientCa = tlsText('ca');
  const none = undefined;

  it.each<{ auth: ServerTls['clientAuth']; letIn: readonly boolean[] }>([
    { auth: 'NoClientCert', letIn: [true, true, true] },
    { auth: 'RequestClientCert', letIn: [true, true, true] },
    { auth: 'RequireAnyClientCert', letIn: [false, true, true] },
    { auth: 'VerifyClientCertIfGiven', letIn: [true, false, true] },
    { auth: 'RequireAndVerifyClientCert', letIn: [false, false, true] },
  ])(
    'without certificate, with a strange one and with a good one is let in by $auth: $letIn',
    async ({ auth, letIn }) => {
      await withServer({ access: tlsAccess({ clientAuth: auth, clientCa }) }, async (server) => {
        const found: boolean[] = [];
        for (const as of [none, 'stranger', 'client'] as const) {
          found.push(await isLetIn(server.port, { as, maxVersion: 'TLSv1.2' }));
          expect(await isLetIn(server.port, { as, minVersion: 'TLSv1.3' })).toBe(found.at(-1));
        }

        expect(found).toEqual(letIn);
        expect(server.logger.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
      });
    },
  );

  it.each([
    { names: ['other.example', 'prometheus.example'], isIn: true },
    { names: ['2001:0DB8:0:0:0:0:0:1'], isIn: true },
    { names: ['sre@example.org'], isIn: true },
    { names: ['spiffe://example.org/prometheus'], isIn: true },
    { names: ['prometheus.example.org', '*.example', 'test only client'], isIn: false },
  ])('with one of the names $names is let in: $isIn', async ({ names, isIn }) => {
    const access = tlsAccess({
      clientAuth: 'RequireAndVerifyClientCert',
      clientCa,
      allowedSans: names,
    });
    await withServer({ access }, async ({ port }) => {
      expect(await isLetIn(port, { as: 'client' })).toBe(isIn);
    });
  });

  it.each<{ version: SecureVersion }>([{ version: 'TLSv1.2' }, { version: 'TLSv1.3' }])(
    'is checked again when it resumes a session of $version',
    async ({ version }) => {
      const tls = { clientAuth: 'RequireAndVerifyClientCert', clientCa } as const;
      await withServer({ access: tlsAccess(tls) }, async ({ port, server }) => {
        const client = {
          maxVersion: version,
          cert: tlsText('client'),
          key: tlsText('client-key'),
        };
        const first = secureClient(port, client);
        const [session] = (await once(first, 'session')) as [Buffer];
        first.destroy();
        const reused: boolean[] = [];
        const resumed = async (): Promise<string> => {
          const socket = secureClient(port, { ...client, session });
          socket.once('secureConnect', () => {
            reused.push(socket.isSessionReused());
            socket.write('GET /-/healthy HTTP/1.0\r\n\r\n');
          });
          return received(socket);
        };
        const before = await resumed();
        server.renewTls(aServerTls({ ...tls, allowedSans: ['other.example'] }));
        const after = await resumed();

        expect(reused[0]).toBe(true);
        expect(before).toContain('Healthy.');
        expect(after).toBe('');
      });
    },
  );
});

describe('a renewal', () => {
  it('counts for new connections, and open ones stay', async () => {
    await withServer({ access: tlsAccess() }, async ({ port, server }) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      onTestFinished(() => agent.destroy());
      const serials: unknown[] = [];
      agent.on('keylog', (_line, socket: TLSSocket) => {
        socket.once('secureConnect', () => serials.push(socket.getPeerCertificate().subject.CN));
      });
      await ask(port, { agent });
      server.renewTls(aServerTls({ cert: tlsText('renewed'), key: tlsText('renewed-key') }));
      await ask(port, { agent });
      const socket = secureClient(port);
      await once(socket, 'secureConnect');
      const newer = socket.getPeerCertificate().subject.CN;
      socket.destroy();

      expect([...new Set(serials)]).toEqual(['test only server']);
      expect(newer).toBe('test only renewed');
    });
  });

  it('may ask clients for certificates, or no longer ask for them', async () => {
    const clientCa = tlsText('ca');
    await withServer({ access: tlsAccess() }, async ({ port, server }) => {
      const before = await isLetIn(port, {});
      server.renewTls(aServerTls({ clientAuth: 'RequireAndVerifyClientCert', clientCa }));
      const during = [await isLetIn(port, {}), await isLetIn(port, { as: 'client' })];
      server.renewTls(aServerTls());
      const after = await isLetIn(port, {});

      expect([before, ...during, after]).toEqual([true, false, true, true]);
    });
  });
});

describe('the wrong protocol', () => {
  it('gets a hint if it is plain HTTP', async () => {
    await withServer({ access: tlsAccess() }, async ({ port, logger, clock }) => {
      const socket = connect(port, '127.0.0.1');
      socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
      const answer = received(socket);
      await once(socket, 'end');
      await clock.advance(1000);

      expect(await answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*ask with https:\/\//u);
      expect(logger.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
      expect(logger.lines).not.toEqual([]);
    });
  });
});

describe('a connection without a request', () => {
  it('does not keep the server from stopping, in a handshake or after it', async () => {
    const held = aHeldPage(1);
    await withServer({ access: tlsAccess(), page: held.page }, async ({ port, server, clock }) => {
      const silent = connect(port, '127.0.0.1');
      await once(silent, 'connect');
      const idle = secureClient(port);
      await once(idle, 'secureConnect');
      const ends = [received(silent), received(idle)];
      const closed = server.close(3000);
      await clock.advance(3000);
      await closed;

      expect(await Promise.all(ends)).toEqual(['', '']);
      held.release(await aPage(''));
    });
  });
});

describe('subjectAltNamesOf', () => {
  it('reads names of every kind, addresses in their shortest form', () => {
    expect(subjectAltNamesOf(new X509Certificate(tlsText('client')))).toEqual([
      'prometheus.example',
      '2001:db8::1',
      'sre@example.org',
      'spiffe://example.org/prometheus',
    ]);
  });

  it('finds none in a certificate without names', () => {
    expect(subjectAltNamesOf(new X509Certificate(tlsText('ca')))).toEqual([]);
  });

  it.each([
    {
      what: 'a name that looks like two',
      subjectAltName: 'DNS:"evil.example, DNS:good.example"',
      names: ['evil.example, DNS:good.example'],
    },
    {
      what: 'names of other kinds',
      subjectAltName: 'DirName:CN=good.example, othername:<unsupported>, DNS:a.example',
      names: ['a.example'],
    },
    { what: 'an IPv4 address', subjectAltName: 'IP Address:10.0.0.1', names: ['10.0.0.1'] },
  ])('is not deceived by $what', ({ subjectAltName, names }) => {
    expect(subjectAltNamesOf({ subjectAltName })).toEqual(names);
  });
});
