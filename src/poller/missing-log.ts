import type { AppEntry } from '../model/config.ts';
import { selectorText } from '../model/selector.ts';
import { type Change, type ChangeLogDependencies, createChangeLog } from './change-log.ts';

/** Tells which entries of the configuration choose nothing. */
export interface MissingLog {
  /**
   * Of many changes the first are written at once, and the others soon.
   *
   * @param missing all entries that choose nothing now; the same list again says nothing new
   */
  update(missing: readonly AppEntry[]): void;
  stop(): void;
}

/** The status page and `newrelic_exporter_app_missing` have the others. */
const entriesInFull = 10;
/** Changes that are written without a break: a few milliseconds. */
const atATime = 1000;

export function createMissingLog(account: string, dependencies: ChangeLogDependencies): MissingLog {
  const { clock } = dependencies;
  const log = createChangeLog(
    {
      account,
      inFull: entriesInFull,
      countField: 'entries',
      flapMessage: 'entries of apps keep losing and finding what they match',
    },
    dependencies,
  );
  let lastList: readonly AppEntry[] | undefined;
  let lastMissing: ReadonlySet<string> = new Set();
  let changes: Iterator<Change> = [].values();
  let cancelTimer: (() => void) | undefined;

  const write = (count: number): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    for (let written = 0; written < count; written += 1) {
      const { value, done } = changes.next();
      if (done === true) return;
      log.write(value);
    }
    cancelTimer = clock.after(0, () => {
      write(atATime);
    });
  };

  return {
    update: (missing) => {
      if (missing === lastList) return;
      lastList = missing;
      write(Number.POSITIVE_INFINITY);
      const nowMissing = new Set(missing.map(({ selector }) => selectorText(selector)));
      changes = changesBetween(account, lastMissing, nowMissing);
      lastMissing = nowMissing;
      write(atATime);
    },
    stop: () => {
      write(Number.POSITIVE_INFINITY);
      log.stop();
    },
  };
}

function* changesBetween(
  account: string,
  before: ReadonlySet<string>,
  now: ReadonlySet<string>,
): Generator<Change, undefined> {
  const remedy =
    'correct the entry under apps, or use a key of the account that has it; with hosts: self see --host-name';
  for (const selector of now) {
    if (before.has(selector)) continue;
    yield {
      id: selector,
      name: selector,
      reason: undefined,
      level: 'warn',
      message: 'entry of apps matches nothing',
      moreMessage: 'more entries of apps match nothing',
      isFailing: true,
      fields: { account, selector, remedy },
    };
  }
  for (const selector of before) {
    if (now.has(selector)) continue;
    yield {
      id: selector,
      name: selector,
      reason: undefined,
      level: 'info',
      message: 'entry of apps matches again',
      moreMessage: 'more entries of apps match again',
      isFailing: false,
      fields: { account, selector },
    };
  }
  return undefined;
}
