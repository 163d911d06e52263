import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { faultUsages } from '../../src/cli/flag-table.ts';
import { readDocument } from './documents.ts';
import { goodConfigsIn } from './example-rule.ts';
import { outputOf, shownRunsIn } from './example-runs.ts';
import { codeWordsIn, headingsIn, rowsWith } from './markdown.ts';

const { text } = readDocument('docs/commands.md');
const [config = ''] = goodConfigsIn(text);
const runs = shownRunsIn(text);

/** The number of the exporter's own series changes with every metric, and what is simulated every minute. */
function comparable(output: string): string {
  return output
    .replace(/about \d+ of its own/u, 'about N of its own')
    .replaceAll(/[\d.]+\/min$/gmu, 'N/min');
}

describe('docs/commands.md', () => {
  it('has a section for every command, in the order of the help', () => {
    const titles = headingsIn(text).filter(
      ({ level, title }) => level === 2 && title.startsWith('`'),
    );

    expect(titles.map(({ title }) => title)).toEqual(commands.map((command) => `\`${command}\``));
  });

  it('has every fault that there is, as the help writes it', () => {
    const rows = rowsWith(text, ['fault', 'what New Relic does']);

    expect(rows.map(({ fault }) => codeWordsIn(fault)[0])).toEqual(faultUsages.split(', '));
  });

  it('shows commands with their output', () => {
    expect(runs.length).toBeGreaterThanOrEqual(6);
  });

  it.each(runs)('shows what is printed by $command', async ({ command, output }) => {
    expect(comparable(await outputOf(command, config))).toBe(comparable(output));
  });
});
