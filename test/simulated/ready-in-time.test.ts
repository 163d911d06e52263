import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';

it.each([
  ['REST', ''],
  ['NerdGraph', 'source: nerdgraph, account_id: 1234567'],
])(
  'the first cycle counts as over five minutes after the start, whatever it waits for: %s',
  async (_, source) => {
    const ids = Array.from({ length: 12 }, (__, at) => 101 + at);
    // Each has queries of its own.
    const apps = ids.map((id) => `  - { id: ${id}, window: ${id - 96}m, hosts: false }`);
    const text = `
accounts: [{ name: one, api_key_env: KEY_A, requests_per_minute: 1, ${source} }]
apps:
${apps.join('\n')}
`;
    const { config } = await parseConfig(text, { fileName: 'c.yaml', directory: '/' });
    const { daemon, platform } = await aRunningDaemon(config, {
      fleet: {
        applications: ids.map((id) => ({ id, name: `app-${id}`, kind: 'web', hosts: 1 })),
      },
    });
    const isOver = (): boolean => daemon.status().every(({ firstCycleEnded }) => firstCycleEnded);
    await platform.clock.advance(5 * minuteMs - 1000);
    const before = isOver();
    await platform.clock.advance(2000);

    expect([before, isOver()]).toEqual([false, true]);
  },
);
