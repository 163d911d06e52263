import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';

const minuteMs = 60_000;
const text = `
accounts: [{ name: one, source: nerdgraph, account_id: 1234567, api_key_env: KEY_A }]
poll: { window: 5m }
apps: [{ match: ., hosts: false, metrics: [throughput, { metric: HttpDispatcher, value: call_count, as: own_calls }] }]`;

it.each([
  ['ten minutes', -300_000],
  ['a minute', 240_000],
])(
  '11.1 publishes no count of %s as one of five minutes, and no other value of it',
  async (_, byMs) => {
    const { config } = await parseConfig(text, { fileName: 'c.yaml', directory: '/' });
    const { page, platform } = await aRunningDaemon(config, {
      wire: (wire) => ({
        ...wire,
        send: async (...request) => {
          const answer = await wire.send(...request);
          if (request[0].operation !== 'application_metrics') return answer;
          const body = JSON.parse(answer.body);
          const { nrql } = body.data.actor.account;
          nrql.metadata.timeWindow.begin += byMs;
          const factor = (300_000 - byMs) / 300_000;
          for (const row of [...nrql.results, nrql.totalResult, nrql.otherResult]) {
            for (const name of Object.keys(row ?? {})) {
              if (typeof row[name] === 'number') row[name] *= factor;
            }
          }
          return { ...answer, body: JSON.stringify(body) };
        },
      }),
    });
    await platform.clock.advance(3 * minuteMs);
    expect(await page()).not.toMatch(/^own_calls\{/mu);
  },
);
