import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/tools/verify/fact.ts';
import { notAsked } from '../../src/tools/verify/nerdgraph-facts.ts';
import { facts } from '../../src/tools/verify/verify.ts';

const head = `# Open questions

What the exporter believes of New Relic, and nobody of the project has seen. \`newrelic-exporter verify\` asks an account
the first ones and reports them by their ids. This page is made from the tables in \`src/tools/verify\` and
\`src/tools/compare\`; write it anew with \`npx vitest run test/docs/open-questions.test.ts -u\`.

Sources: D is New Relic's documents, V its code, C seen by others, I concluded, U unknown. The sign is how a running exporter
notices that reality differs; what that means, and what to do, is in the last column.
`;

function tableOf(some: readonly Fact[]): string {
  const rows = some.map(({ id, fact, source, sign, differs }) => [id, fact, source, sign, differs]);
  const lines = [
    ['id', 'what is believed', 'source', 'sign', 'if it differs'],
    Array(5).fill('---'),
    ...rows,
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

describe('docs/dev/open-questions.md', () => {
  it('has every fact that verify asks, and those that it cannot ask', async () => {
    const page = `${head}
## What \`verify\` asks

${tableOf(facts)}
## What nobody can ask without harm

It would take a busy account, another key, or luck.

${tableOf(notAsked)}`;

    await expect(page).toMatchFileSnapshot('../../docs/dev/open-questions.md');
  });

  it('has each question once, with what to do', () => {
    const all = [...facts, ...notAsked];

    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const { differs } of all) expect(differs).toMatch(/\. Now: /u);
  });
});
