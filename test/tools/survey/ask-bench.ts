import { run } from '../../../src/cli/run.ts';
import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import { createFaults } from '../../../src/simulator/faults.ts';
import type { FleetOptions } from '../../../src/simulator/fleet-options.ts';
import { createSimulator } from '../../../src/simulator/simulator.ts';
import type { SimulatorOptions } from '../../../src/simulator/simulator-options.ts';
import { diskDone } from '../../support/disk-done.ts';
import {
  createFakePlatform,
  type FakePlatform,
  type PlatformOverrides,
} from '../../support/fake-platform.ts';
import { inMemoryTransport } from '../../support/in-memory-vendor.ts';

export interface Printed {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Calls that the vendor got. */
  readonly calls: number;
  /** Path and query of every call, percent-decoded; of NerdGraph, what was asked. */
  readonly targets: readonly string[];
  /** Connections that were left open. */
  readonly open: number;
  /** How long it took. */
  readonly elapsedMs: number;
}

/** New Relic answers for one metric at a time. */
export const firstMetricOnly: FaultRule = {
  fault: { kind: 'first_metric_only', others: 'without_values' },
};

const usualTime = '2026-09-01T10:00:30Z';

/** Runs a command against a simulated account, whose key is in `KEY`; a wrong one in `WRONG_KEY`, at a time. */
export async function printed(
  args: readonly string[],
  files: Readonly<Record<string, string>>,
  fleet: FleetOptions = {},
  at: string = usualTime,
): Promise<Printed> {
  return printedBy({ fleet }, args, files, at);
}

/** As `printed`, with a simulator that has other options as well. */
export async function printedBy(
  options: SimulatorOptions,
  args: readonly string[],
  files: Readonly<Record<string, string>>,
  at: string = usualTime,
  rules: readonly FaultRule[] = [],
): Promise<Printed> {
  return printedOn({}, options, args, files, at, rules);
}

/** As `printedBy`, on a platform that is different in some way, which is told of each call before it is sent. */
export async function printedOn(
  overrides: PlatformOverrides,
  options: SimulatorOptions,
  args: readonly string[],
  files: Readonly<Record<string, string>>,
  at: string = usualTime,
  rules: readonly FaultRule[] = [],
  beforeCall: (call: number, platform: FakePlatform) => void = () => undefined,
): Promise<Printed> {
  let calls = 0;
  let open = 0;
  const platform = createFakePlatform({
    ownHostNames: ['own-pod'],
    env: { KEY: 'NRAK-GOOD', WRONG_KEY: 'NRAK-WRONG', NEW_RELIC_API_KEY: 'NRAK-GOOD' },
    files,
    openTransport: async () => {
      const transport = inMemoryTransport(simulator);
      open += 1;
      return {
        close: async () => {
          open -= 1;
          await transport.close();
        },
        send: async ({ body, ...request }, ...more) => {
          calls += 1;
          beforeCall(calls, platform);
          // It skips nothing, and the simulator has no word for it.
          const known = body?.replaceAll(' OFFSET 0', '');
          return transport.send(
            { ...request, ...(known !== undefined && { body: known }) },
            ...more,
          );
        },
      };
    },
    ...overrides,
  });
  const { clock } = platform;
  clock.jumpWall(Date.parse(at) - clock.wallMs());
  const { intercept } = createFaults(rules, { clock });
  const simulator = createSimulator({ apiKeys: ['NRAK-GOOD'], intercept, ...options }, { clock });
  const state = { hasEnded: false };
  const startMs = clock.monotonicMs();
  const ending = run(args, platform).finally(() => {
    state.hasEnded = true;
  });
  while (!state.hasEnded) {
    await diskDone();
    await clock.advance(1000);
  }
  return {
    exitCode: await ending,
    stdout: platform.stdout.text(),
    stderr: platform.stderr.text(),
    calls: simulator.journal.count(),
    targets: simulator.journal
      .entries()
      .flatMap(({ path, query, graphql }) =>
        graphql === undefined
          ? [decodeURIComponent(query === '' ? path : `${path}?${query}`)]
          : graphql.asks.map(({ text }) => text),
      ),
    open,
    elapsedMs: clock.monotonicMs() - startMs,
  };
}

/** Those of the texts that are not there. */
export function missingIn(text: string, all: readonly (string | RegExp)[]): readonly unknown[] {
  return all
    .filter((one) => (typeof one === 'string' ? !text.includes(one) : !one.test(text)))
    .map((one) => ({ missing: String(one), text }));
}

/** Three applications; one of them does not report. */
export const threeApplications: FleetOptions = {
  applications: [
    { id: 11, name: 'shop', kind: 'both', language: 'ruby', hosts: 2 },
    { id: 12, name: 'billing: #1', kind: 'web', language: 'java', hosts: 1 },
    { id: 13, name: 'old', kind: 'not_reporting', language: 'go' },
  ],
};
