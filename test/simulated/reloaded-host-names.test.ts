import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import type { Config } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { aRunningDaemon, type RunningDaemon } from '../support/running-daemon.ts';
import { slow } from '../support/slow.ts';

async function configOf(areNamed: boolean): Promise<Config> {
  const text = `
accounts: [{ name: one, api_key_env: KEY_A }]
poll: { interval: 1h, discovery_interval: 30s, host_names: ${areNamed} }
apps: [{ match: . }]`;
  return (await parseConfig(text, { fileName: 'c.yaml', directory: '/' })).config;
}

async function reloaded({ daemon, platform }: RunningDaemon, areNamed: boolean): Promise<void> {
  const applied = daemon.apply(await configOf(areNamed));
  await platform.clock.advance(0);
  await applied;
}

/** Whether each series of a host has its name, or the id in its place. */
async function namesShown({ page }: RunningDaemon): Promise<ReadonlySet<boolean>> {
  const ofHosts =
    /^newrelic_application_host_requests_per_minute\{.*?host_id="([^"]*)",host_name="([^"]*)"/gmu;
  return new Set([...(await page()).matchAll(ofHosts)].map(([, id, name]) => id !== name));
}

it(
  '8.3 names of hosts follow host_names at once: ids without them, names from the next call on',
  slow,
  async () => {
    const bench = await aRunningDaemon(await configOf(true));
    await bench.platform.clock.advance(3 * minuteMs);
    expect(await namesShown(bench)).toEqual(new Set([true]));

    await reloaded(bench, false);
    expect(await namesShown(bench)).toEqual(new Set([false]));
    await bench.platform.clock.advance(2 * 60 * minuteMs);
    expect(await namesShown(bench)).toEqual(new Set([false]));

    await reloaded(bench, true);
    await bench.platform.clock.advance(10_000);
    expect(await namesShown(bench)).toEqual(new Set([true]));
  },
);

it('8.3 names that were asked for before host_names was switched off are not shown', async () => {
  const bench = await aRunningDaemon(await configOf(true), { latencyMs: 5000 });
  await bench.platform.clock.advance(7000);
  await reloaded(bench, false);
  await bench.platform.clock.advance(20_000);

  expect(await namesShown(bench)).toEqual(new Set([false]));
});
