import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/diagnostic.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { ReadFile } from '../../src/config/read-file.ts';

function fileOf(content: string | Uint8Array): ReadFile {
  return async () => (typeof content === 'string' ? new TextEncoder().encode(content) : content);
}

function failingWith(code: string): ReadFile {
  return async () => {
    throw Object.assign(new Error('no'), { code });
  };
}

const oneTurn = {
  nextTurn: async (): Promise<void> => {},
  clock: { monotonicMs: () => 0 },
  ownHostNames: ['web-1'],
};

async function failureOf(readFile: ReadFile): Promise<unknown> {
  try {
    return await loadConfig('conf/config.yaml', { readFile, ...oneTurn });
  } catch (error) {
    return error;
  }
}

describe('loadConfig', () => {
  it('resolves paths against the directory of the file', async () => {
    const text = 'accounts: [{name: a, api_key_file: key}]\napps: [{id: 1}]';

    const { config, warnings } = await loadConfig('/etc/exporter/config.yaml', {
      readFile: fileOf(`\uFEFF${text}`),
      ...oneTurn,
    });

    expect(config.accounts[0]?.apiKey).toStrictEqual({ kind: 'file', path: '/etc/exporter/key' });
    expect(warnings).toStrictEqual([]);
  });

  it('names the file by the given path', async () => {
    const error = await failureOf(fileOf('apps: []'));

    expect(String(error)).toContain('conf/config.yaml:1:7: "apps" must not be empty');
  });

  it.each([
    {
      name: 'a missing file',
      readFile: failingWith('ENOENT'),
      message:
        'conf/config.yaml: the configuration file does not exist\n    = help: name the configuration file with --config.file',
    },
    {
      name: 'an unreadable file',
      readFile: failingWith('EACCES'),
      message:
        'conf/config.yaml: the configuration file cannot be read: permission denied\n    = help: let the user of this process read it, and search the directories above it',
    },
    {
      name: 'a directory',
      readFile: failingWith('EISDIR'),
      message:
        'conf/config.yaml: the configuration file is a directory\n    = help: name the configuration file with --config.file',
    },
    {
      name: 'a named pipe',
      readFile: failingWith('ENOTREG'),
      message:
        'conf/config.yaml: the configuration file is not a regular file\n    = help: name the configuration file with --config.file',
    },
    {
      name: 'a file on a volume that hangs',
      readFile: failingWith('ETIMEDOUT'),
      message:
        'conf/config.yaml: the configuration file cannot be read: its file system does not answer\n    = help: check the volume that it is on',
    },
    {
      name: 'a large file',
      readFile: fileOf('#'.repeat(1024 * 1024 + 1)),
      message:
        'conf/config.yaml: the configuration file is larger than 1 MiB\n    = help: is it the right file?',
    },
    {
      name: 'a file in another encoding',
      readFile: fileOf(new Uint8Array([0xff, 0xfe, 0x61, 0x00])),
      message:
        'conf/config.yaml: the configuration file is not UTF-8\n    = help: save it with that encoding',
    },
  ])('refuses $name', async ({ readFile, message }) => {
    const error = await failureOf(readFile);

    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toHaveProperty('message', message);
  });
});
