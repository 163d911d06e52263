import type { Now } from '../model/clock.ts';
import type { PollOutcome } from '../model/poll-outcome.ts';
import type { Failure } from '../model/status.ts';

type Why = Omit<Failure, 'sinceMs'>;

const gone: Why = {
  reason: 'not_found',
  message:
    'New Relic lists the application, but answers 404 when asked for it. Nothing is published until it answers again.',
};

const unexplained: Why = {
  reason: 'client',
  message: 'Something that the poll asked for did not arrive, and no call says why.',
};

/**
 * Why a poll did not get everything: a refused key before other reasons; `undefined` if it did. Failures
 * in a row have begun with the first of them, whatever their reasons.
 *
 * @param startMs when the poll began, on the monotonic clock
 */
export function failureAfter(
  before: Failure | undefined,
  outcome: PollOutcome,
  startMs: number,
  now: Now,
): Failure | undefined {
  const why = whyOf(outcome);
  if (why === undefined) return undefined;
  const startWallMs = Math.round(now.wallMs - (now.monotonicMs - startMs));
  return { ...why, sinceMs: before?.sinceMs ?? startWallMs };
}

function whyOf({ gone: isGone, failed, error, unauthorized }: PollOutcome): Why | undefined {
  if (isGone) return gone;
  if (failed.size === 0) return undefined;
  if (error === undefined) return unexplained;
  return { reason: unauthorized ? 'auth' : error.reason, message: error.message };
}
