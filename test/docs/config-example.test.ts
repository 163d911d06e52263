import { describe, expect, it } from 'vitest';
import { flagTable } from '../../src/cli/flag-table.ts';
import { parseConfig } from '../../src/config/load-config.ts';
import {
  get,
  type Program,
  startDaemon,
  startProgram,
  stopProgram,
  until,
  withFiles,
} from '../support/daemon-process.ts';
import { shellWordsIn } from './command-rule.ts';
import { readDocument } from './documents.ts';
import { polledOf } from './polled-rule.ts';

const { text } = readDocument('config.example.yaml');
const shown = [...text.matchAll(/^# {3}(?<line>\S.*)$/gmu)].map(({ groups }) =>
  shellWordsIn(groups?.['line'] ?? ''),
);
/** The words behind the name of the program, or behind `export`. */
const wordsAfter = (first: string): readonly (readonly string[])[] =>
  shown.filter(([word]) => word === first).map((words) => words.slice(1));

describe('config.example.yaml', () => {
  it('starts as its head says, and has values for each entry', async () => {
    const [simulate = [], serve = []] = wordsAfter('newrelic-exporter');
    const env = Object.fromEntries(wordsAfter('export').map(([word = '']) => word.split('=')));
    expect([simulate, serve]).toEqual([['simulate'], ['--config.file=config.example.yaml']]);
    // The port of the file may be in use here.
    const simulator = startProgram([...simulate, '--simulate.port=0']);
    const started: Program[] = [simulator];
    try {
      const port = await until(() => /listens on \S+:(\d+)\n/u.exec(simulator.stdout())?.[1]);
      const config = text.replaceAll(
        `127.0.0.1:${flagTable.simulatePort.defaultText}`,
        `127.0.0.1:${port}`,
      );
      const { config: meant } = await parseConfig(config, { fileName: 'c', directory: '/' });
      await withFiles({ 'config.yaml': config }, async (directory) => {
        const daemon = await startDaemon([`--config.file=${directory}/config.yaml`], env);
        started.push(daemon);
        const problems = async (): Promise<readonly string[]> =>
          (await polledOf(meant, async (path) => get(`${daemon.url}${path}`))).problems;

        await expect.poll(problems, { timeout: 240_000 }).toEqual([]);
        // From 2027-02-01 on there is a warning of the end of the REST API.
        expect(daemon.stderr()).not.toContain('"level":"error"');
      });
    } finally {
      for (const program of started) await stopProgram(program);
    }
  });
});
