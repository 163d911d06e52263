import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Certificates and keys for tests alone; `test/support/tls/make` made them. */
const names = [
  'ca',
  'other-ca',
  'server',
  'server-key',
  'renewed',
  'renewed-key',
  'client',
  'client-key',
  'stranger',
  'stranger-key',
] as const;

export type TlsFileName = (typeof names)[number];

/** The path of a file, for programs that read it. */
export function tlsFile(name: TlsFileName): string {
  return fileURLToPath(new URL(`tls/test-only-${name}.pem`, import.meta.url));
}

export function tlsText(name: TlsFileName): string {
  return readFileSync(tlsFile(name), 'utf8');
}

/** All of them, under the names that the web configurations of tests use. */
export function tlsFiles(directory: string): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [`${directory}/${name}.pem`, tlsText(name)]));
}
