import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Whether some tests are skipped, and what to write into their titles then. */
export interface Skip {
  /** For `describe.skipIf`. */
  readonly skip: boolean;
  /** For the end of a title: says why it is skipped, and is empty where it is not. */
  readonly note: string;
}

/** A program that some tests need and a machine may lack. Where `CI` is `true`, nothing is skipped. */
export interface Tool extends Skip {
  /** The path; the bare name where it was not found, so that running it fails and says so. */
  readonly path: string;
}

/** Where the package of Debian is not called as the program, or too old. */
const remedies: Readonly<Record<string, string>> = {
  promtool: 'apt-get install prometheus',
  kubectl: 'https://kubernetes.io/docs/tasks/tools',
};

/** For tests that need something of the machine, such as a system. */
export function skipUnless(isThere: boolean, why: string, how = ''): Skip {
  const note = ` (skipped: ${why}${how === '' ? '' : `; get it: ${how}`})`;
  return { skip: !isThere, note: isThere ? '' : note };
}

/** For tests that need a file that something else makes; in CI nothing is skipped. */
export function existingOrSkip(path: string, what: string, how: string): Skip {
  const mayRun = existsSync(path) || process.env['CI'] === 'true';
  return skipUnless(mayRun, `${what} is not there`, how);
}

/** For tests that look into `/proc`. */
export const onLinux: Skip = skipUnless(process.platform === 'linux', 'they need Linux');

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Looks for a program in `PATH`; where it is missing, its tests are skipped, but not in CI. */
export function toolOrSkip(
  name: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
  how: string = remedies[name] ?? `apt-get install ${name}`,
): Tool {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = folders.map((folder) => join(folder, name)).find(isExecutable);
  const mayRun = found !== undefined || environment['CI'] === 'true';
  return { path: found ?? name, ...skipUnless(mayRun, `${name} is not in PATH`, how) };
}
