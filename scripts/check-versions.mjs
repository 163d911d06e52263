/**
 * Checks that all files name the same version, and prints it:
 *
 *   node scripts/check-versions.mjs
 *   node scripts/check-versions.mjs --tag=v1.2.3 --repository=OWNER/NAME
 *
 * With `--tag`, also that this version can be released: the tag names it, and the changelog has nothing
 * that is not released yet. With `--repository`, that package and chart name this repository on GitHub,
 * as npm's provenance requires. Reads the files in the current folder. Exits with 1 and all problems,
 * one in each line.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

/** The newest heading of the changelog that is a release. */
const newestRelease = /^## (\d+\.\d+\.\d+) \/ \d{4}-\d{2}-\d{2}$/m;

/** Where a version stands. */
const places = [
  { file: 'package.json', what: 'version', pattern: /^ {2}"version": "(.+)",$/m },
  { file: 'package-lock.json', what: 'version', pattern: /^ {2}"version": "(.+)",$/m },
  {
    file: 'package-lock.json',
    what: 'version of the package',
    pattern: /^ {6}"version": "(.+)",$/m,
  },
  { file: 'src/daemon/build.ts', what: 'version', pattern: /^const version = '(.+)';$/m },
  { file: 'CHANGELOG.md', what: 'newest release', pattern: newestRelease },
  { file: 'Dockerfile', what: 'VERSION', pattern: /^ARG VERSION=(.+)$/m },
  { file: 'docs/kubernetes.md', what: 'VERSION', pattern: /^\| `VERSION`, .* \| `(.+?)`, /m },
  { file: 'README.md', what: 'status', pattern: /^Version (\S+) contains /m },
  { file: 'helm/newrelic-exporter/Chart.yaml', what: 'version', pattern: /^version: (.+)$/m },
  { file: 'helm/newrelic-exporter/Chart.yaml', what: 'appVersion', pattern: /^appVersion: (.+)$/m },
  {
    file: 'helm/newrelic-exporter/Chart.yaml',
    what: 'image of the annotations',
    pattern: /^ +image: \S+:(.+)$/m,
  },
];

/** @param {string} file */
async function textOf(file) {
  return readFile(file, 'utf8');
}

/** @param {string} version */
async function versionProblems(version) {
  const found = await Promise.all(
    places.map(async ({ file, what, pattern }) => {
      const there = pattern.exec(await textOf(file))?.[1];
      if (there === version) return [];
      return [`${file}: ${what} is ${there ?? 'missing'}, but package.json has ${version}`];
    }),
  );
  return found.flat();
}

/**
 * @param {string} version
 * @param {string} tag
 */
async function tagProblems(version, tag) {
  const problems = [];
  if (!/^v\d+\.\d+\.\d+$/.test(tag)) problems.push(`the tag ${tag} is not like v1.2.3`);
  else if (tag !== `v${version}`) {
    problems.push(`the tag is ${tag}, but package.json has ${version}: tag it v${version}`);
  }
  const [, first = 'missing'] = /^## (.+)$/m.exec(await textOf('CHANGELOG.md')) ?? [];
  if (!first.startsWith(`${version} / `)) {
    problems.push(
      `CHANGELOG.md: the first heading is ${first}: ` +
        `give what is not released yet the heading "## ${version} / YYYY-MM-DD"`,
    );
  }
  return problems;
}

/** @param {string} repository */
async function repositoryProblems(repository) {
  const url = `https://github.com/${repository}`;
  const expected = [
    { file: 'package.json', text: `"url": "git+${url}.git"` },
    { file: 'helm/newrelic-exporter/Chart.yaml', text: `home: ${url}\n` },
    { file: 'helm/newrelic-exporter/values.yaml', text: `repository: ${repository}\n` },
  ];
  const found = await Promise.all(
    expected.map(async ({ file, text }) =>
      (await textOf(file)).includes(text) === true
        ? []
        : [`${file}: has no line with ${text.trim()}`],
    ),
  );
  return found.flat();
}

const { tag, repository } = parseArgs({
  options: { tag: { type: 'string' }, repository: { type: 'string' } },
}).values;
const { version } = JSON.parse(await textOf('package.json'));
const problems = [
  ...(await versionProblems(version)),
  ...(tag === undefined ? [] : await tagProblems(version, tag)),
  ...(repository === undefined ? [] : await repositoryProblems(repository)),
];
if (problems.length === 0) process.stdout.write(`${version}\n`);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
