import { describe, expect } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { sleep } from '../../src/model/clock.ts';
import { minuteMs } from '../../src/model/time.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';
import { eachAfter } from '../support/slow.ts';

const intervals = [10, 10, 10, 30, 30, 30, 60, 60];
const requestsPerMinute = 20;

function textOf(seconds: number, at: number): string {
  return `  - { as: q_${at}, nrql: "SELECT count(*) FROM Transaction WHERE name = 'q${at}'", interval: ${seconds}s }`;
}

/** The longest time between two calls for each query, in seconds, and the stretch of the plan. */
async function gapsOf(latencyMs: number) {
  const text = `
accounts: [{ name: one, api_key_env: KEY_A, source: nerdgraph, account_id: 1234567, requests_per_minute: ${requestsPerMinute} }]
apps: [{ match: ., hosts: true }]
queries:
${intervals.map(textOf).join('\n')}`;
  const { config } = await parseConfig(text, { fileName: 'c.yaml', directory: '/' });
  const lastMs = new Map<string, number>();
  const gaps = new Map<string, number[]>();
  const applications = [1, 2, 3, 4].map((id) => ({ id, name: `app-${id}`, hosts: 10 }));
  const bench = await aRunningDaemon(config, {
    fleet: { applications },
    wire: (wire) => ({
      ...wire,
      send: async (request, ...how) => {
        const { clock } = bench.platform;
        const name = /name = 'q(\d)/u.exec(request.body ?? '')?.[1] ?? 'app';
        const nowMs = clock.monotonicMs();
        if (nowMs > 5 * minuteMs) {
          const gapMs = nowMs - (lastMs.get(name) ?? nowMs);
          gaps.set(name, [...(gaps.get(name) ?? []), gapMs / 1000]);
        }
        lastMs.set(name, nowMs);
        await sleep(clock, latencyMs, how[1]);
        return wire.send(request, ...how);
      },
    }),
  });
  await bench.platform.clock.advance(25 * minuteMs);
  const [status] = bench.daemon.status();
  return { stretch: status?.stretch ?? 0, gaps };
}

describe('2.2 queries of short intervals in a small budget', () => {
  eachAfter(0, [300, 3000])(
    'wait no longer than their share: answers of %d ms',

    async (latencyMs) => {
      const { stretch, gaps } = await gapsOf(latencyMs);
      const gapOfPace = (60 + latencyMs / 1000) / requestsPerMinute;
      const longest = intervals.map((_, at) => Math.max(...(gaps.get(`${at}`) ?? [Infinity])));

      expect(stretch).toBeGreaterThan(1.3);
      for (const [at, seconds] of intervals.entries()) {
        expect(longest[at]).toBeLessThanOrEqual(1.2 * stretch * seconds + gapOfPace);
      }
    },
  );
});
