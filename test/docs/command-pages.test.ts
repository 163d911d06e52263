import { describe, expect, it } from 'vitest';
import { flagTable } from '../../src/cli/flag-table.ts';
import { commands, isFor } from '../../src/cli/flags.ts';
import { readDocument } from './documents.ts';
import { goodConfigsIn } from './example-rule.ts';
import { outputOf, shownRunsIn } from './example-runs.ts';
import { headingsIn, sectionOf } from './markdown.ts';

const { text } = readDocument('docs/commands.md');
const [config = ''] = goodConfigsIn(text);
const runs = shownRunsIn(text);

/** The number of the exporter's own series changes with every metric that is added. */
function comparable(output: string): string {
  return output.replace(/about \d+ of its own/u, 'about N of its own');
}

describe('docs/commands.md', () => {
  it('has a section for every command, in the order of the help', () => {
    const titles = headingsIn(text).map(({ title }) => title);

    expect(titles.slice(1)).toEqual(commands.map((command) => `\`${command}\``));
  });

  it.each(commands.map((command) => ({ command })))(
    'names the flags and the exit codes of $command',
    ({ command }) => {
      const section = sectionOf(text, `\`${command}\``).replaceAll('\n', ' ');
      const flags = Object.values(flagTable).filter((flag) => isFor(flag, command));

      const names = flags.map(({ name }) => `\`--${name}\``).join(', ');
      expect(section).toContain(`Flags: ${names === '' ? 'none' : names}.`);
      expect(section).toContain('Exit codes: 0');
    },
  );

  it('shows commands with their output', () => {
    expect(runs.length).toBeGreaterThanOrEqual(6);
  });

  it.each(runs)('shows what is printed by $command', async ({ command, output }) => {
    expect(comparable(await outputOf(command, config))).toBe(comparable(output));
  });
});
