import type { AppState } from './app-state.ts';
import { applicationFieldsOf } from './application-fields.ts';
import type { ChangeLog, ChangeLogOptions, StateChange, StateLines } from './change-log.ts';

/** Tells whose values were dropped, and when they are back. */
export interface ValuesLog {
  dropped(states: readonly AppState[]): void;
  polled(after: AppState): void;
  /** Forgets the applications that are no longer there. */
  keepOnly(known: { has(id: string): boolean }): void;
  /** Writes what was only counted so far, and leaves no timer. */
  stop(): void;
}

export const boundsOfValues: Omit<ChangeLogOptions, 'account'> = {
  burst: { inFull: 3, countField: 'applications' },
  flapMessage: 'applications keep losing and regaining their values',
};
const valueLines: StateLines = {
  level: 'warn',
  fails: ['values dropped', 'values dropped for more applications'],
  works: ['values are back', 'values are back for more applications'],
  remedy:
    'nothing could be read for stale_after: the status page and earlier lines of the application say why',
};

/** @param log a log within `boundsOfValues` */
export function createValuesLog(log: ChangeLog): ValuesLog {
  const dropped = new Set<string>();
  return {
    dropped: (states: readonly AppState[]): void => {
      for (const { selected } of states) dropped.add(selected.application.id);
      log.write(states.map((state) => changeOf(state, true)));
    },
    polled: (after: AppState): void => {
      const { id } = after.selected.application;
      if (dropped.size === 0 || (after.reading === undefined && !after.gone)) return;
      // Of an application that is gone no values are expected; that has its own line.
      if (dropped.delete(id) && !after.gone) log.write([changeOf(after, false)]);
    },
    keepOnly: (known: { has(id: string): boolean }): void => {
      for (const id of dropped) if (!known.has(id)) dropped.delete(id);
    },
    stop: () => {
      log.stop();
    },
  };
}

function changeOf({ selected, failure, lastSuccessMs }: AppState, isDropped: boolean): StateChange {
  const reason = failure?.reason;
  const subject = applicationFieldsOf(selected.application);
  const lastSuccess =
    lastSuccessMs === undefined ? {} : { last_success: new Date(lastSuccessMs).toISOString() };
  return {
    id: subject.app_id,
    name: subject.app_name,
    lines: valueLines,
    before: { isFailing: !isDropped },
    after: { isFailing: isDropped, reason: isDropped ? reason : undefined },
    fields: isDropped ? { ...subject, reason, ...lastSuccess } : subject,
  };
}
