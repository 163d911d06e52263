import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { linesOf, ownLinesOf } from '../support/query-daemon.ts';
import { aRunningDaemon, type RunningDaemon } from '../support/running-daemon.ts';

const hosts = 4;
const applications = Array.from({ length: 12 }, (_, at) => {
  return { id: 101 + at, name: `app-${at}`, kind: 'both' as const, hosts };
});

/** Forty minutes of a key of which others leave so many calls a minute. */
async function fortyMinutes(
  quota: number,
  source: string,
  atFirst = quota,
): Promise<RunningDaemon> {
  const text = `
accounts: [{ name: one, api_key_env: KEY_A, ${source} }]
apps: [{ match: ., metrics: [throughput, response_time, errors] }]`;
  const { config } = await parseConfig(text, { fileName: 'c.yaml', directory: '/' });
  let minute = 0;
  let left = atFirst;
  const bench = await aRunningDaemon(config, {
    fleet: { applications },
    wire: (wire) => ({
      ...wire,
      send: async (...request) => {
        const { clock } = bench.platform;
        const now = Math.floor(clock.monotonicMs() / minuteMs);
        if (now > minute) [minute, left] = [now, quota];
        left -= 1;
        if (left >= 0) return wire.send(...request);
        const seconds = Math.ceil(((now + 1) * minuteMs - clock.monotonicMs()) / 1000);
        return { status: 429, headers: { 'retry-after': String(seconds) }, body: '{}' };
      },
    }),
  });
  await bench.platform.clock.advance(1);
  return bench;
}

/** Calls that were answered with what they asked for. */
async function callsOf(bench: RunningDaemon, operation: string): Promise<number> {
  const pattern = new RegExp(
    `^newrelic_exporter_api_requests_total.*operation="[a-z_]*${operation}".*code="200"`,
    'u',
  );
  const lines = await ownLinesOf(bench, pattern);
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

function isSlow(fields: Readonly<Record<string, unknown>>): boolean {
  return /too slow/iu.test(JSON.stringify([fields, String(fields['error'])]));
}

const nerdgraph = 'source: nerdgraph, account_id: 1234567';

describe('4.3 a key with few calls left', () => {
  it.each([
    [45, 'REST', ''],
    [20, 'REST', ''],
    [10, 'REST', ''],
    [3, 'REST', ''],
    [1, 'NerdGraph', nerdgraph],
  ] as const)(
    '%i a minute, by %s: lists go on, and each application is polled in turn',
    async (...row) => {
      const [quota, , source] = row;
      const bench = await fortyMinutes(quota, source);
      const ups: string[] = [];
      for (let minute = 0; minute < 40; minute += 1) {
        await bench.platform.clock.advance(minuteMs);
        ups.push(...(await linesOf(bench, /^newrelic_up/u)));
      }
      const [list, poll] = await Promise.all(
        ['list_applications', 'metrics'].map(async (of) => callsOf(bench, of)),
      );

      expect(new Set(ups)).toEqual(new Set(['newrelic_up{account="one"} 1']));
      expect(list).toBeGreaterThanOrEqual(13);
      expect(poll).toBeGreaterThanOrEqual(0.3 * quota * 40);
      const polled = await linesOf(bench, /^newrelic_application_last_success_timestamp_seconds/u);
      expect(polled).toHaveLength(applications.length);
      expect(bench.logger.lines.filter(({ fields }) => isSlow(fields))).toEqual([]);
    },
  );
});

describe('4.3 a key that is always refused', () => {
  it.each([
    ['REST', ''],
    ['NerdGraph', nerdgraph],
  ])('leaves nothing to grow old in silence: %s', async (_, source) => {
    const bench = await fortyMinutes(0, source, 100);
    const seen: string[] = [];
    for (let minute = 0; minute < 45; minute += 1) {
      await bench.platform.clock.advance(minuteMs);
      const [up = ''] = await linesOf(bench, /^newrelic_up/u);
      const shown = await linesOf(bench, /^newrelic_application_(?:summary|requests|health)/u);
      seen.push(`${up.at(-1)} ${shown.length > 0 ? 'values' : 'none'}`);
    }
    const failed = bench.logger.lines.filter(({ message }) => message === 'discovery failed');

    // In the first minute calls pass. Three intervals of lists later they are late, and stale_after later old.
    expect(seen.slice(0, 3)).toEqual(Array(3).fill('1 values'));
    expect(seen.slice(5, 18)).toEqual(Array(13).fill('0 values'));
    expect(seen.slice(21)).toEqual(Array(24).fill('0 none'));
    expect(failed).toMatchObject([{ fields: { error: { reason: 'throttled' } } }]);
  });
});
