import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import type { Config } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import {
  aRunningDaemon,
  type RunningDaemon,
  type RunningDaemonOptions,
} from '../support/running-daemon.ts';

const sources = ['source: rest', 'source: nerdgraph, account_id: 1234567'];

async function configOf(source: string, window: string): Promise<Config> {
  const text = `
accounts: [{ name: one, api_key_env: KEY_A, ${source} }]
poll: { interval: 1h, discovery_interval: 60s, window: ${window} }
apps: [{ match: ., hosts: false, metrics: [{ metric: HttpDispatcher, value: call_count, as: own_calls }] }]`;
  return (await parseConfig(text, { fileName: 'c.yaml', directory: '/' })).config;
}

async function countsOf({ page }: RunningDaemon): Promise<readonly number[]> {
  const lines = (await page()).split('\n').filter((line) => line.startsWith('own_calls{'));
  return lines.map((line) => Number(line.split(' ').at(-1)));
}

async function started(source: string, options: RunningDaemonOptions = {}): Promise<RunningDaemon> {
  return aRunningDaemon(await configOf(source, '5m'), options);
}

async function reloaded(bench: RunningDaemon, source: string, window: string): Promise<void> {
  const applied = bench.daemon.apply(await configOf(source, window));
  await bench.platform.clock.advance(0);
  await applied;
}

it.each(sources)(
  '8.3 asks applications anew whose window is another one, and shows no count of the old one (%s)',
  async (source) => {
    const bench = await started(source);
    await bench.platform.clock.advance(61 * minuteMs);
    // 120 and 60 requests a minute.
    expect(await countsOf(bench)).toEqual([600, 300]);

    await reloaded(bench, source, '1h');
    expect(await countsOf(bench)).toEqual([]);

    await bench.platform.clock.advance(10_000);
    expect(await countsOf(bench)).toEqual([7200, 3600]);
  },
);

it.each(sources)(
  '8.3 takes nothing of an answer about the old window that comes after the reload (%s)',
  async (source) => {
    const bench = await started(source, { latencyMs: 5000 });
    await bench.platform.clock.advance(60 * minuteMs);
    await reloaded(bench, source, '10m');
    await bench.platform.clock.advance(2000);
    await reloaded(bench, source, '1h');
    await bench.platform.clock.advance(4000);

    expect(await countsOf(bench)).toEqual([]);
    await bench.platform.clock.advance(6000);
    expect(await countsOf(bench)).toEqual([7200, 3600]);
  },
);
