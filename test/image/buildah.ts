import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { makeBuildRoot, makeRuntimeRoot, outputOf } from './stand-in.ts';

/** An image that was built, and how to get at it. */
export interface BuiltImage {
  /** The image's own description, as `buildah inspect` gives it. */
  inspect(): Promise<ImageDescription>;
  /** The folder with the files of a container made of the image. */
  mount(): Promise<string>;
  /** Writes the image to a file that a container runtime can import, under this name. */
  save(name: string, file: string): Promise<void>;
}

export interface ImageDescription {
  readonly OCIv1: {
    readonly config: {
      readonly User: string;
      readonly Entrypoint: readonly string[];
      readonly Cmd?: readonly string[];
      readonly Env: readonly string[];
      readonly ExposedPorts: Readonly<Record<string, unknown>>;
      readonly Labels: Readonly<Record<string, string>>;
    };
  };
  readonly Docker: {
    readonly config: { readonly Healthcheck?: { readonly Test: readonly string[] } };
  };
}

const certificates = 'etc/extra-ca.crt';

/**
 * Builds the Dockerfile without a daemon, on images made of this machine's own files in place of the
 * bases, which need not be reachable.
 */
export async function buildImage(directory: string): Promise<BuiltImage> {
  const store = ['--storage-driver=vfs', `--root=${directory}/store`, `--runroot=${directory}/run`];
  const buildah = async (...args: readonly string[]): Promise<string> =>
    outputOf('buildah', [...store, ...args]);

  async function commit(root: string, name: string, ...config: readonly string[]): Promise<void> {
    const container = await buildah('from', 'scratch');
    await buildah('copy', '--quiet', container, root, '/');
    await buildah('config', ...config, container);
    await buildah('commit', '--quiet', '--rm', container, name);
  }

  const bases = { runtime: join(directory, 'runtime'), build: join(directory, 'build') };
  await makeRuntimeRoot(bases.runtime);
  await makeBuildRoot(bases.build);
  // With the settings of the distroless image that must not show in ours.
  await commit(bases.runtime, 'localhost/runtime:1', '--entrypoint=["/nodejs/bin/node"]');
  const trust = existsSync(join(bases.build, certificates))
    ? [`--env=NODE_EXTRA_CA_CERTS=/${certificates}`]
    : [];
  await commit(
    bases.build,
    'localhost/build:1',
    '--env=PATH=/usr/local/bin:/usr/bin:/bin',
    ...trust,
  );

  const npmConfig = join(homedir(), '.npmrc');
  const digest = await buildah(
    'build',
    '--quiet',
    '--isolation=chroot',
    // For the health check, which is not in the OCI format.
    '--format=docker',
    '--timestamp=0',
    ...(existsSync(npmConfig) ? [`--secret=id=npmrc,src=${npmConfig}`] : []),
    '--build-arg=BUILD_IMAGE=localhost/build:1',
    '--build-arg=RUNTIME_IMAGE=localhost/runtime:1',
    '--build-arg=REVISION=0123abc',
    '.',
  );
  return {
    inspect: async () =>
      JSON.parse(await buildah('inspect', '--type=image', digest)) as ImageDescription,
    mount: async () => buildah('mount', await buildah('from', '--pull-never', digest)),
    save: async (name, file) => {
      await buildah('push', '--quiet', digest, `docker-archive:${file}:${name}`);
    },
  };
}
