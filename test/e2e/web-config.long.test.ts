import { execFile } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import { hashSync } from 'bcryptjs';
import { describe, expect, it } from 'vitest';
import {
  get,
  type RunningDaemon,
  startDaemon,
  startProgram,
  stopProgram,
  until,
  withFiles,
} from '../support/daemon-process.ts';
import { tlsFile, tlsText } from '../support/tls-files.ts';
import { toolOrSkip } from '../support/tools.ts';

const curl = toolOrSkip('curl');

/** Nobody answers there: the exporter's own series are enough. */
const config = `
accounts: [{ name: e2e, api_key_env: KEY, base_url: "http://127.0.0.1:9" }]
apps: [{ id: 1 }]
`;

const serverTls = 'tls_server_config:\n  cert_file: tls.crt\n  key_file: tls.key\n';
const clientCerts = `  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ${tlsFile('ca')}\n`;

function users(...passwords: readonly string[]): string {
  const lines = passwords.map((password, index) => `  user${index}: ${hashSync(password, 5)}\n`);
  return `basic_auth_users:\n${lines.join('')}`;
}

interface Protected {
  readonly dir: string;
  readonly daemon: RunningDaemon;
  readonly port: string;
}

/** Runs the built daemon with this web configuration during `use`. */
async function withProtected(
  web: string,
  use: (running: Protected) => Promise<void>,
): Promise<void> {
  const files = {
    'config.yaml': config,
    'web.yaml': web,
    'tls.crt': tlsText('server'),
    'tls.key': tlsText('server-key'),
  };
  await withFiles(files, async (dir) => {
    const flags = [`--config.file=${dir}/config.yaml`, `--web.config.file=${dir}/web.yaml`];
    const daemon = await startDaemon(flags, { KEY: 'NRAK-E2E' });
    try {
      await use({ dir, daemon, port: new URL(daemon.url).port });
    } finally {
      const { stdout, stderr } = await stopProgram(daemon);
      expect(stdout + stderr).not.toMatch(/\$2b\$|open sesame|PRIVATE KEY/u);
    }
  });
}

interface Asked {
  /** 0 if there was no answer. */
  readonly status: number;
  /** Why curl failed; 0 if it did not. */
  readonly exitCode: number;
}

async function ask(url: string, ...flags: readonly string[]): Promise<Asked> {
  const fixed = ['--silent', '--cacert', tlsFile('ca'), '--output', '/dev/null'];
  return new Promise((resolve) => {
    const args = [...fixed, '--write-out', '%{http_code}', ...flags, url];
    execFile(curl.path, args, (error, stdout) => {
      const exitCode = typeof error?.code === 'number' ? error.code : 0;
      resolve({ status: Number(stdout), exitCode });
    });
  });
}

describe.skipIf(curl.skip)(`curl that asks a protected exporter${curl.note}`, () => {
  it('needs TLS of an allowed version', async () => {
    await withProtected(`${serverTls}  min_version: TLS13\n`, async ({ port }) => {
      const url = `https://localhost:${port}/metrics`;

      expect(await ask(url)).toEqual({ status: 200, exitCode: 0 });
      expect(await ask(url, '--tls-max', '1.2')).toMatchObject({ status: 0, exitCode: 35 });
      expect((await ask(`http://localhost:${port}/metrics`)).status).toBe(400);
    });
  });

  it('needs a certificate of our CA', async () => {
    await withProtected(serverTls + clientCerts, async ({ port }) => {
      const url = `https://localhost:${port}/metrics`;
      const as = (name: 'client' | 'stranger'): readonly string[] => [
        '--cert',
        tlsFile(name),
        '--key',
        tlsFile(`${name}-key`),
      ];

      expect((await ask(url)).status).toBe(0);
      expect((await ask(url, ...as('stranger'))).status).toBe(0);
      expect((await ask(url, ...as('client'))).status).toBe(200);
    });
  });

  it('needs the right password, and gets only a word from probes without one', async () => {
    await withProtected(users('open sesame'), async ({ port, daemon }) => {
      const url = `http://localhost:${port}/metrics`;

      expect((await ask(url)).status).toBe(401);
      expect((await ask(url, '--user', 'user0:wrong')).status).toBe(401);
      expect((await ask(url, '--user', 'user1:open sesame')).status).toBe(401);
      expect((await ask(url, '--user', 'user0:open sesame')).status).toBe(200);
      expect(await get(`${daemon.url}/-/healthy`)).toEqual({ status: 200, text: 'Healthy.\n' });
      expect((await get(`${daemon.url}/-/ready`)).text).toMatch(/^(?:Not ready|Ready)\.\n$/u);
    });
  });

  it('gets a new certificate and needs a new password soon after they were changed', async () => {
    await withProtected(serverTls + users('first'), async ({ dir, port, daemon }) => {
      const url = `https://localhost:${port}/metrics`;
      const before = await ask(url, '--user', 'user0:first');
      await copyFile(tlsFile('renewed'), `${dir}/tls.crt`);
      await copyFile(tlsFile('renewed-key'), `${dir}/tls.key`);
      await writeFile(`${dir}/web.yaml`, serverTls + users('second'));
      await until(() => (daemon.stderr().includes('configuration reloaded') ? true : undefined));

      expect(before.status).toBe(200);
      expect((await ask(url, '--user', 'user0:first')).status).toBe(401);
      expect((await ask(url, '--user', 'user0:second')).status).toBe(200);
    });
  });
});

describe('a daemon with a bad web configuration', () => {
  it('does not start, not even with --config.wait', async () => {
    await withFiles(
      { 'config.yaml': config, 'web.yaml': 'basic_auth_users: {a: b}' },
      async (dir) => {
        const { code, stderr } = await startProgram([
          'serve',
          `--config.file=${dir}/config.yaml`,
          `--web.config.file=${dir}/web.yaml`,
          '--web.listen-address=127.0.0.1:0',
          '--config.wait',
        ]).ended;

        expect(code).toBe(2);
        expect(stderr).toContain('"a" must be a bcrypt hash');
      },
    );
  });
});
