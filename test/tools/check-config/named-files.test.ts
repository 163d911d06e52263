import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inspectConfig } from '../../../src/config/load-config.ts';
import { namedFileProblems } from '../../../src/tools/check-config/named-files.ts';
import { createFakePlatform } from '../../support/fake-platform.ts';

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
  const file = await inspectConfig(text, { fileName: 'c.yaml', directory: '/etc' });
  const platform = createFakePlatform({ env, files, fileMode: async () => mode });
  const problems = await namedFileProblems(file, '/etc', platform);
  return problems.map(({ severity, message, help }) => `${severity}: ${message}; ${help ?? ''}`);
}

function withKeyFile(path: string, rest = ''): string {
  return `accounts: [{name: a, api_key_file: ${path}${rest}}]\napps: [{id: 1}]`;
}

describe('namedFileProblems', () => {
  it('finds files beside the configuration, and what the accounts of a wrong file name', async () => {
    const text = 'accounts: [{nmae: a, api_key_file: key, ca_file: ca.pem}, {api_key_env: NONE}]';

    expect(await messagesOf(text, {})).toEqual([
      expect.stringMatching(/^error: the API key file \/etc\/key does not exist/u),
      expect.stringMatching(/^error: the CA file \/etc\/ca\.pem does not exist/u),
      expect.stringMatching(/^error: the environment variable NONE is not set; set it/u),
    ]);
    expect(await messagesOf('apps: [{id: 1}]', {})).toEqual([
      expect.stringMatching(/variable NEW_RELIC_API_KEY is not set/u),
    ]);
  });

  it.each([
    {
      where: 'proxy_url_file: p',
      found: /^error: the proxy URL file \/etc\/p does not exist; create/u,
    },
    {
      where: 'proxy_url_env: P',
      found: /^error: the environment variable P is not set; set it to/u,
    },
    {
      where: 'proxy_url_file: /bad',
      found: /^error: the content of .* \/bad must be a URL such as/u,
    },
    {
      where: 'proxy_url_file: /p',
      found: /^warning: every user .* the proxy URL file \/p; chmod/u,
    },
  ])('reads the URL of a proxy: $where', async ({ where, found }) => {
    const files = { '/k': key, '/p': 'http://u:hunter2@h:1', '/bad': 'hunter2' };
    const messages = await messagesOf(withKeyFile('/k', `, ${where}`), { files, mode: 0o644 });

    const ofProxy = messages.filter((one) => !one.includes('API key'));
    expect(ofProxy).toEqual([expect.stringMatching(found)]);
    expect(ofProxy.join()).not.toContain('hunter2');
  });

  it.each([
    { mode: 0o600, warning: /^$/u },
    { mode: 0o640, warning: /^$/u },
    { mode: 0o644, warning: /every user of this machine can read .* \/k; chmod 640 \/k/u },
    { mode: 0o666, warning: /every user of this machine can write .* \/k; chmod 660 \/k/u },
    { mode: 0o602, warning: /can write/u },
    { mode: undefined, warning: /^$/u },
  ])('warns of a key file with the permissions $mode: $warning', async ({ mode, warning }) => {
    const messages = await messagesOf(withKeyFile('/k'), { files: { '/k': key }, mode });

    expect(messages.join('\n')).toMatch(warning);
  });

  it.each([
    { path: '~/k.key', base: '', says: 'the API key file /etc/~/k.key does not exist' },
    { path: '/k', base: ', ca_file: ~/ca.pem', says: '/etc/~/ca.pem does not exist' },
  ])('says of $path$base that "~" is not replaced', async ({ path, base, says }) => {
    const [message, ...others] = await messagesOf(withKeyFile(path, base), {
      files: { '/k': key },
    });

    expect(message).toContain(says);
    expect(message).toContain('"~" is not replaced: write the whole path');
    expect(others).toEqual([]);
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
    { base: '', warned: 1 },
    { base: ', region: eu', warned: 1 },
    { base: ', base_url: "https://api.newrelic.com/"', warned: 1 },
    { base: ', base_url: "https://gov-api.newrelic.com"', warned: 1 },
    { base: ', base_url: "https://gateway"', warned: 0 },
  ])('expects a user key of an account with$base: $warned', async ({ base, warned }) => {
    const files = { '/k': 'key-of-a-gateway' };
    const messages = await messagesOf(withKeyFile('/k', base), { files });

    const wrong = messages.filter((one) => /is not a user key .* NRAK-; create a key/u.test(one));
    expect(wrong).toHaveLength(warned);
    expect(messages).toHaveLength(warned);
  });

  it.each([
    { content: 'NRAL-x', says: 'license key' },
    { content: `${'0'.repeat(36)}NRAL`, says: 'license key' },
    { content: 'eu01xx1234567890123456789012345678901234', says: 'license key' },
    { content: 'NRLIC-x', says: 'license key' },
    { content: 'NRII-x', says: 'insert key' },
    { content: 'NRIQ-x', says: 'query key' },
    { content: 'NRRA-x', says: 'ended in 2025' },
    { content: 'NRAA-x', says: 'ended in 2020' },
    { content: 'NRJS-x', says: 'browser key' },
  ])('knows behind every address that $content is of a wrong kind', async ({ content, says }) => {
    const text = withKeyFile('/k', ', base_url: "https://gateway"');
    const [message, ...others] = await messagesOf(text, { files: { '/k': content } });

    expect(message).toMatch(/^warning: the API key in \/k is an? .*; create a key of type "User"/u);
    expect(message).toContain(says);
    expect(message).not.toContain(content);
    expect(others).toEqual([]);
  });

  it('finds nothing wrong with a key and a CA file that are good', async () => {
    const ca = readFileSync('test/newrelic/calls/fixtures/test-only-certificate.pem', 'utf8');
    const files = { '/k': key, '/ca': ca };

    expect(await messagesOf(withKeyFile('/k', ', ca_file: /ca'), { files })).toEqual([]);
  });

  it('expects a user key as New Relic writes it', async () => {
    const [message] = await messagesOf(withKeyFile('/k'), {
      files: { '/k': key.toLowerCase() },
    });

    expect(message).toContain('begins with NRAK-');
  });

  it('counts the characters of a user key', async () => {
    const [message] = await messagesOf(withKeyFile('/k'), { files: { '/k': 'NRAK-SHORT' } });

    expect(message).toMatch(/has 10 characters, but a user key has 32; copy the whole key/u);
  });
});
