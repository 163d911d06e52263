import { execFile } from 'node:child_process';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { projectFolder } from '../docs/documents.ts';

const execute = promisify(execFile);

/** Where `.ci/run` puts Node 24, which is the version of the image. */
export const node24: string = join(
  process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  `newrelic-exporter-ci/node_modules/node-linux-${process.arch}/bin/node`,
);

/** Runs a program and gives what it wrote to standard output; its errors are in the thrown error. */
export async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await execute(program, args, { cwd: projectFolder, maxBuffer: 2 ** 26 });
  return stdout.trim();
}

async function copyInto(root: string, path: string, target = path): Promise<void> {
  await mkdir(dirname(join(root, target)), { recursive: true });
  await cp(path, join(root, target), { dereference: true });
}

/** Copies the shared libraries that the programs need. */
async function copyLibraries(root: string, programs: readonly string[]): Promise<void> {
  const listings = await Promise.all(programs.map(async (program) => outputOf('ldd', [program])));
  const libraries = new Set(listings.flatMap((text) => text.match(/\/[^ \n]+\.so[^ \n]*/gu) ?? []));
  for (const library of libraries) await copyInto(root, library);
}

/** What of the distroless image the program needs: Node, its libraries and a user. No shell. */
export async function makeRuntimeRoot(root: string): Promise<void> {
  await copyInto(root, node24, 'nodejs/bin/node');
  await copyLibraries(root, [node24]);
  await mkdir(join(root, 'etc'));
  await writeFile(
    join(root, 'etc/passwd'),
    'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532::/home/nonroot:/sbin/nologin\n',
  );
}

/** What of the image of Node the build needs: a shell, Node, npm and certificates of the machine. */
export async function makeBuildRoot(root: string): Promise<void> {
  const shellPrograms = ['/bin/sh', '/bin/cp', '/usr/bin/touch', '/usr/bin/env'];
  await copyInto(root, node24, 'usr/local/bin/node');
  for (const program of shellPrograms) await copyInto(root, program);
  const bundler = join(
    projectFolder,
    `node_modules/@rolldown/binding-linux-${process.arch}-gnu`,
    `rolldown-binding.linux-${process.arch}-gnu.node`,
  );
  await copyLibraries(root, [node24, bundler, ...shellPrograms]);
  const libraries = join(dirname(dirname(await outputOf('which', ['npm']))), 'lib/node_modules');
  await cp(join(libraries, 'npm'), join(root, 'usr/local/lib/node_modules/npm'), {
    recursive: true,
  });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  await mkdir(join(root, 'etc'), { recursive: true });
  await mkdir(join(root, 'tmp'));
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  // The C library loads these by name when a host name is looked up.
  const libc = /\/\S+\/libc\.so\.6/u.exec(await outputOf('ldd', [node24]))?.[0] ?? '/lib/libc.so.6';
  for (const library of ['libnss_dns.so.2', 'libnss_files.so.2', 'libresolv.so.2']) {
    await copyInto(root, join(dirname(libc), library));
  }
  const certificates = process.env['NODE_EXTRA_CA_CERTS'];
  if (certificates !== undefined) await copyInto(root, certificates, 'etc/extra-ca.crt');
}
