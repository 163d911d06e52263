import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One file of the program; the path is relative to `src`, with slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const root = fileURLToPath(new URL('../../src', import.meta.url));

export function readSourceFiles(): readonly SourceFile[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({
      path: relative(root, path).split(sep).join('/'),
      text: readFileSync(path, 'utf8'),
    }));
}
