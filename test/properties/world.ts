import type { Fleet } from '../../src/simulator/fleet.ts';
import type { AccountSetup } from './account-setup.ts';

/** Notes that something is not as it must be. */
export type Report = (rule: string, detail: string) => void;

/** What the rules know of the world beside the daemon; all of it is of this moment. */
export interface World {
  readonly nowMs: () => number;
  /** Time where the data is. */
  readonly vendorWallMs: () => number;
  /** Time as this machine has it. */
  readonly ownWallMs: () => number;
  readonly setups: () => readonly AccountSetup[];
  /** While a reload is under way: those before it. */
  readonly earlierSetups: () => readonly AccountSetup[];
  readonly fleet: Fleet;
  readonly report: Report;
}

export function setupOf(world: World, account: string): AccountSetup | undefined {
  return world.setups().find(({ name }) => name === account);
}
