import { expect } from 'vitest';
import { Reloader } from '../../src/daemon/reload.ts';
import { secondMs } from '../../src/model/time.ts';
import { type TimedBench, type VendorOptions, withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';

export const everyone: readonly string[] = [
  'neighbour 101',
  'neighbour 102',
  'production 101',
  'production 102',
];
export const production = { account: 'production' };
export const shop = { account: 'production', app_id: '101' };
const file = '/config.yaml';

interface AccountText {
  readonly name: string;
  readonly [key: string]: unknown;
}

/** A configuration file; JSON is YAML. */
export function configOf(...accounts: readonly AccountText[]): string {
  return JSON.stringify({
    accounts: accounts.map(({ name, ...more }) => ({
      name,
      base_url: `http://${name}.invalid`,
      api_key_file: `/keys/${name}`,
      ...more,
    })),
    poll: { raw: true },
    apps: accounts.map(({ name }) => ({ match: '^', account: name })),
  });
}

export const both: string = configOf({ name: 'production' }, { name: 'neighbour' });

interface ReloadBench extends TimedBench {
  /** Puts another text into the file; `undefined` deletes it. */
  write(text: string | undefined): void;
  /** Reloads as SIGHUP does, and lets no time pass. */
  hangup(): Promise<void>;
}

/** The daemon with a configuration file that it looks at every five seconds. */
export async function withReloading(
  options: VendorOptions,
  test: (bench: ReloadBench) => Promise<void>,
): Promise<void> {
  const files: Record<string, string> = { [file]: both };
  await withTimedFaults({ ...options, files }, async (bench) => {
    const { daemon, daemonPlatform, logger, platform } = bench;
    // The bench itself has put the first configuration into force.
    let hasStarted = false;
    const reloader = new Reloader(
      { configFile: file, configWait: false, autoReloadIntervalMs: 5 * secondMs },
      {
        platform: daemonPlatform,
        logger,
        metrics: daemon.metrics,
        apply: async (next) => {
          if (hasStarted) await daemon.apply(next);
        },
      },
    );
    await reloader.reload('start');
    hasStarted = true;
    const watching = reloader.watch(platform.stopSignal);
    await test({
      ...bench,
      write: (text) => {
        if (text === undefined) delete files[file];
        else files[file] = text;
      },
      hangup: async () => {
        platform.hangup();
        await bench.advance(0);
      },
    });
    await bench.stop();
    await watching;
  });
}

/** An account moves to NerdGraph and back, while New Relic takes so long for an answer. */
export async function expectMovedAndBack(latencyMs: number): Promise<void> {
  const viaNerdGraph = configOf(
    { name: 'production', source: 'nerdgraph', account_id: 1_234_567 },
    { name: 'neighbour' },
  );
  await withReloading({ simulator: { latencyMs } }, async (bench) => {
    const shown: string[] = [];
    const ofNeighbour: number[] = [];
    let seen: unknown;
    const watch = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        await bench.advance(secondMs);
        const now = await bench.daemon.store.page();
        // The same object while nothing changes.
        if (now === seen) continue;
        seen = now;
        // It throws if a series stands there twice.
        const page = await bench.scrape();
        const series = page.series('newrelic_application_host_requests_per_minute', shop);
        const ids = [...new Set(series.map(({ host_id: id }) => id))].join();
        if (ids !== '' && ids !== shown.at(-1)) shown.push(ids);
        const others = page.series('newrelic_application_requests_per_minute', {
          account: 'neighbour',
        });
        ofNeighbour.push(others.length);
      }
    };
    await watch(90);
    bench.write(viaNerdGraph);
    await bench.hangup();
    await watch(90);
    const moved = freshness(await bench.scrape(), bench.clock);
    bench.write(both);
    await bench.hangup();
    await watch(90);
    const back = freshness(await bench.scrape(), bench.clock);

    expect(shown).toEqual(['1011,1012', 's1,s2', '1011,1012']);
    expect(ofNeighbour.length).toBeGreaterThan(10);
    expect(new Set(ofNeighbour)).toEqual(new Set([3]));
    expect(moved).toEqual(everyone);
    expect(back).toEqual(everyone);
    expect(bench.logs('configuration reloaded').length).toBeGreaterThanOrEqual(2);
    expect(bench.logs('poll failed')).toEqual([]);
    expect(bench.logs('discovery failed')).toEqual([]);
  });
}
