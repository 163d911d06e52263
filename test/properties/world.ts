import { createOwnerOf, type Shard } from '../../src/model/shard.ts';
import type { Fleet } from '../../src/simulator/fleet.ts';
import type { AccountSetup, SourceKind } from './account-setup.ts';

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
  /** Whether this daemon polls the application, if it is wanted. */
  readonly isOwn: (applicationId: string) => boolean;
  readonly report: Report;
}

export function setupOf(world: World, account: string): AccountSetup | undefined {
  return world.setups().find(({ name }) => name === account);
}

/** As one of several daemons has to see it: it polls its own applications, with its part of each budget. */
export function ofShard(world: World, { ordinal, total }: Shard): World {
  if (total === 1) return world;
  const ownerOf = createOwnerOf(total);
  // The same setup keeps the same part, as an object: rules tell by it whether anything has changed.
  const parts = new WeakMap<AccountSetup, AccountSetup>();
  const partOf = (setup: AccountSetup): AccountSetup => {
    const requestsPerMinute = Math.floor(setup.requestsPerMinute / total);
    const part = parts.get(setup) ?? { ...setup, requestsPerMinute };
    parts.set(setup, part);
    return part;
  };
  return {
    ...world,
    setups: () => world.setups().map(partOf),
    earlierSetups: () => world.earlierSetups().map(partOf),
    isOwn: (applicationId) => ownerOf(applicationId) === ordinal,
    report: (rule, detail) => world.report(rule, `shard ${ordinal}: ${detail}`),
  };
}

/** Without the accounts that have another source. */
export function ofSource(world: World, kind: SourceKind): World {
  const only = (setups: readonly AccountSetup[]): readonly AccountSetup[] =>
    setups.filter(({ source = 'rest' }) => source === kind);
  return {
    ...world,
    setups: () => only(world.setups()),
    earlierSetups: () => only(world.earlierSetups()),
  };
}
