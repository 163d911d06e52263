import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import type { FleetOptions } from '../../../src/simulator/fleet-options.ts';
import type { SimulatorOptions } from '../../../src/simulator/simulator-options.ts';
import type { FakePlatform } from '../../support/fake-platform.ts';
import { missingIn, type Printed, printedOn } from '../survey/ask-bench.ts';

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
const oneShop: FleetOptions = {
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

/** What `metrics` prints, and what it asked. */
export interface Row extends ListingOptions {
  readonly what: string;
  /** Default: those of the application 11. */
  readonly args?: readonly string[];
  readonly exits: number;
  /** Default: empty. */
  readonly stdout?: readonly (string | RegExp)[];
  readonly stderr?: readonly (string | RegExp)[];
  /** The last of what was asked. */
  readonly asks?: string | RegExp;
}

/** What is not as the row says. */
export async function unmet({ args = ['11'], exits, ...row }: Row): Promise<readonly unknown[]> {
  const { exitCode, stdout, stderr, targets, open } = await listing(args, row);
  return [
    ...missingIn(stdout, row.stdout ?? [/^$/u]),
    ...missingIn(stderr, [...(row.stderr ?? [/^$/u]), /^(?![^]*NRAK-GOOD)/u]),
    ...missingIn(targets.at(-1) ?? '', row.asks === undefined ? [] : [row.asks]),
    ...missingIn(`${exitCode}, ${open} open`, [`${exits}, 0 open`]),
  ];
}
