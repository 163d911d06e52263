import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** How a program is run on the files of an image. */
export interface Container {
  /** Starts Node with these arguments; its process is the program's own. */
  start(args: readonly string[]): ChildProcess;
  /** The same, to its end. */
  run(args: readonly string[]): Promise<Outcome>;
}

export interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

/**
 * What a runtime does for a pod that is "restricted" with a read-only root: a mount namespace, the
 * root and the volumes read-only, user and group 65532, no capabilities and no way to new ones.
 */
const cage = `
set -e
mount --bind "$ROOT" "$ROOT"
mount --bind "$CONFIG" "$ROOT/etc/newrelic-exporter"
mount --bind "$SECRET" "$ROOT/var/run/secrets/newrelic"
for path in "$ROOT" "$ROOT/etc/newrelic-exporter" "$ROOT/var/run/secrets/newrelic"; do
  mount -o remount,bind,ro "$path"
done
exec setpriv --no-new-privs --clear-groups --bounding-set=-all,+setuid,+setgid,+sys_chroot \\
  unshare --root="$ROOT" --wd=/app --setgid=65532 --setuid=65532 -- /nodejs/bin/node "$@"
`;

export interface ContainerOptions {
  /** The image's files. Folders for the volumes are added to them. */
  readonly root: string;
  /** Appears as `/etc/newrelic-exporter`. */
  readonly config: string;
  /** Appears as `/var/run/secrets/newrelic`. */
  readonly secret: string;
  /** The environment of the image, such as `NODE_ENV=production`. */
  readonly environment: readonly string[];
}

export async function createContainer(options: ContainerOptions): Promise<Container> {
  const { root, config, secret, environment } = options;
  await mkdir(join(root, 'etc/newrelic-exporter'), { recursive: true });
  await mkdir(join(root, 'var/run/secrets/newrelic'), { recursive: true });
  const pairs = environment.map((entry) => entry.split(/=(.*)/su, 2));
  const env = {
    ...Object.fromEntries(pairs),
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    ROOT: root,
    CONFIG: config,
    SECRET: secret,
  };
  const start = (args: readonly string[]): ChildProcess =>
    spawn(
      'sh',
      ['-c', 'exec unshare --mount --propagation=private sh -c "$0" cage "$@"', cage, ...args],
      {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
  return {
    start,
    run: async (args) => {
      const child = start(args);
      let output = '';
      child.stdout?.on('data', (part: Buffer) => (output += part.toString()));
      child.stderr?.on('data', (part: Buffer) => (output += part.toString()));
      await once(child, 'close');
      return { code: child.exitCode, output };
    },
  };
}
