/**
 * Builds the images of the cluster as files, without a registry: the exporter's from the Dockerfile,
 * and the stand-in's from its program. Arguments: the program, the folder to work in.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buildImage } from '../../test/image/buildah.ts';
import { outputOf } from '../../test/image/stand-in.ts';

// As the chart and the example name them.
const exporterName = 'ghcr.io/newrelic-exporter/newrelic-exporter:0.1.0';
const standInName = 'registry.example.com/shop:1.0.0';

async function buildStandIn(program: string, store: string, file: string): Promise<void> {
  const buildah = async (...args: readonly string[]): Promise<string> =>
    outputOf('buildah', [
      '--storage-driver=vfs',
      `--root=${store}`,
      `--runroot=${store}-run`,
      ...args,
    ]);
  const container = await buildah('from', 'scratch');
  await buildah('copy', '--quiet', container, program, '/stand-in');
  await buildah('config', '--entrypoint=["/stand-in"]', '--user=1000:1000', container);
  const image = await buildah('commit', '--quiet', '--rm', container, standInName);
  await buildah('push', '--quiet', image, `docker-archive:${file}:${standInName}`);
}

const [program = '', work = ''] = process.argv.slice(2);
const images = join(work, 'images');
await mkdir(images, { recursive: true });
const built = join(work, 'image-build');
await mkdir(built);
const exporter = await buildImage(built);
await exporter.save(exporterName, join(images, 'exporter.tar'));
await buildStandIn(program, join(work, 'stand-in-build'), join(images, 'stand-in.tar'));
