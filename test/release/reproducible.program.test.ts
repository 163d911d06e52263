import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { helm4 } from '../helm/chart.ts';
import { node24, outputOf } from '../image/stand-in.ts';
import { existingOrSkip } from '../support/tools.ts';
import { copyCheckout } from './checkout.ts';
import { createNpm } from './npm.ts';

const newerNode = existingOrSkip(node24, 'Node 24', '.ci/run');

/** The packages that the bundle holds, by its own list. */
async function bundledPackages(bundle: string): Promise<readonly string[]> {
  const sbom = JSON.parse(await readFile(join(bundle, 'sbom.cdx.json'), 'utf8')) as {
    readonly components: readonly { readonly name: string }[];
  };
  return sbom.components.map(({ name }) => name);
}

/** The files of a folder with their hashes: a difference in megabytes of code is not to be shown. */
async function hashesIn(folder: string): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(folder)).toSorted();
  const hashes = names.map(async (name) => {
    const content = await readFile(join(folder, name));
    return [name, createHash('sha256').update(content).digest('hex')] as const;
  });
  return Object.fromEntries(await Promise.all(hashes));
}

describe.skipIf(helm4.skip)(
  `two checkouts of one commit, in different folders${helm4.note}`,
  () => {
    let directory = '';
    const one = (...path: readonly string[]): string => join(directory, 'one', ...path);
    const two = (...path: readonly string[]): string =>
      join(directory, 'a-longer-name/two', ...path);

    async function makePackages(checkout: string, output: string): Promise<void> {
      const npm = createNpm(process.execPath, join(directory, 'home'));
      const env = [`HELM=${helm4.path}`, 'SOURCE_DATE_EPOCH=1767225600'];
      await npm.run(checkout, 'env', ...env, 'node', 'scripts/make-packages.mjs', output);
    }

    beforeAll(async () => {
      directory = await realpath(await mkdtemp(join(tmpdir(), 'newrelic-exporter-twice-')));
      await copyCheckout(one(), { fileMode: 0o644, packages: [] });
      await makePackages(one(), one('made'));
      const packages = await bundledPackages(one('dist-bundle'));
      await copyCheckout(two(), { fileMode: 0o664, packages });
      await makePackages(two(), two('made'));
    });

    afterAll(async () => {
      await rm(directory, { recursive: true, force: true });
    });

    it('give the same bundle, which is what the image holds', async () => {
      expect(await hashesIn(two('dist-bundle'))).toEqual(await hashesIn(one('dist-bundle')));
    });

    it('give the same bytes of the npm package and of the chart', async () => {
      const sums = await readFile(one('made/SHA256SUMS'), 'utf8');

      expect(sums).toMatch(
        /^[0-9a-f]{64} {2}npm\/newrelic-exporter-[\d.]+\.tgz\n[0-9a-f]{64} {2}chart\/newrelic-exporter-[\d.]+\.tgz\n$/u,
      );
      expect(await readFile(two('made/SHA256SUMS'), 'utf8')).toBe(sums);
      expect(
        await outputOf('sh', ['-c', `cd ${two('made')} && sha256sum --check SHA256SUMS`]),
      ).toMatch(/^npm\/\S+: OK\nchart\/\S+: OK$/u);
    });

    it.skipIf(newerNode.skip)(
      `give the same files of the npm package on another Node${newerNode.note}`,
      async () => {
        const npm = createNpm(node24, join(directory, 'home'));
        const packed = join(directory, 'packed');
        await mkdir(packed);
        await npm.run(one(), 'npm', 'pack', '--pack-destination', packed);
        const unpacked = async (folder: string): Promise<Buffer> => {
          const [name = ''] = await readdir(folder);
          return gunzipSync(await readFile(join(folder, name)));
        };

        // Only unpacked: another version of zlib may compress it otherwise.
        expect((await unpacked(packed)).equals(await unpacked(one('made/npm')))).toBe(true);
      },
    );
  },
);
