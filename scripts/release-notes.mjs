/**
 * Prints what CHANGELOG.md in the current folder says of a version, for the page of its release:
 *
 *   node scripts/release-notes.mjs 1.2.3
 */
import { readFile } from 'node:fs/promises';

const [version = ''] = process.argv.slice(2);
const sections = (await readFile('CHANGELOG.md', 'utf8')).split(/^(?=## )/m);
const section = sections.find((one) => one.startsWith(`## ${version} / `)) ?? '';
const notes = section.split('\n').slice(1).join('\n').trim();

if (notes === '') {
  process.stderr.write(`CHANGELOG.md says nothing of version "${version}"\n`);
  process.exitCode = 1;
} else {
  process.stdout.write(`${notes}\n`);
}
