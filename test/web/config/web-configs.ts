import { ConfigError } from '../../../src/config/diagnostic.ts';
import { type LoadedWebConfig, loadWebConfig } from '../../../src/web/config/load-web-config.ts';
import { createFakePlatform } from '../../support/fake-platform.ts';
import { tlsFiles } from '../../support/tls-files.ts';

/** The file that `loadWeb` reads. */
export const path = '/etc/exporter/web.yaml';
/** Of a password that nobody knows. */
export const hash = '$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG';

/** Loads a web configuration with this text, beside the certificates of the tests. */
export async function loadWeb(
  text: string,
  more: Readonly<Record<string, string>> = {},
): Promise<LoadedWebConfig> {
  const files = { [path]: text, ...tlsFiles('/etc/exporter'), ...more };
  const { readFile } = createFakePlatform({ files });
  return loadWebConfig(path, { readFile, clock: { wallMs: () => Date.parse('2030-01-01') } });
}

/** The message of the `ConfigError` that a text causes; every other outcome fails the test. */
export async function webFailureOf(
  text: string,
  more?: Readonly<Record<string, string>>,
): Promise<string> {
  try {
    await loadWeb(text, more);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('no error was found');
}

/** A file with the certificate of the server and some more keys. */
export function tls(...lines: readonly string[]): string {
  const keys = ['cert_file: server.pem', 'key_file: server-key.pem', ...lines];
  return `tls_server_config:\n${keys.map((key) => `  ${key}\n`).join('')}`;
}

/** A text as a block in YAML. */
export function block(text: string): string {
  return `|\n${text.replaceAll(/^/gmu, '      ')}`;
}
