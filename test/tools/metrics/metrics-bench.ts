import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import type { FleetOptions } from '../../../src/simulator/fleet-options.ts';
import type { SimulatorOptions } from '../../../src/simulator/simulator-options.ts';
import type { FakePlatform } from '../../support/fake-platform.ts';
import { type Printed, printedOn } from '../survey/ask-bench.ts';

export interface ListingOptions {
  readonly fleet?: FleetOptions;
  readonly simulator?: SimulatorOptions;
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
  { fleet = oneShop, simulator = {}, faults = [], config, beforeCall }: ListingOptions = {},
): Promise<Printed> {
  const files = config === undefined ? {} : { 'config.yaml': config };
  const options = { fleet, ...simulator };
  return printedOn({}, options, ['metrics', ...args], files, undefined, faults, beforeCall);
}
