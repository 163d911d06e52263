import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { projectFolder } from '../docs/documents.ts';

interface Copy {
  /** As `umask` of the user who checks it out would make them. */
  readonly fileMode: number;
  /** Packages that are to be folders of the copy; all others are links to this checkout's. */
  readonly packages: readonly string[];
}

/** Copies what git knows of this checkout to another folder, with files of now. */
export async function copyCheckout(target: string, { fileMode, packages }: Copy): Promise<void> {
  const { stdout } = await promisify(execFile)(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: projectFolder, maxBuffer: 2 ** 24 },
  );
  for (const file of stdout.split('\0')) {
    // Git also knows files that were removed a moment ago.
    if (file === '' || !existsSync(join(projectFolder, file))) continue;
    await mkdir(dirname(join(target, file)), { recursive: true });
    await copyFile(join(projectFolder, file), join(target, file));
    await chmod(join(target, file), fileMode);
  }
  const modules = join(target, 'node_modules');
  if (packages.length === 0) {
    await symlink(join(projectFolder, 'node_modules'), modules);
    return;
  }
  await mkdir(modules);
  const copied = new Set(packages.map((name) => name.split('/')[0]));
  for (const entry of await readdir(join(projectFolder, 'node_modules'))) {
    const from = join(projectFolder, 'node_modules', entry);
    if (copied.has(entry)) await cp(from, join(modules, entry), { recursive: true });
    else await symlink(from, join(modules, entry));
  }
}
