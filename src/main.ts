#!/usr/bin/env node
import { nodeVersionProblem } from './cli/node-version.ts';

// An old Node must be able to read this file and what it imports statically: no syntax after ES2019.
const problem = nodeVersionProblem(process.version, process.execPath);

if (problem === '') {
  // Loaded only now: an old Node could not even read the rest of the program.
  void import('./program.ts').then(async ({ runProgram }) => runProgram(new URL(import.meta.url)));
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
