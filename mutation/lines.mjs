// Prints what is to be changed of a folder or a file, as StrykerJS wants it: all lines, or a fixed sample.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Of so many lines of all files of a folder together, so many are the sample, behind the first imports. */
const everyLines = 800;
const firstLine = 50;
const sampledLines = 6;

const [isSample, path = 'src'] = process.argv.slice(2);

const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .toSorted();

const files = /\.ts(?::[\d:-]+)?$/u.test(path) ? [path] : filesIn(path);
const ranges = [];
let before = 0;
for (const file of isSample === 'true' ? files : []) {
  const lines = readFileSync(file, 'utf8').split('\n').length - 1;
  const firstStart = Math.ceil((before - firstLine) / everyLines) * everyLines + firstLine;
  for (let start = firstStart; start < before + lines; start += everyLines) {
    const first = start - before + 1;
    ranges.push(`${file}:${first}-${Math.min(lines, first + sampledLines - 1)}`);
  }
  before += lines;
}
process.stdout.write((isSample === 'true' ? ranges : files).join(','));
