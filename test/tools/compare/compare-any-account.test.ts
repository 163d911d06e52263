import fc from 'fast-check';
import { expect, it } from 'vitest';
import { printedBy } from '../survey/ask-bench.ts';

const anyAccount = fc.record({
  seed: fc.integer({ min: 1 }),
  applications: fc.integer({ min: 1, max: 30 }),
  hosts: fc.integer({ min: 0, max: 60 }),
  churnPerHour: fc.constantFrom(0, 30),
  idleMetric: fc.constantFrom('zero', 'not_found'),
  appIds: fc.constantFrom('string', 'number'),
  entityPageSize: fc.constantFrom(3, 200),
  window: fc.constantFrom('5m', '1m', '1h', 'default'),
  raw: fc.boolean(),
});
const account =
  '{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY, account_id: 1234567 }';

it('calls the switch safe for any account that New Relic may have, if anything is busy', async () => {
  await fc.assert(
    fc.asyncProperty(anyAccount, async ({ window, raw, ...drawn }) => {
      const { idleMetric, appIds, entityPageSize, ...fleet } = drawn;
      const options = { fleet, idleMetric, graphql: { appIds, entityPageSize } };
      const poll = `poll: { window: ${window}, raw: ${raw} }`;
      const files = { 'c.yaml': `accounts: [${account}]\n${poll}\napps: [{ match: "." }]` };

      const { stdout } = await printedBy(options, ['compare', '--all', 'c.yaml'], files);

      const rows = stdout.split('\n').map((line) => line.split(/ {2,}/u));
      const busy = rows.filter(([of, , , , rest]) => of === 'main' && Number(rest) > 0);
      const hasHosts = !stdout.includes('hosts         REST 0,');
      const isSafe =
        busy.some(([, , host]) => host === '-') &&
        (busy.some(([, , host]) => host !== '-') || !hasHosts);
      expect(stdout).not.toContain('few hosts');
      expect(stdout).toContain(
        isSafe ? '\nSwitching is safe: ' : '\nSwitching cannot be judged: look at ',
      );
    }),
    { numRuns: 15 },
  );
});
