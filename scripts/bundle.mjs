/**
 * Bundles the program and all its dependencies into one file, for the container image and for npm:
 *
 *   dist-bundle/newrelic-exporter.mjs        needs nothing but Node
 *   dist-bundle/newrelic-exporter.mjs.map    for whoever runs it with --enable-source-maps
 *   dist-bundle/THIRD_PARTY_LICENSES         of the packages that are in the bundle
 *   dist-bundle/sbom.cdx.json                these packages, their versions and hashes, and which of them
 *                                            needs which, for scanners (CycloneDX)
 *
 * The same sources give the same bytes. Another folder can be named as argument.
 * See docs/dev/decisions/0005-bundle.md.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const project = fileURLToPath(new URL('..', import.meta.url));
const output = resolve(process.argv[2] ?? join(project, 'dist-bundle'));
const entryName = 'newrelic-exporter.mjs';

/**
 * An `import` of a module of Node reads all that it exports. Of `node:http` that is `WebSocket` too,
 * for which Node then loads a whole HTTP client: a third of the time to start.
 *
 * @type {import('rolldown').Plugin}
 */
const nodeModules = {
  name: 'node-modules',
  resolveId(id, importer, { kind }) {
    const isOfBundler = importer?.startsWith('\0rolldown') ?? false;
    if (isOfBundler || kind === 'require-call' || isBuiltin(id) !== true) return undefined;
    return `\0node-module:${id.replace(/^node:/, '')}`;
  },
  load(id) {
    if (!id.startsWith('\0node-module:')) return undefined;
    const module = id.slice('\0node-module:'.length);
    return { code: `module.exports = process.getBuiltinModule('${module}');`, moduleType: 'js' };
  },
};

/**
 * Of undici only what `src/newrelic/calls` uses, set up as undici's own index.js does: its `fetch`, caches
 * and mocks would be a quarter of the bundle, nothing is streamed or upgraded, no answer is a form, and a
 * connection asks for HTTP/2 only with `allowH2`, which we do not set. Compare with index.js when undici is updated.
 *
 * @type {import('rolldown').Plugin}
 */
const partOfUndici = {
  name: 'part-of-undici',
  resolveId(id, importer) {
    if (id === 'undici') return '\0part-of-undici';
    if (importer !== '\0part-of-undici') return undefined;
    return join(project, 'node_modules', id);
  },
  load(id) {
    if (/[\\/]undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/.test(id)) {
      return "module.exports = () => { throw new Error('HTTP/2 was not asked for'); };";
    }
    // One of two readers of answers is enough: undici takes the other one, which runs on every processor, without it.
    if (/[\\/]undici[\\/]lib[\\/]llhttp[\\/]llhttp_simd-wasm\.js$/.test(id)) {
      return "throw new Error('it is left out');";
    }
    if (/[\\/]undici[\\/]lib[\\/]web[\\/]fetch[\\/]formdata-parser\.js$/.test(id)) {
      return 'module.exports = {};';
    }
    if (id !== '\0part-of-undici') return undefined;
    return [
      "import request from 'undici/lib/api/api-request.js';",
      "import connect from 'undici/lib/api/api-connect.js';",
      "import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';",
      'Object.assign(Dispatcher.prototype, { request, connect });',
      "export { default as Pool } from 'undici/lib/dispatcher/pool.js';",
      "export { default as Client } from 'undici/lib/dispatcher/client.js';",
      "export { default as buildConnector } from 'undici/lib/core/connect.js';",
    ].join('\n');
  },
};

/**
 * zod's messages in 50 languages; we write our own.
 *
 * @type {import('rolldown').Plugin}
 */
const oneLanguage = {
  name: 'one-language',
  load(id) {
    if (!/[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/.test(id)) return undefined;
    return "export { default as en } from './en.js';";
  },
};

/**
 * prom-client asks OpenTelemetry for the span of an exemplar, which we have none of, and can push metrics, add up
 * those of several processes and estimate quantiles, which nobody asks it for.
 *
 * @type {import('rolldown').Plugin}
 */
const partOfPromClient = {
  name: 'part-of-prom-client',
  resolveId: (id) => (id === '@opentelemetry/api' ? '\0no-tracing' : undefined),
  load: (id) =>
    id === '\0no-tracing' ||
    /[\\/]prom-client[\\/]lib[\\/](?:pushgateway|cluster|summary)\.js$/.test(id)
      ? { code: 'module.exports = {};', moduleType: 'js' }
      : undefined,
};

/** @param {string} folder */
async function licenceTextOf(folder) {
  const files = (await readdir(folder)).toSorted();
  const licences = files.filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file));
  const texts = await Promise.all(licences.map((file) => readFile(join(folder, file), 'utf8')));
  return texts.map((text) => text.replaceAll('\r\n', '\n').trim()).join('\n\n');
}

/**
 * All packages of which a module is in the bundle.
 *
 * @param {readonly string[]} moduleIds
 */
async function packagesOf(moduleIds) {
  /** @type {Set<string>} */
  const folders = new Set();
  for (const id of moduleIds) {
    const folder = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0];
    if (folder !== undefined) folders.add(folder);
  }
  const { packages: locked } = JSON.parse(
    await readFile(join(project, 'package-lock.json'), 'utf8'),
  );
  const packages = await Promise.all(
    [...folders].map(async (folder) => {
      const { name, version, license, dependencies = {} } = await manifestIn(folder);
      const place = relative(project, folder).replaceAll('\\', '/');
      const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
      const [, base64] = /^sha512-(.+)$/.exec(locked[place]?.integrity) ?? [];
      if (base64 === undefined) throw new Error(`package-lock.json has no hash of ${place}`);
      const hashes = [{ alg: 'SHA-512', content: Buffer.from(base64, 'base64').toString('hex') }];
      const needs = [...Object.keys(dependencies), ...(name === 'undici' ? ['llhttp'] : [])];
      return { name, version, license, purl, hashes, needs, text: await licenceTextOf(folder) };
    }),
  );
  const undici = packages.find(({ name }) => name === 'undici');
  const hasParser = moduleIds.some((id) => /[\\/]llhttp\S*-wasm\.js$/.test(id));
  const parsers = undici !== undefined && hasParser ? [await parserIn(undici)] : [];
  return [...packages, ...parsers].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * The HTTP parser inside undici, compiled to WebAssembly. undici says neither its version nor its licence,
 * and the hash of undici covers its bytes.
 *
 * @param {{ version: string }} undici
 */
async function parserIn({ version }) {
  return {
    name: 'llhttp',
    version: undefined,
    description: `The HTTP parser inside undici ${version}, as WebAssembly.`,
    license: 'MIT',
    purl: 'pkg:github/nodejs/llhttp',
    hashes: undefined,
    needs: [],
    text: (await readFile(join(project, 'scripts/llhttp-licence.txt'), 'utf8')).trim(),
  };
}

/** @param {string} folder */
async function manifestIn(folder) {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
}

/** @typedef {Awaited<ReturnType<typeof packagesOf>>} Packages */

/** @param {Packages} packages */
function licencesOf(packages) {
  const parts = packages.map(({ name, version = 'inside undici', license, text }) =>
    [`${name} ${version} (${license})`, '', text === '' ? noText : text].join('\n'),
  );
  return `${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
const noText = 'The package comes without the text of its licence.';

/**
 * @typedef {{ name: string, version?: string | undefined, license: string, purl: string }} Component
 *
 * @param {Component} one
 */
function componentOf({ name, version, license, purl }) {
  return { 'bom-ref': purl, name, version, licenses: [{ expression: license }], purl };
}

/**
 * What scanners for vulnerabilities cannot see in a single file.
 *
 * @param {{ name: string, version: string, license: string, devDependencies: object }} manifest
 * @param {Packages} packages
 */
function sbomOf({ name, version, license, devDependencies }, packages) {
  const program = { name, version, license, purl: `pkg:npm/${name}@${version}` };
  /** @param {readonly string[]} needs */
  const refsOf = (needs) =>
    packages.filter((one) => needs.includes(one.name)).map(({ purl }) => purl);
  const sbom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', ...componentOf(program) } },
    components: packages.map((one) => ({
      type: 'library',
      ...componentOf(one),
      ...('description' in one ? { description: one.description } : {}),
      hashes: one.hashes,
    })),
    dependencies: [
      { ref: program.purl, dependsOn: refsOf(Object.keys(devDependencies)) },
      ...packages.map(({ purl, needs }) => ({ ref: purl, dependsOn: refsOf(needs) })),
    ],
  };
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

const bundle = await rolldown({
  input: join(project, 'src/main.ts'),
  cwd: project,
  platform: 'node',
  tsconfig: false,
  // Names of files are in the bundle: they must be the same where node_modules is a link.
  resolve: { symlinks: false },
  // Lines of the bundle that say of which file they are: nobody asks, and the map knows.
  experimental: { attachDebugInfo: 'none' },
  plugins: [nodeModules, partOfUndici, oneLanguage, partOfPromClient],
  onLog(level, log) {
    if (level === 'warn') throw new Error(log.message);
  },
});
await rm(output, { recursive: true, force: true });
await mkdir(output, { recursive: true });
const { output: files } = await bundle.write({
  dir: output,
  format: 'esm',
  entryFileNames: entryName,
  codeSplitting: false,
  sourcemap: true,
  sourcemapExcludeSources: true,
  sourcemapPathTransform: (source, map) =>
    relative(project, resolve(dirname(map), source)).replaceAll('\\', '/'),
  comments: false,
  // Names and lines stay, so that a stack trace can be read without the map.
  minify: { compress: true, mangle: false, codegen: false },
});
await bundle.close();
const [entry, ...others] = files.filter((file) => file.type === 'chunk');
if (others.length > 0) throw new Error('more than one file');
const packages = await packagesOf(entry.moduleIds);
await writeFile(join(output, 'THIRD_PARTY_LICENSES'), licencesOf(packages));
await writeFile(join(output, 'sbom.cdx.json'), sbomOf(await manifestIn(project), packages));
process.stdout.write(`${join(output, entryName)}: ${entry.code.length} bytes\n`);
