import { describe, expect, it, onTestFinished } from 'vitest';
import { openWebAccess, type WebAccess } from '../../src/daemon/web-access.ts';
import type { ServerTls } from '../../src/model/web-config.ts';
import { loadForCommand } from '../../src/tools/survey/ask.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';
import { tlsFiles, tlsText } from '../support/tls-files.ts';

const path = '/etc/web.yaml';
const hash = '$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG';
const withTls = 'tls_server_config: { cert_file: tls.crt, key_file: tls.key }\n';

interface Bench {
  readonly web: WebAccess;
  readonly platform: FakePlatform;
  readonly files: Record<string, string>;
  readonly logger: FakeLogger;
  /** The certificates that new connections got, in turn. */
  readonly renewed: readonly ServerTls[];
}

async function aBench(text: string): Promise<Bench> {
  const files: Record<string, string> = {
    ...tlsFiles('/etc'),
    '/etc/tls.crt': tlsText('server'),
    '/etc/tls.key': tlsText('server-key'),
    [path]: text,
  };
  const platform = createFakePlatform({ files });
  // After the certificates of the tests were made.
  await platform.clock.advance(Date.parse('2030-01-01') - platform.clock.wallMs());
  const logger = createFakeLogger();
  const renewed: ServerTls[] = [];
  const web = await openWebAccess(path, platform, logger);
  const renewTls = (tls: ServerTls): void => {
    renewed.push(tls);
  };
  const done = web.watch(renewTls, platform.stopSignal);
  onTestFinished(async () => {
    platform.stop();
    await done;
    expect(platform.clock.pendingTimers()).toBe(0);
  });
  return { web, platform, files, logger, renewed };
}

function messages({ logger }: Bench): readonly string[] {
  return logger.lines.map(({ level, message }) => `${level}: ${message}`);
}

describe('the web configuration', () => {
  it('stays as it is while nothing changes', async () => {
    const bench = await aBench(withTls);
    const before = bench.web.config();
    await bench.platform.clock.advance(60_000);

    expect(bench.web.config()).toBe(before);
    expect(bench.renewed).toEqual([]);
    expect(messages(bench)).toEqual([]);
  });

  it('follows its file within six seconds', async () => {
    const bench = await aBench(`${withTls}basic_auth_users: { alice: "${hash}" }\n`);
    bench.files[path] = `${withTls}basic_auth_users: { bob: "${hash}" }\n`;
    await bench.platform.clock.advance(6000);

    expect([...bench.web.config().users.keys()]).toEqual(['bob']);
    expect(messages(bench)).toEqual(['info: web configuration reloaded']);
  });

  it('follows the certificate, and tells the server', async () => {
    const bench = await aBench(withTls);
    bench.files['/etc/tls.crt'] = tlsText('renewed');
    bench.files['/etc/tls.key'] = tlsText('renewed-key');
    await bench.platform.clock.advance(6000);

    expect(bench.renewed.map(({ cert }) => cert)).toEqual([tlsText('renewed')]);
    expect(bench.web.config().tls?.key).toBe(tlsText('renewed-key'));
  });

  it('keeps the old pair while only half of the new one is written, and says so once', async () => {
    const bench = await aBench(withTls);
    bench.files['/etc/tls.crt'] = tlsText('renewed');
    await bench.platform.clock.advance(60_000);
    const during = bench.web.config().tls?.cert;
    bench.files['/etc/tls.key'] = tlsText('renewed-key');
    await bench.platform.clock.advance(6000);

    expect(during).toBe(tlsText('server'));
    expect(bench.renewed.map(({ cert }) => cert)).toEqual([tlsText('renewed')]);
    expect(messages(bench)).toEqual([
      'error: web configuration refused, the old one stays active',
      'info: web configuration reloaded',
    ]);
    expect(String(bench.logger.lines[0]?.fields['problem'])).toContain(
      'does not belong to the certificate',
    );
  });

  it('waits a moment for the second file of a pair', async () => {
    const bench = await aBench(withTls);
    bench.files['/etc/tls.crt'] = tlsText('renewed');
    await bench.platform.clock.advance(5500);
    bench.files['/etc/tls.key'] = tlsText('renewed-key');
    await bench.platform.clock.advance(500);

    expect(messages(bench)).toEqual(['info: web configuration reloaded']);
  });

  it('finds a file that comes after the configuration that names it', async () => {
    const bench = await aBench(withTls);
    bench.files[path] = withTls.replaceAll('tls.', 'later.');
    await bench.platform.clock.advance(20_000);
    const during = bench.renewed.length;
    bench.files['/etc/later.crt'] = tlsText('renewed');
    bench.files['/etc/later.key'] = tlsText('renewed-key');
    await bench.platform.clock.advance(6000);

    expect([during, bench.renewed.length]).toEqual([0, 1]);
  });

  it('survives that its files are gone', async () => {
    const bench = await aBench(withTls);
    delete bench.files[path];
    await bench.platform.clock.advance(20_000);
    const during = bench.web.config().tls?.cert;
    bench.files[path] = withTls;
    await bench.platform.clock.advance(6000);

    expect(during).toBe(tlsText('server'));
    expect(messages(bench)).toEqual([
      'error: web configuration refused, the old one stays active',
      'info: web configuration reloaded',
    ]);
  });

  it.each([
    { before: withTls, after: '', change: 'TLS cannot be switched off' },
    {
      before: 'http_server_config: {}\n',
      after: withTls,
      change: 'TLS cannot be switched on',
    },
    {
      before: `basic_auth_users: { alice: "${hash}" }\n`,
      after: '',
      change: 'passwords cannot be switched off',
    },
    {
      before: withTls.replace(' }', ', client_auth_type: RequireAnyClientCert }'),
      after: withTls,
      change: 'client certificates cannot be switched off',
    },
  ])('takes a restart for this: $change', async ({ before, after, change }) => {
    const bench = await aBench(before);
    const config = bench.web.config();
    bench.files[path] = after;
    await bench.platform.clock.advance(6000);

    expect(bench.web.config()).toBe(config);
    expect(bench.renewed).toEqual([]);
    expect(bench.logger.lines.filter(({ level }) => level === 'error')).toMatchObject([
      {
        message: 'web configuration refused, the old one stays active',
        fields: {
          file: path,
          problem: `${change} while the exporter runs`,
          remedy: 'restart the exporter, if this is meant',
        },
      },
    ]);
  });

  it('takes passwords as an addition', async () => {
    const bench = await aBench(withTls);
    bench.files[path] = `${withTls}basic_auth_users: { alice: "${hash}" }\n`;
    await bench.platform.clock.advance(6000);

    expect([...bench.web.config().users.keys()]).toEqual(['alice']);
  });

  it('warns of what is allowed and probably not meant', async () => {
    const bench = await aBench(`basic_auth_users: { alice: "${hash}" }\n`);

    expect(bench.logger.lines).toMatchObject([
      {
        level: 'warn',
        message: 'web configuration warning',
        fields: {
          file: path,
          line: 1,
          column: 1,
          problem: 'without "tls_server_config" passwords cross the network in clear',
        },
      },
    ]);
  });

  it('ends with 1 if the volume of the file does not answer, as another start may help', async () => {
    const error = Object.assign(new Error('stale'), { code: 'ESTALE' });
    const readFile = async (): Promise<Uint8Array> => Promise.reject(error);
    const platform = { ...createFakePlatform({}), readFile };

    await expect(openWebAccess(path, platform, createFakeLogger())).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining('check the volume that it is on') as string,
    });
    await expect(loadForCommand('/c.yaml', platform)).rejects.toMatchObject({ exitCode: 1 });
  });

  it('ends the command with what is wrong with it', async () => {
    const platform = createFakePlatform({ files: { [path]: 'users: {}' } });
    const opening = openWebAccess(path, platform, createFakeLogger());

    await expect(opening).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/^\/etc\/web\.yaml:1:1: unknown key "users"/u) as string,
    });
  });
});
