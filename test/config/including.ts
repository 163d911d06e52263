import { ConfigError } from '../../src/config/diagnostic.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Config } from '../../src/model/config.ts';
import { selectorText } from '../../src/model/selector.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';

type Files = Readonly<Record<string, string>>;

export const account =
  'accounts: [{ name: a, api_key_env: K, source: nerdgraph, account_id: 1 }]\n';
export const main: string = `${account}include: [teams/*.yaml]\n`;

/** Errors of files and directories, by path. */
export function platformWith(
  files: Files,
  failures: Readonly<Record<string, string>> = {},
): FakePlatform {
  const platform = createFakePlatform({ files });
  const fails = (path: string): void => {
    const code = failures[path];
    if (code !== undefined) throw Object.assign(new Error('no'), { code });
  };
  return {
    ...platform,
    readFile: async (path) => {
      fails(path);
      return platform.readFile(path);
    },
    listDirectory: async (path) => {
      fails(path);
      return platform.listDirectory(path);
    },
  };
}

export async function loaded(files: Files): Promise<Config> {
  const { config } = await loadConfig('/etc/nr/config.yaml', platformWith(files));
  return config;
}

export async function refusalOf(platform: FakePlatform): Promise<string> {
  try {
    await loadConfig('/etc/nr/config.yaml', platform);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

export function namesOf({ apps, queries = [] }: Config): readonly string[] {
  return [
    ...apps.map(({ selector }) => selectorText(selector)),
    ...queries.map(({ name }) => name),
  ];
}

export function app(id: number): string {
  return `apps: [{ id: ${id} }]\n`;
}

export function query(name: string): string {
  return `queries: [{ as: ${name}, nrql: SELECT count(*) FROM A }]\n`;
}
