import { describe, expect, it } from 'vitest';
import { inspectConfig } from '../../src/config/inspect-config.ts';
import { namedFileProblems } from '../../src/config/named-files.ts';

const key = `NRAK-${'A'.repeat(27)}`;

interface Outside {
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly mode?: number | undefined;
}

async function messagesOf(
  text: string,
  { files = {}, env = {}, mode }: Outside,
): Promise<readonly string[]> {
  const { files: named } = await inspectConfig(text, { fileName: 'c.yaml', directory: '/etc' });
  const problems = await namedFileProblems(named, {
    env,
    fileMode: async () => mode,
    readFile: async (path) => {
      const content = files[path];
      if (content !== undefined) return new TextEncoder().encode(content);
      throw Object.assign(new Error('not there'), { code: 'ENOENT' });
    },
  });
  return problems.map(({ severity, message }) => `${severity}: ${message}`);
}

function withKeyFile(path: string, rest = ''): string {
  return `accounts: [{name: a, api_key_file: ${path}${rest}}]\napps: [{id: 1}]`;
}

describe('namedFileProblems', () => {
  it('finds files beside the configuration, and what the accounts of a wrong file name', async () => {
    const text = 'accounts: [{nmae: a, api_key_file: key, ca_file: ca.pem}, {api_key_env: NONE}]';

    expect(await messagesOf(text, {})).toEqual([
      'error: the API key file /etc/key does not exist',
      'error: the CA file /etc/ca.pem does not exist',
      'error: the environment variable NONE is not set',
    ]);
  });

  it.each([
    { mode: 0o600, warning: undefined },
    { mode: 0o640, warning: undefined },
    { mode: 0o644, warning: 'read' },
    { mode: 0o666, warning: 'write' },
    { mode: 0o602, warning: 'write' },
    { mode: undefined, warning: undefined },
  ])('warns of a key file with the permissions $mode: $warning', async ({ mode, warning }) => {
    const messages = await messagesOf(withKeyFile('/k'), { files: { '/k': key }, mode });

    expect(messages).toEqual(
      warning === undefined
        ? []
        : [`warning: every user of this machine can ${warning} the API key file /k`],
    );
  });

  it.each([
    { path: '/run/secrets/key', env: {} },
    { path: '/var/run/secrets/newrelic/api-key', env: {} },
    { path: '/etc/newrelic/key', env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' } },
  ])('does not mind who can read $path in a container', async ({ path, env }) => {
    expect(
      await messagesOf(withKeyFile(path), { files: { [path]: key }, env, mode: 0o644 }),
    ).toEqual([]);
  });

  it.each([
    { base: '', warned: true },
    { base: ', region: eu', warned: true },
    { base: ', base_url: "https://api.newrelic.com/"', warned: true },
    { base: ', base_url: "https://gateway"', warned: false },
  ])('expects a user key of an account with$base: $warned', async ({ base, warned }) => {
    const files = { '/k': 'key-of-a-gateway' };

    expect(await messagesOf(withKeyFile('/k', base), { files })).toEqual(
      warned
        ? ['warning: the API key in /k is not a user key of New Relic, which begins with NRAK-']
        : [],
    );
  });

  it('knows a license key behind every address', async () => {
    const files = { '/k': 'eu01xx1234567890123456789012345678901234' };

    expect(await messagesOf(withKeyFile('/k', ', base_url: "https://gateway"'), { files })).toEqual(
      ['warning: the API key in /k is a license key, which only sends data to New Relic'],
    );
  });
});
