import type { PollOutcome } from '../model/poll-outcome.ts';
import type { AppState } from './app-state.ts';
import { shortName } from './application-name.ts';
import type { Change, ChangeLog } from './change-log.ts';

/** Tells how the polls of each application fare. */
export interface StateLog {
  changed(before: AppState, after: AppState, outcome: PollOutcome): void;
}

export function createStateLog(account: string, log: ChangeLog): StateLog {
  return {
    changed: (before, after, outcome) => {
      const { id } = after.selected.application;
      const name = shortName(after.selected.application);
      const fields = { account, app_id: id, app_name: name };
      const write = (
        level: Change['level'],
        message: string,
        more: Pick<Change, 'moreMessage' | 'isFailing'> & Partial<Pick<Change, 'reason'>>,
        details: Readonly<Record<string, unknown>> = {},
      ): void => {
        log.write({
          level,
          message,
          id,
          name,
          reason: undefined,
          ...more,
          fields: { ...fields, ...details },
        });
      };
      if (after.gone && !before.gone) {
        write('info', 'application is gone', {
          moreMessage: 'more applications are gone',
          isFailing: true,
        });
      }
      if (before.gone && !after.gone) {
        write('info', 'application is back', {
          moreMessage: 'more applications are back',
          isFailing: false,
        });
      }
      if (after.failedFor !== undefined && after.failedFor !== before.failedFor) {
        const { error, failed, plannedCalls } = outcome;
        write(
          'warn',
          'poll failed',
          {
            moreMessage: 'poll failed for more applications',
            isFailing: true,
            reason: after.failedFor,
          },
          { failed: failed.size, calls: plannedCalls, error },
        );
      }
      if (after.pollSucceeded === true && before.pollSucceeded === false) {
        write('info', 'poll works again', {
          moreMessage: 'poll works again for more applications',
          isFailing: false,
        });
      }
    },
  };
}
