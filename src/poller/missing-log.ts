import type { AppEntry } from '../model/config.ts';
import { selectorText } from '../model/selector.ts';
import type { Change, ChangeLogDependencies } from './change.ts';
import { createChangeLog } from './change-log.ts';

/** Tells which entries of the configuration choose nothing. */
export interface MissingLog {
  /** @param missing all entries that choose nothing now */
  update(missing: readonly AppEntry[]): void;
  stop(): void;
}

/** The status page and `newrelic_exporter_app_missing` have the others. */
const entriesInFull = 10;

export function createMissingLog(account: string, dependencies: ChangeLogDependencies): MissingLog {
  const remedy = 'correct the entry under apps, or use a key of the account that has it';
  const log = createChangeLog(
    {
      account,
      inFull: entriesInFull,
      countField: 'entries',
      flapMessage: 'configured applications keep vanishing and coming back',
    },
    dependencies,
  );
  let lastMissing: ReadonlySet<string> = new Set();

  return {
    update: (missing) => {
      const nowMissing = new Set(missing.map((entry) => selectorText(entry.selector)));
      for (const selector of nowMissing) {
        if (lastMissing.has(selector)) continue;
        log.write({
          ...changeOf(selector),
          level: 'warn',
          message: 'configured application not found',
          moreMessage: 'more configured applications not found',
          isFailing: true,
          fields: { account, selector, remedy },
        });
      }
      for (const selector of lastMissing) {
        if (nowMissing.has(selector)) continue;
        log.write({
          ...changeOf(selector),
          level: 'info',
          message: 'configured application found',
          moreMessage: 'more configured applications found',
          isFailing: false,
          fields: { account, selector },
        });
      }
      lastMissing = nowMissing;
    },
    stop: () => {
      log.stop();
    },
  };
}

function changeOf(selector: string): Pick<Change, 'id' | 'name' | 'reason'> {
  return { id: selector, name: selector, reason: undefined };
}
