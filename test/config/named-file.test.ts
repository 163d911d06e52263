import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readApiKey, readCaFile, readProxyUrl } from '../../src/config/named-file.ts';
import type { SecretLocation } from '../../src/model/config.ts';

const file: SecretLocation = { kind: 'file', path: '/run/key' };
const variable: SecretLocation = { kind: 'env', name: 'NR_KEY' };
const noEnv = {};

function fileOf(content: string | Uint8Array) {
  return async (): Promise<Uint8Array> =>
    typeof content === 'string' ? new TextEncoder().encode(content) : content;
}

function failingWith(code: string) {
  return async (): Promise<Uint8Array> => {
    throw Object.assign(new Error(`${code}: NRAK-LEAK`), { code });
  };
}

describe('readApiKey', () => {
  it('reads a file at the given path and trims it', async () => {
    const asked: string[] = [];
    const readFile = async (path: string): Promise<Uint8Array> => {
      asked.push(path);
      return new TextEncoder().encode('\uFEFF NRAK-ABC\r\n');
    };

    const key = await readApiKey(file, { readFile, env: noEnv });

    expect(key).toBe('NRAK-ABC');
    expect(asked).toStrictEqual(['/run/key']);
  });

  it('reads an environment variable', async () => {
    const dependencies = { readFile: fileOf('other'), env: { NR_KEY: ' NRAK-ABC ' } };

    await expect(readApiKey(variable, dependencies)).resolves.toBe('NRAK-ABC');
  });

  it.each([
    ['a missing file', failingWith('ENOENT'), 'does not exist: create it'],
    ['an unreadable file', failingWith('EACCES'), 'permission denied: let the user'],
    ['a forbidden file', failingWith('EPERM'), 'permission denied: let the user'],
    ['a failing disk', failingWith('EIO'), '(EIO): check the volume'],
    ['a directory', failingWith('EISDIR'), 'is a directory: write the path of a file in it'],
    ['a named pipe', failingWith('ENOTREG'), 'not a regular file'],
    [
      'a file on a volume that hangs',
      failingWith('ETIMEDOUT'),
      'does not answer: check the volume',
    ],
    ['an empty file', fileOf(' \n\t\n'), 'is empty'],
    ['two lines', fileOf('NRAK-ABC\nNRAK-DEF\n'), 'white space'],
    ['a control character', fileOf('NRAK-\u0000ABC'), 'control'],
    ['a dash that is not ASCII', fileOf('NRAK–ABC'), 'non-ASCII'],
    ['a key in quotes', fileOf('"NRAK-ABC"\n'), 'remove the quotes'],
    ['a key with one quote', fileOf("NRAK-ABC'"), 'remove the quotes'],
    ['a line of a file of variables', fileOf('NEW_RELIC_API_KEY=NRAK-ABC\n'), 'NAME=VALUE'],
    ['a line of a shell script', fileOf('export KEY="NRAK-ABC"; x\n'), 'NAME=VALUE'],
    ['a header', fileOf('Api-Key: NRAK-ABC\n'), 'name of a header'],
    ['a value of another header', fileOf('Bearer NRAK-ABC\n'), '"Bearer"'],
    ['another file', fileOf('x'.repeat(513)), 'too long'],
    ['a binary file', fileOf(new Uint8Array([0xff, 0xfe, 0x4e])), 'not plain text'],
  ] as const)('refuses %s without its content', async (_name, readFile, says) => {
    const error = await readApiKey(file, { readFile, env: noEnv }).catch(
      (thrown: unknown) => thrown,
    );

    expect(error).toMatchObject({ name: 'NamedFileError' });
    expect(String(error)).toContain('the API key file /run/key ');
    expect(String(error)).toContain(says);
    expect(String(error)).not.toContain('NRAK');
  });

  it.each([
    { env: {}, says: 'not set' },
    { env: { NR_KEY: '' }, says: 'empty' },
    { env: { NR_KEY: '`NRAK-ABC`' }, says: 'quotes' },
  ])('refuses the variable in $env', async ({ env, says }) => {
    const reading = readApiKey(variable, { readFile: fileOf('other'), env });

    await expect(reading).rejects.toMatchObject({ name: 'NamedFileError' });
    await expect(reading).rejects.toThrow(new RegExp(`variable NR_KEY .*${says}`, 'u'));
  });
});

describe('readProxyUrl', () => {
  const url = 'http://user:hunter2@proxy:3128';

  it.each([
    { what: 'a file', location: file, env: noEnv },
    { what: 'an environment variable', location: variable, env: { NR_KEY: ` ${url}/\n` } },
  ])('reads $what, without white space and slash', async ({ location, env }) => {
    const dependencies = { readFile: fileOf(`${url}/\n`), env };

    await expect(readProxyUrl(location, dependencies)).resolves.toBe(url);
  });

  it.each([
    {
      what: 'a missing file',
      location: file,
      readFile: failingWith('ENOENT'),
      says: 'the proxy URL file /run/key does not exist: create it with the proxy URL as its only content, readable by this user',
    },
    {
      what: 'a variable that is not set',
      location: variable,
      readFile: fileOf(''),
      says: 'the environment variable NR_KEY is not set: set it to the proxy URL',
    },
    {
      what: 'an empty file',
      location: file,
      readFile: fileOf('\n'),
      says: 'the content of the proxy URL file /run/key must be a URL such as http://proxy:3128: put only the URL into it',
    },
    {
      what: 'a URL with a path',
      location: file,
      readFile: fileOf(`${url}/path`),
      says: 'must end with the host and the port: put only the URL into it',
    },
    {
      what: 'a password that is not encoded',
      location: file,
      readFile: fileOf('http://user:hunter2%@proxy'),
      says: 'must have its credentials percent-encoded: write %25 for a percent sign',
    },
    {
      what: 'a password longer than any proxy reads',
      location: file,
      readFile: fileOf(`http://user:${'hunter2'.repeat(7000)}@proxy`),
      says: 'must have at most 4000 characters: put only the URL into it',
    },
  ])('refuses $what, and never repeats it', async ({ location, readFile, says }) => {
    const error: unknown = await readProxyUrl(location, { readFile, env: noEnv }).catch(
      (reason: unknown) => reason,
    );

    expect(error).toHaveProperty('message', expect.stringContaining(says));
    expect(inspect(error)).not.toContain('hunter2');
  });
});

describe('readCaFile', () => {
  const good = readFileSync(
    new URL('../newrelic/calls/fixtures/test-only-certificate.pem', import.meta.url),
    'utf8',
  );

  it('accepts a bundle of certificates, with text between them', async () => {
    const bundle = `# ours\n${good}\n# and again\n${good}`;

    await expect(readCaFile('/etc/ca.pem', { readFile: fileOf(bundle) })).resolves.toBe(bundle);
  });

  it('accepts comments in another encoding', async () => {
    const bytes = Buffer.concat([Buffer.from([0x23, 0xe9, 0x0a]), Buffer.from(good)]);

    const text = await readCaFile('/etc/ca.pem', { readFile: fileOf(bytes) });

    expect(text).toContain(good);
  });

  it.each([
    {
      what: 'a directory',
      readFile: failingWith('EISDIR'),
      says: 'is a directory: write the path of a file in it',
    },
    { what: 'an empty file', readFile: fileOf(''), says: 'holds no certificate that can be read' },
    {
      what: 'anything else',
      readFile: fileOf('hello'),
      says: 'holds no certificate that can be read',
    },
    {
      what: 'a broken certificate beside a good one',
      readFile: fileOf(
        `${good}\n${good.replace(/\n[A-Za-z0-9+/]{20}/u, '\nAAAAAAAAAAAAAAAAAAAA')}`,
      ),
      says: 'has a broken certificate, number 2 of 2',
    },
    {
      what: 'a certificate whose end is missing',
      readFile: fileOf(`${good.replace('-----END CERTIFICATE-----', '')}\n${good}`),
      says: 'has a broken certificate, number 1 of 2',
    },
  ])('refuses $what, and names the file', async ({ readFile, says }) => {
    await expect(readCaFile('/etc/ca.pem', { readFile })).rejects.toThrow(
      `the CA file /etc/ca.pem ${says}`,
    );
  });
});
