import { describe, expect, it } from 'vitest';
import { flagTable } from '../../src/cli/flag-table.ts';
import { commands, environmentVariableOf, isFor } from '../../src/cli/flags.ts';
import { helpText } from '../../src/cli/help.ts';

describe('the help', () => {
  it.each(Object.values(flagTable).map((flag) => ({ name: flag.name, flag })))(
    'names --$name with its default and its environment variable',
    ({ flag }) => {
      const text = helpText();

      expect(text).toMatch(new RegExp(`^  (-[a-z], )?--${flag.name}=${flag.defaultText}$`, 'mu'));
      expect(text).toContain(`$${environmentVariableOf(flag)})`);
    },
  );

  it('lists every command', () => {
    const listed = [...helpText().matchAll(/^ {2}([a-z][a-z-]*)(?: \S+)?$/gm)];

    expect(listed.map(([, command]) => command)).toEqual(commands);
  });

  it.each(commands.map((command) => ({ command })))(
    'of $command shows the flags of that command and no others',
    ({ command }) => {
      const text = helpText(command);

      const shown = [...text.matchAll(/^ {2}(?:-[a-z], )?--([a-z.-]+)=/gm)].map(([, name]) => name);
      const flags = Object.values(flagTable).filter((flag) => isFor(flag, command));
      expect(shown).toEqual(flags.map(({ name }) => name));
      expect(text).toContain(`Usage: newrelic-exporter ${command}`);
    },
  );

  it.each([{ command: undefined }, ...commands.map((command) => ({ command }))])(
    'of $command fits into 80 columns and ends with a line feed',
    ({ command }) => {
      const text = helpText(command);

      expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
      expect(text.endsWith('.\n')).toBe(true);
      expect(text).toContain('--help');
    },
  );
});

describe('every default', () => {
  it.each(Object.values(flagTable).map((flag) => ({ name: flag.name, flag })))(
    'of --$name is a value that the flag accepts',
    ({ flag }) => {
      expect(flag.parse(flag.defaultText)).toBeDefined();
    },
  );
});
