// Prints the table of all reports named as arguments, as Markdown; fails under the least score.
import { readFileSync } from 'node:fs';

const leastPercent = 80;

const rows = [];
for (const report of process.argv.slice(2)) {
  const { files } = JSON.parse(readFileSync(report, 'utf8'));
  for (const [file, { mutants }] of Object.entries(files)) {
    const count = (...statuses) => mutants.filter(({ status }) => statuses.includes(status)).length;
    const noticed = count('Killed', 'Timeout');
    rows.push({ file, noticed, all: noticed + count('Survived', 'NoCoverage') });
  }
}

const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
const total = { file: 'total', noticed: sum('noticed'), all: sum('all') };
const percentOf = ({ noticed, all }) => (all === 0 ? 100 : (100 * noticed) / all);

const print = (line) => process.stdout.write(`${line}\n`);
print('| file | changes | noticed | score |');
print('| --- | --- | --- | --- |');
for (const row of [...rows.toSorted((left, right) => (left.file < right.file ? -1 : 1)), total]) {
  print(`| ${row.file} | ${row.all} | ${row.noticed} | ${percentOf(row).toFixed(1)} % |`);
}
if (percentOf(total) < leastPercent) {
  print(`The total is under ${leastPercent} %.`);
  process.exitCode = 1;
}
