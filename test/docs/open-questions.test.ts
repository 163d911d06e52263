import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { calls } from '../../src/tools/verify/calls.ts';
import { facts } from '../../src/tools/verify/facts.ts';

const head = `# Open questions

What the exporter believes of New Relic, and nobody of the project has seen. \`newrelic-exporter verify\` asks an account
the first ones and reports them by their ids. Their table is made from that in \`src/tools/verify/facts.ts\`; write it
anew with \`npx vitest run test/docs/open-questions.test.ts -u\`.

Sources: D is New Relic's documents, V its code, C seen by others, I concluded, U unknown. The sign is how a running exporter
notices that reality differs; what that means, and what to do, is in the last column.

## What \`verify\` asks

`;

const titles = ['id', 'what is believed', 'source', 'sign', 'if it differs'];

function tableOf(rows: readonly (readonly string[])[]): string {
  const lines = [titles, titles.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

const file = new URL('../../docs/dev/open-questions.md', import.meta.url);
const ofDocument = '\n## What nobody can ask without harm\n';
/** What only the document says. */
const [, notAsked = ''] = readFileSync(file, 'utf8').split(ofDocument);

/** The cells of its rows, without those of the head. */
const rowsOfDocument = notAsked
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.slice(2, -2).split(' | '))
  .slice(2);

describe('docs/dev/open-questions.md', () => {
  it('has every fact that verify asks', async () => {
    const rows = facts.map(({ id, fact, source, sign, differs }) => {
      return [id, fact, source, sign, differs];
    });

    const page = `${head}${tableOf(rows)}${ofDocument}${notAsked}`;
    await expect(page).toMatchFileSnapshot('../../docs/dev/open-questions.md');
  });

  it('has those that it cannot ask, in the same form', () => {
    expect(rowsOfDocument.length).toBeGreaterThan(20);
    for (const [, believed, source, sign, , ...more] of rowsOfDocument) {
      expect(believed).not.toBe('');
      expect(source).toMatch(/\b[DVCIU]\b/u);
      expect(sign).not.toBe('');
      expect(more).toEqual([]);
    }
  });

  it('has each question once, with what to do', () => {
    const asked = facts.map(({ id, differs }) => [id, differs]);
    const all = [...asked, ...rowsOfDocument.map((cells) => [cells[0], cells[4]])];

    expect(new Set(all.map(([id]) => id)).size).toBe(all.length);
    for (const [, differs] of all) expect(differs).toMatch(/\. Now: /u);
  });
});

describe('verify', () => {
  it('makes no call that no fact needs', () => {
    const needed = new Set(facts.flatMap((fact) => fact.calls.map(({ name }) => name)));

    expect(calls.filter(({ name }) => !needed.has(name))).toEqual([]);
  });
});
