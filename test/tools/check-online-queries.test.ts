import { describe, expect, it } from 'vitest';
import { printedBy } from './ask-bench.ts';

const applications = [
  { id: 11, name: 'shop', kind: 'web', webRpm: 120, hosts: 1 },
  { id: 12, name: 'cart', kind: 'web', webRpm: 60, hosts: 1 },
] as const;

async function checked(queries: string, args: readonly string[] = []) {
  const text = [
    'accounts: [{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY, source: nerdgraph, account_id: 1234567 }]',
    'apps: [{ match: "." }]',
    'queries:',
    queries,
  ].join('\n');
  const options = { ingestDelayMs: 0, fleet: { traffic: 'flat', applications } } as const;
  return printedBy(options, ['check-config', '--online', ...args, 'c.yaml'], { 'c.yaml': text });
}

describe('check-config --online, for queries', () => {
  it('runs each of them once and shows its first rows', async () => {
    const { exitCode, stdout } = await checked(
      '  - { as: calls, nrql: SELECT count(*) FROM Transaction FACET appName }',
    );

    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      'account main: query calls: 2 rows, 2 series; calls{app_name="cart"} 300; calls{app_name="shop"} 600\n',
    );
  });

  it.each([
    [
      'what New Relic refuses',
      'SELECT nonsense(x) FROM Transaction',
      1,
      'query calls brings nothing',
      'correct it in "queries"',
    ],
    [
      'what finds nothing',
      'SELECT count(*) FROM PageView FACET appName',
      0,
      '0 rows, 0 series',
      'check FROM and WHERE',
    ],
    [
      'values that are absent',
      'SELECT average(nothing) FROM Transaction',
      0,
      '1 absent or no number',
      'check FROM',
    ],
  ])('reports %s', async (_, nrql, code, fact, remedy) => {
    const { exitCode, stdout } = await checked(`  - { as: calls, nrql: ${nrql} }`);

    expect(exitCode).toBe(code);
    expect(stdout).toContain(fact);
    expect(stdout).toContain(remedy);
  });

  it('says how many series are beyond max_series', async () => {
    const { stdout } = await checked(
      '  - { as: calls, max_series: 1, nrql: SELECT count(*) FROM Transaction FACET appName }',
    );

    expect(stdout).toContain('1 series, 1 beyond max_series');
    expect(stdout).toContain('raise max_series');
  });
});
