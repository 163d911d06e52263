import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { linesOf } from '../support/query-daemon.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';

describe('4.3 a key that is always refused', () => {
  it.each([
    ['REST', ''],
    ['NerdGraph', 'source: nerdgraph, account_id: 1234567,'],
  ])('leaves nothing that lists said to grow old in silence: %s', async (_, api) => {
    const text = `
accounts: [{ name: one, ${api} api_key_env: KEY_A }]
apps: [{ match: . }]`;
    const { config } = await parseConfig(text, { fileName: 'c.yaml', directory: '/' });
    const bench = await aRunningDaemon(config, {
      fleet: { applications: 3, hosts: 3 },
      wire: (wire) => ({
        ...wire,
        send: async (...request) =>
          bench.platform.clock.monotonicMs() < minuteMs
            ? wire.send(...request)
            : { status: 429, headers: { 'retry-after': '30' }, body: '{}' },
      }),
    });
    const seen: string[] = [];
    for (let minute = 0; minute < 45; minute += 1) {
      await bench.platform.clock.advance(minuteMs);
      const [up = ''] = await linesOf(bench, /^newrelic_up/u);
      const shown = await linesOf(bench, /^newrelic_application_(?:summary|requests|health)/u);
      seen.push(`${up.at(-1)} ${shown.length > 0 ? 'values' : 'none'}`);
    }
    const failed = bench.logger.lines.filter(({ message }) => message === 'discovery failed');

    // Three intervals of lists later they are late, and stale_after later what they said is old.
    expect(seen.slice(0, 3)).toEqual(Array(3).fill('1 values'));
    expect(seen.slice(5, 18)).toEqual(Array(13).fill('0 values'));
    expect(seen.slice(21)).toEqual(Array(24).fill('0 none'));
    expect(failed).toMatchObject([{ fields: { error: { reason: 'throttled' } } }]);
  });
});
