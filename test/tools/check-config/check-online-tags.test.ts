import { describe, expect, it } from 'vitest';
import { printedBy } from '../survey/ask-bench.ts';

const applications = [
  { id: 11, name: 'shop', kind: 'web', hosts: 1, tags: { team: 'payments' } },
  { id: 12, name: 'cart', kind: 'web', hosts: 1, tags: { team: 'checkout', tier: '1' } },
  { id: 13, name: 'mail', kind: 'web', hosts: 1 },
] as const;

/** What `check-config --online` warns of, and the documents that it sent. */
async function checked(lines: readonly string[]) {
  const account =
    'accounts: [{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY, source: nerdgraph, account_id: 1234567 }]';
  const sent: string[] = [];
  const { stdout, exitCode } = await printedBy(
    {
      fleet: { applications },
      intercept: ({ graphql }) => {
        if (graphql !== undefined) sent.push(graphql.text);
        return 'pass';
      },
    },
    ['check-config', '--online', 'c.yaml'],
    { 'c.yaml': [account, ...lines].join('\n') },
  );
  const warning =
    /warning (c\.yaml:\d+:\d+:) .* no application has the tag (.*)\n.*\n.*\n.* help: (.*)/gu;
  const warnings = stdout.matchAll(warning);
  return { exitCode, sent, warnings: [...warnings].map(([, ...parts]) => parts.join(' ')) };
}

const listed = 'see how the tag is spelt with "newrelic-exporter discover", or leave it out';

describe('check-config --online, for tags', () => {
  it.each([
    {
      what: 'of an entry, in a list',
      lines: ['apps: [{ match: ".", tags: [team, taem] }]'],
      says: ['c.yaml:2:35: taem did you mean "team"?'],
    },
    {
      what: 'of an entry, in a map',
      lines: ['apps: [{ match: ".", tags: { tear: crew } }]'],
      says: ['c.yaml:2:36: tear did you mean "team"?'],
    },
    {
      what: 'of all entries, once',
      lines: ['poll: { tags: [Team] }', 'apps: [{ id: 11 }, { id: 12 }]'],
      says: ['c.yaml:2:16: Team did you mean "team"?'],
    },
    {
      what: 'that is like nothing else',
      lines: ['apps: [{ match: ".", tags: [cost] }]'],
      says: [`c.yaml:2:29: cost ${listed}`],
    },
    {
      what: 'that only others have',
      lines: ['apps: [{ id: 11, tags: [tier] }, { match: "." }]'],
      says: [`c.yaml:2:25: tier ${listed}`],
    },
    {
      what: 'that is called as every object has a member',
      lines: ['apps: [{ match: ".", tags: [toString] }]'],
      says: [`c.yaml:2:29: toString ${listed}`],
    },
    {
      what: 'in two entries',
      lines: ['apps:', '  - { id: 11, tags: [teem] }', '  - { id: 12, tags: [team, teem] }'],
      says: ['c.yaml:3:22: teem did you mean "team"?', 'c.yaml:4:28: teem did you mean "team"?'],
    },
  ])('names a tag that no application has: $what', async ({ lines, says }) => {
    const { exitCode, warnings } = await checked(lines);

    expect(exitCode).toBe(0);
    expect(warnings).toEqual(says);
  });

  it.each([
    { what: 'some applications have', lines: ['apps: [{ match: ".", tags: [tier, account] }]'] },
    { what: 'an excluded entry has', lines: ['apps: [{ id: 12 }, { id: 13, exclude: true }]'] },
  ])('says nothing of tags that $what', async ({ lines }) => {
    expect((await checked(lines)).warnings).toEqual([]);
  });

  it('reads tags only where one is wanted', async () => {
    const { sent } = await checked(['apps: [{ match: "." }]']);

    expect(sent.length).toBeGreaterThan(0);
    expect(sent.filter((text) => text.includes('tags'))).toEqual([]);
  });
});
