import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program that some tests need and a machine may lack. */
export interface Tool {
  /** The path; the bare name where it was not found, so that running it fails and says so. */
  readonly path: string;
  /** For `describe.skipIf`: never true where `CI` is `true`, so that nothing is skipped there. */
  readonly skip: boolean;
  /** For the end of a title: says why it is skipped, and is empty where it is not. */
  readonly note: string;
}

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
): Tool {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = folders.map((folder) => join(folder, name)).find(isExecutable);
  const skip = found === undefined && environment['CI'] !== 'true';
  return {
    path: found ?? name,
    skip,
    note: skip ? ` (skipped: ${name} is not in PATH)` : '',
  };
}
