/**
 * Makes what is published besides the image, and the checksums of it:
 *
 *   node scripts/make-packages.mjs FOLDER      a new one
 *
 *   FOLDER/npm/newrelic-exporter-1.2.3.tgz      the npm package
 *   FOLDER/chart/newrelic-exporter-1.2.3.tgz    the Helm chart
 *   FOLDER/SHA256SUMS
 *
 * The same commit gives the same bytes, with the same versions of Node and Helm. Needs `npm ci` before,
 * and helm >= 4.3 in PATH, or in the variable HELM. The files of the chart get the date of the commit, or
 * SOURCE_DATE_EPOCH.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const project = fileURLToPath(new URL('..', import.meta.url));
const helm = process.env.HELM ?? 'helm';

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string>>} env
 */
async function outputOf(program, args, env = {}) {
  const options = { cwd: project, env: { ...process.env, ...env } };
  return (await promisify(execFile)(program, args, options)).stdout.trim();
}

/** Older versions of Helm write the time of the day into the archive. */
async function checkHelm() {
  const version = await outputOf(helm, ['version', '--template', '{{.Version}}']);
  const [, major = '0', minor = '0'] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  if (Number(major) < 4 || (Number(major) === 4 && Number(minor) < 3)) {
    throw new Error(`helm is ${version}: install 4.3 or newer, or name it in the variable HELM`);
  }
}

/** @param {string} folder */
async function onlyFileIn(folder) {
  const [file, ...others] = await readdir(folder);
  if (file === undefined || others.length > 0) throw new Error(`not one file in ${folder}`);
  return file;
}

/** @param {string} output */
async function makePackages(output) {
  if (existsSync(output) === true) throw new Error(`${output} exists: name a new folder`);
  await checkHelm();
  const epoch =
    process.env.SOURCE_DATE_EPOCH ?? (await outputOf('git', ['log', '-1', '--format=%ct']));
  const folders = { npm: join(output, 'npm'), chart: join(output, 'chart') };
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true });

  await outputOf('npm', ['pack', '--pack-destination', folders.npm]);
  await outputOf(helm, ['package', 'helm/newrelic-exporter', '--destination', folders.chart], {
    SOURCE_DATE_EPOCH: epoch,
  });
  // What Helm writes into the registry as the date of the chart.
  const chart = join(folders.chart, await onlyFileIn(folders.chart));
  await utimes(chart, Number(epoch), Number(epoch));

  const lines = await Promise.all(
    Object.entries(folders).map(async ([name, folder]) => {
      const file = await onlyFileIn(folder);
      const hash = createHash('sha256').update(await readFile(join(folder, file)));
      return `${hash.digest('hex')}  ${name}/${file}\n`;
    }),
  );
  await writeFile(join(output, 'SHA256SUMS'), lines.join(''));
  return lines.join('');
}

const [folder] = process.argv.slice(2);
try {
  if (folder === undefined) throw new Error('usage: node scripts/make-packages.mjs FOLDER');
  process.stdout.write(await makePackages(resolve(folder)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
