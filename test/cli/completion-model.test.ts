import { describe, expect, it } from 'vitest';
import { completedCommands } from '../../src/cli/completion-model.ts';

const byName = new Map(completedCommands().map((command) => [command.name, command]));

describe('what a shell has to know of', () => {
  it.each([
    { command: 'plan', operand: 'files' },
    { command: 'completion', operand: ['bash', 'zsh', 'fish'] },
    { command: 'serve', operand: [] },
    { command: 'metrics', operand: [] },
    { command: 'help', operand: expect.arrayContaining(['serve', 'completion']) as unknown },
  ])('$command is what may follow it', ({ command, operand }) => {
    expect(byName.get(command)?.operand).toEqual(operand);
  });

  it.each([
    {
      command: 'serve',
      flag: {
        names: ['--config.file'],
        summary: 'Configuration file',
        value: 'required',
        candidates: 'files',
        isRepeatable: false,
      },
    },
    {
      command: 'plan',
      flag: expect.objectContaining({
        names: ['--output', '-o'],
        value: 'required',
        candidates: ['text', 'json', 'yaml'],
      }) as unknown,
    },
    {
      command: 'plan',
      flag: expect.objectContaining({
        names: ['--online'],
        value: 'none',
        candidates: [],
      }) as unknown,
    },
    {
      command: 'demo',
      flag: expect.objectContaining({
        names: ['--demo.faults', '--faults'],
        value: 'optional',
        candidates: expect.arrayContaining(['fail-app', 'slow']) as unknown,
      }) as unknown,
    },
    {
      command: 'serve',
      flag: expect.objectContaining({
        names: ['--web.listen-address'],
        isRepeatable: true,
      }) as unknown,
    },
    { command: 'once', flag: expect.objectContaining({ names: ['--help', '-h'] }) as unknown },
  ])('a flag of $command is its names, its value and its words', ({ command, flag }) => {
    expect(byName.get(command)?.flags).toContainEqual(flag);
  });

  it('every command and flag is a short sentence without a full stop', () => {
    const summaries = [...byName.values()].flatMap(({ summary, flags }) => [
      summary,
      ...flags.map((flag) => flag.summary),
    ]);

    expect(
      summaries.filter((text) => text === '' || text.length > 140 || /[.:;]$/u.test(text)),
    ).toEqual([]);
  });
});
