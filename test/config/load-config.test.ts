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
  listDirectory: async (): Promise<readonly string[]> => [],
  realPath: async (path: string): Promise<string> => path,
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
    ['a missing file', failingWith('ENOENT'), 'does not exist', '--config.file'],
    ['a file on a volume that hangs', failingWith('ETIMEDOUT'), 'does not answer', 'the volume'],
    ['a large file', fileOf('#'.repeat(1024 * 1024 + 1)), 'larger than 1 MiB', 'the right file'],
    ['another encoding', fileOf(new Uint8Array([0xff, 0xfe, 0x61, 0x00])), 'UTF-8', 'encoding'],
  ] as const)('refuses %s', async (_name, readFile, says, help) => {
    const error = await failureOf(readFile);

    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toContain('conf/config.yaml: the configuration file ');
    expect(String(error)).toMatch(new RegExp(`${says}.*\\n    = help: .*${help}`, 'u'));
  });
});
