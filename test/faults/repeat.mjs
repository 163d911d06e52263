// Runs the fault tests again and again and says which of them do not always pass:
//
//   node test/faults/repeat.mjs [TIMES] [PATH…]
//
// Ends with 1 if any run failed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

const projectFolder = fileURLToPath(new URL('../../', import.meta.url));
const [timesText = '10', ...paths] = process.argv.slice(2);
const times = Number(timesText);
if (!Number.isSafeInteger(times) || times < 1) {
  throw new Error(`"${timesText}" is no number of runs: expected a whole number, such as 50`);
}

/** One run: how many tests passed, and the failed ones as `file: title`, with what they said. */
function runOnce(outputFile) {
  const vitest = join(projectFolder, 'node_modules/vitest/vitest.mjs');
  const chosen = paths.length > 0 ? paths : ['test/faults'];
  const args = [vitest, 'run', ...chosen, '--reporter=json', `--outputFile=${outputFile}`];
  const { stderr } = spawnSync(process.execPath, args, { cwd: projectFolder, encoding: 'utf8' });
  try {
    const report = JSON.parse(readFileSync(outputFile, 'utf8'));
    rmSync(outputFile);
    const failures = report.testResults.flatMap(({ name, message, assertionResults }) => {
      const file = name.replace(projectFolder, '');
      const failed = assertionResults
        .filter(({ status }) => status === 'failed')
        .map(({ fullName, failureMessages }) => ({
          title: `${file}: ${fullName}`,
          says: failureMessages.join('\n'),
        }));
      // A file that cannot even be loaded has no tests.
      return assertionResults.length === 0 ? [{ title: file, says: message }] : failed;
    });
    if (report.success !== true && failures.length === 0) {
      return { passed: report.numPassedTests, failures: [{ title: 'the run', says: stderr }] };
    }
    return { passed: report.numPassedTests, failures };
  } catch (error) {
    return { passed: 0, failures: [{ title: 'the run', says: `${error.message}\n${stderr}` }] };
  }
}

const folder = mkdtempSync(join(tmpdir(), 'repeat-'));
const counts = new Map();
let goodRuns = 0;
let passed = 0;
for (let run = 1; run <= times; run += 1) {
  const startMs = performance.now();
  const result = runOnce(join(folder, 'report.json'));
  const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
  passed += result.passed;
  if (result.failures.length === 0) goodRuns += 1;
  process.stdout.write(
    `run ${run} of ${times}: ${result.passed} passed, ${result.failures.length} failed, ${seconds} s\n`,
  );
  for (const { title, says } of result.failures) {
    counts.set(title, (counts.get(title) ?? 0) + 1);
    process.stdout.write(`  ${title}\n${says.replaceAll(/^/gm, '    ')}\n`);
  }
}
rmSync(folder, { recursive: true });

process.stdout.write(`${times} runs, ${goodRuns} without a failure; ${passed} tests passed\n`);
for (const [title, count] of [...counts].toSorted(([, a], [, b]) => b - a)) {
  const kind = count === times ? 'always fails' : `flake, failed ${count} of ${times} times`;
  process.stdout.write(`${kind}: ${title}\n`);
}
process.exitCode = counts.size === 0 ? 0 : 1;
