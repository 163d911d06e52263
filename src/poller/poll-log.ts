import type { AppEntry } from '../model/config.ts';
import type { PollOutcome } from '../model/poll-outcome.ts';
import type { Discovery } from '../model/source.ts';
import type { AccountPlan } from './account-plan.ts';
import type { AppState } from './app-state.ts';
import { type ChangeLogDependencies, createChangeLog } from './change-log.ts';
import { createDemandLog } from './demand-log.ts';
import { createDiscoveryLog } from './discovery-log.ts';
import { createMissingLog } from './missing-log.ts';
import { createNamesLog } from './names-log.ts';
import { createStateLog } from './state-log.ts';

/** Writes what has changed in one account, not what every poll brought; bounded, however bad. */
export interface PollLog {
  /** @param known the applications of the account now, by id */
  discovered(
    discovery: Discovery,
    known: ReadonlyMap<string, AppState>,
    missing: readonly AppEntry[],
  ): void;
  polled(before: AppState, after: AppState, outcome: PollOutcome): void;
  demand(plan: AccountPlan): void;
  /** Writes what was only counted so far, and leaves no timer. */
  stop(): void;
}

/** A few in full, so that a small installation reads of every one by name. */
const applicationsInFull = 3;

export function createPollLog(account: string, dependencies: ChangeLogDependencies): PollLog {
  const applications = createChangeLog(
    {
      account,
      inFull: applicationsInFull,
      countField: 'applications',
      flapMessage: 'applications keep failing and recovering',
    },
    dependencies,
  );
  const states = createStateLog(account, applications);
  const discoveries = createDiscoveryLog(account, dependencies);
  const missingEntries = createMissingLog(account, dependencies);
  const names = createNamesLog(account, dependencies);

  return {
    discovered: (discovery, known, missing) => {
      discoveries.ended(discovery, known.size);
      names.keepOnly(known);
      if (discovery.complete) missingEntries.update(missing);
    },
    polled: (before, after, outcome) => {
      states.changed(before, after, outcome);
      names.asked(after.selected.application, outcome);
    },
    demand: createDemandLog(account, dependencies),
    stop: () => {
      for (const log of [applications, discoveries, missingEntries, names]) log.stop();
    },
  };
}
