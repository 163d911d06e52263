import { describe, expect, it } from 'vitest';
import { readApiKey } from '../../src/config/api-key.ts';
import type { KeyLocation } from '../../src/model/config.ts';

const file: KeyLocation = { kind: 'file', path: '/run/key' };
const variable: KeyLocation = { kind: 'env', name: 'NR_KEY' };
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
    {
      name: 'a missing file',
      readFile: failingWith('ENOENT'),
      message:
        'the API key file /run/key does not exist: create it with the API key as its only content, readable by this user',
    },
    {
      name: 'an unreadable file',
      readFile: failingWith('EACCES'),
      message:
        'the API key file /run/key cannot be read: permission denied: let the user of this process read it, and search the directories above it',
    },
    {
      name: 'a failing disk',
      readFile: failingWith('EIO'),
      message: 'the API key file /run/key cannot be read (EIO): check the volume that it is on',
    },
    {
      name: 'a named pipe',
      readFile: failingWith('ENOTREG'),
      message:
        'the API key file /run/key is not a regular file: create it with the API key as its only content, readable by this user',
    },
    {
      name: 'a file on a volume that hangs',
      readFile: failingWith('ETIMEDOUT'),
      message:
        'the API key file /run/key cannot be read: its file system does not answer: check the volume that it is on',
    },
    {
      name: 'an empty file',
      readFile: fileOf(' \n\t\n'),
      message: 'the API key file /run/key is empty: put the API key into it',
    },
    {
      name: 'two lines',
      readFile: fileOf('NRAK-ABC\nNRAK-DEF\n'),
      message:
        'the API key file /run/key holds white space, control or non-ASCII characters inside the key: put only the key into it',
    },
    {
      name: 'a control character',
      readFile: fileOf('NRAK-\u0000ABC'),
      message:
        'the API key file /run/key holds white space, control or non-ASCII characters inside the key: put only the key into it',
    },
    {
      name: 'a dash that is not ASCII',
      readFile: fileOf('NRAK–ABC'),
      message:
        'the API key file /run/key holds white space, control or non-ASCII characters inside the key: put only the key into it',
    },
    {
      name: 'a key in quotes',
      readFile: fileOf('"NRAK-ABC"\n'),
      message: 'the API key file /run/key holds the API key in quotes: remove the quotes',
    },
    {
      name: 'a key with one quote',
      readFile: fileOf("NRAK-ABC'"),
      message: 'the API key file /run/key holds the API key in quotes: remove the quotes',
    },
    {
      name: 'a line of a file of variables',
      readFile: fileOf('NEW_RELIC_API_KEY=NRAK-ABC\n'),
      message:
        'the API key file /run/key holds an assignment such as NAME=VALUE: put only the key into it, which is what follows "="',
    },
    {
      name: 'a line of a shell script',
      readFile: fileOf('export KEY="NRAK-ABC"; x\n'),
      message:
        'the API key file /run/key holds an assignment such as NAME=VALUE: put only the key into it, which is what follows "="',
    },
    {
      name: 'a header',
      readFile: fileOf('Api-Key: NRAK-ABC\n'),
      message:
        'the API key file /run/key holds the name of a header in front of the key: put only the key into it',
    },
    {
      name: 'a value of another header',
      readFile: fileOf('Bearer NRAK-ABC\n'),
      message:
        'the API key file /run/key holds a word such as "Bearer" in front of the key: put only the key into it',
    },
    {
      name: 'another file',
      readFile: fileOf('x'.repeat(513)),
      message: 'the API key file /run/key is too long for an API key: put only the key into it',
    },
    {
      name: 'a binary file',
      readFile: fileOf(new Uint8Array([0xff, 0xfe, 0x4e])),
      message: 'the API key file /run/key is not plain text: write the API key into it',
    },
  ])('refuses $name without its content', async ({ readFile, message }) => {
    await expect(readApiKey(file, { readFile, env: noEnv })).rejects.toMatchObject({
      name: 'KeyError',
      location: file,
      message,
    });
  });

  it.each([
    {
      env: {},
      message: 'the environment variable NR_KEY is not set: set it to the API key',
    },
    {
      env: { NR_KEY: '' },
      message: 'the environment variable NR_KEY is empty: put the API key into it',
    },
    {
      env: { NR_KEY: '`NRAK-ABC`' },
      message: 'the environment variable NR_KEY holds the API key in quotes: remove the quotes',
    },
  ])('refuses the variable in $env', async ({ env, message }) => {
    const dependencies = { readFile: fileOf('other'), env };

    await expect(readApiKey(variable, dependencies)).rejects.toMatchObject({
      name: 'KeyError',
      location: variable,
      message,
    });
  });
});
