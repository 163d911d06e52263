import { run } from '../../src/cli/run.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { createFaults } from '../../src/simulator/faults.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import type { SimulatorOptions } from '../../src/simulator/simulator-options.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';

export interface Listing {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Path and query of every call, percent-decoded. */
  readonly targets: readonly string[];
  /** Connections that it left open. */
  readonly open: number;
  /** How long it took. */
  readonly elapsedMs: number;
}

export interface ListingOptions {
  readonly fleet?: FleetOptions;
  readonly simulator?: Pick<
    SimulatorOptions,
    'metricNamesPageSize' | 'metricNamesLatencyMs' | 'quotaPerMinute'
  >;
  readonly faults?: readonly FaultRule[];
  /** The configuration; without it there is no file. */
  readonly config?: string;
  /** Called before each call. */
  readonly beforeCall?: (call: number, platform: FakePlatform) => void;
}

/** One application that reports, with web and other transactions and two hosts. */
export const oneShop: FleetOptions = {
  applications: [{ id: 11, name: 'shop', kind: 'both', language: 'ruby', hosts: 2 }],
};

/** Runs `metrics` with these arguments against a simulated account. */
export async function listing(
  args: readonly string[],
  { fleet = oneShop, simulator: simulated, faults = [], config, beforeCall }: ListingOptions = {},
): Promise<Listing> {
  let calls = 0;
  let open = 0;
  const platform = createFakePlatform({
    env: { KEY: 'NRAK-GOOD', NEW_RELIC_API_KEY: 'NRAK-GOOD' },
    files: config === undefined ? {} : { 'config.yaml': config },
    openTransport: async () => {
      const transport = inMemoryTransport(simulator);
      open += 1;
      return {
        close: async () => {
          open -= 1;
          await transport.close();
        },
        send: async (...call) => {
          calls += 1;
          beforeCall?.(calls, platform);
          return transport.send(...call);
        },
      };
    },
  });
  const { clock } = platform;
  clock.jumpWall(Date.parse('2026-09-01T10:00:30Z') - clock.wallMs());
  const { intercept } = createFaults(faults, { clock });
  const simulator = createSimulator(
    { apiKeys: ['NRAK-GOOD'], fleet, intercept, ...simulated },
    { clock },
  );
  const state = { hasEnded: false };
  const startMs = clock.monotonicMs();
  const ending = run(['metrics', ...args], platform).finally(() => {
    state.hasEnded = true;
  });
  while (!state.hasEnded) await clock.advance(1000);
  return {
    exitCode: await ending,
    stdout: platform.stdout.text(),
    stderr: platform.stderr.text(),
    targets: simulator.journal
      .entries()
      .map(({ path, query }) => decodeURIComponent(query === '' ? path : `${path}?${query}`)),
    open,
    elapsedMs: clock.monotonicMs() - startMs,
  };
}
