import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';

const queries = 'queries: [{ as: calls, nrql: SELECT count(*) FROM Transaction }]';
const rest = '';
const nerdGraph = 'source: nerdgraph, account_id: 1234567, ';

/** The account `one`, what it polls, and how many samples of the exporter's own may have its name. */
const accounts: readonly (readonly [what: string, source: string, rest: string, most: number])[] = [
  ['REST', rest, 'apps: [{ match: . }]', 155],
  ['REST without hosts', rest, 'apps: [{ match: ., hosts: false }]', 95],
  ['NerdGraph', nerdGraph, 'apps: [{ match: . }]', 130],
  ['NerdGraph with a query', nerdGraph, `apps: [{ match: . }]\n${queries}`, 160],
  ['NerdGraph without hosts', nerdGraph, 'apps: [{ match: ., hosts: false }]', 100],
  ['NerdGraph with queries alone', nerdGraph, queries, 90],
];

describe('what the exporter says of an account', () => {
  it.each(accounts)(
    'of %s is so many samples at most: each failure that it can have, at 0',
    async (_, source, polled, most) => {
      const file = `
accounts: [{ name: one, ${source}api_key_env: KEY_A }]
${polled}`;
      const { config } = await parseConfig(file, { fileName: 'c.yaml', directory: '/' });
      const { platform, daemon } = await aRunningDaemon(config);
      await platform.clock.advance(5 * minuteMs);

      const lines = (await daemon.metrics.text()).split('\n');
      const samples = lines.filter((line) => line.includes('account="one"'));
      expect(samples.length).toBeLessThanOrEqual(most);
    },
  );
});
