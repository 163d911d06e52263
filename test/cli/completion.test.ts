import { describe, expect, it } from 'vitest';
import { completionText } from '../../src/cli/completion.ts';
import { flagTable } from '../../src/cli/flag-table.ts';
import { commands } from '../../src/cli/flags.ts';
import { run } from '../../src/cli/run.ts';
import { shells } from '../../src/cli/shells.ts';
import { createFakePlatform } from '../support/fake-platform.ts';

describe.each(shells.map((shell) => ({ shell })))('the completion of $shell', ({ shell }) => {
  const text = completionText(shell);

  it.each([...commands, 'help', 'version'].map((command) => ({ command })))(
    'has the command $command',
    ({ command }) => {
      expect(text).toMatch(new RegExp(`(?<![\\w-])${command}(?![\\w-])`, 'u'));
    },
  );

  it.each(Object.values(flagTable).map(({ name }) => ({ name })))(
    'has the flag $name',
    ({ name }) => {
      expect(text).toContain(shell === 'fish' ? `-l ${name} ` : `--${name}`);
    },
  );

  it('is what the command prints, and ends with a line feed', async () => {
    const platform = createFakePlatform();

    expect(await run(['completion', shell], platform)).toBe(0);
    expect(platform.stdout.text()).toBe(text);
    expect(text.endsWith('\n')).toBe(true);
  });
});
