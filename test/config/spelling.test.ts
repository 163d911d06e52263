import { describe, expect, it } from 'vitest';
import { findingsIn, placesOf, wordsOf } from './config-failure.ts';

const account = 'accounts:\n  - name: p\n    api_key_env: K\n    ';
const app = '\napps:\n  - id: 1\n';

/** What is written, where something is found, what is said, and what the help says to write. */
type Row = readonly [text: string, at: string, says: string, written: string, instead: string];

const numbers: readonly Row[] = [
  ...(
    [
      ['account_id: 0020222', 'account_id: 20222'],
      ['concurrency: 010', 'concurrency: 10'],
      ['concurrency: +8', 'concurrency: 8'],
      ['requests_per_minute: 0o777', 'requests_per_minute: 511'],
      ['requests_per_minute: 1e3', 'requests_per_minute: 1000'],
      ['requests_per_minute: 800.0', 'requests_per_minute: 800'],
      ['account_id: 0x1f', 'account_id: 31'],
    ] as const
  ).map(([written, instead]): Row => {
    const column = written.indexOf(' ') + 6;
    return [account + written + app, `4:${column}`, 'in decimal digits', written, instead];
  }),
  ['apps: [{ id: 0123 }]', '1:14', 'without a leading zero, not 0123', 'id: 0123', 'id: 123'],
  ['apps: [{ id: 0x1F }]', '1:14', 'not 0x1F', 'id: 0x1F', 'id: 31'],
  ['%YAML 1.1\n---\napps: [{ id: 0123 }]', '3:14', 'not 0123', 'id: 0123', 'id: 123'],
  ['%YAML 1.1\n---\napps: [{ id: 1_000 }]', '3:14', 'not 1_000', 'id: 1_000', 'id: 1000'],
  ['apps: [{ id: 1 }]\npoll: { delay: 00 }', '2:16', 'not 00', 'delay: 00', 'delay: 0'],
];

const texts: readonly Row[] = [
  ['apps:\n  - name: Shop #1', '2:11', 'ends before " #"', 'Shop #1', '"Shop #1"'],
  ['apps:\n  - name: Shop # 1', '2:11', 'ends before " #"', 'Shop # 1', '"Shop # 1"'],
  ['apps:\n  - name: Shop  #1', '2:11', 'ends before " #"', 'Shop  #1', '"Shop  #1"'],
  ['apps:\n  - match: ^Shop #', '2:12', 'ends before " #"', '^Shop #', '"^Shop #"'],
  ['apps: [{ match: “^a” }]', '1:17', 'has curly quotes', '“^a”', '"^a"'],
  ['apps: [{ name: ‘a’ }]', '1:16', 'has curly quotes', '‘a’', '"a"'],
  ['apps: [{ id: 1, labels: { team: „a“ } }]', '1:33', 'has curly quotes', '„a“', '"a"'],
  [
    'apps:\n  - id: 1\n    metrics:\n      - metric: A\n        value: call_count\n        as: a\n        help: Number # of calls',
    '7:15',
    '"help" ends before " #"',
    'Number # of calls',
    '"Number # of calls"',
  ],
  [
    'accounts: [{ name: p, source: nerdgraph, account_id: 1, api_key_env: K }]\nqueries:\n  - as: a\n    nrql: SELECT count(*) FROM T #1',
    '4:11',
    '"nrql" ends before " #"',
    'SELECT count(*) FROM T #1',
    '"SELECT count(*) FROM T"',
  ],
];

const right: readonly string[] = [
  'apps: [{ id: 1, metrics: [{ metric: A, value: call_count, as: a, scale: 1e-3 }] }]',
  'apps: [{ id: 1, metrics: [{ metric: A, value: call_count, as: a, scale: 010.50 }] }]',
  'apps: [{ id: 1 }] # 010',
  'apps:\n  - name: "Shop #1" # the first\n  - name: a#1\n  - name: b  # a comment\n',
  'accounts:\n  - name: p # the label\n    api_key_env: K\napps: [{ id: 1 }]',
  'apps:\n  - name: “a” b\n  - name: |-\n      c # d\n',
];

describe('how numbers and texts are spelt', () => {
  it.each([...numbers, ...texts])('is told, with what to write: %s', async (...row) => {
    const [text, at, says, written, instead] = row;
    const found = await findingsIn(text);

    expect(placesOf(found)).toBe(at);
    expect(wordsOf(found)).toContain(says);
    expect(wordsOf(found)).toContain(instead);
    expect(found[0]?.severity).toBe(
      says.includes(' #') || says.includes('curly') ? 'warning' : 'error',
    );
    const mended = await findingsIn(text.replace(written, instead));
    expect(mended.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(wordsOf(mended)).not.toContain(says);
  });

  it.each(right)('may be so: %s', async (text) => {
    expect(await findingsIn(text)).toEqual([]);
  });

  it('is told once, where something else is wrong with it', async () => {
    const found = await findingsIn(
      'apps: [{ name: 010 }, { id: 1, interval: 0x10 }]\npoll: { raw: 0x1 }',
    );

    expect(placesOf(found)).toBe('1:16 1:42 2:14');
    expect(wordsOf(found)).not.toContain('decimal digits');
  });
});
