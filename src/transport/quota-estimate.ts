/** What is known of one refusal when it arrives; times are on the monotonic clock. */
export interface RefusedMinute {
  readonly sentMs: number;
  /** Until when the account pauses. */
  readonly untilMs: number;
  /** Calls of ours that the vendor answered in its minute before the refusal. */
  readonly answered: number;
  /** How much of the vendor's minute had passed. */
  readonly elapsedMs: number;
  /** Calls a minute that the vendor allows all users of the key together. */
  readonly limitPerMinute: number;
}

/** What may be sent at a moment. */
export interface Allowance {
  /** Calls in any 60 seconds. */
  readonly perMinute: number;
  /**
   * How many calls may be under way of those that try whether more is allowed than is known;
   * `undefined` for a call that is known to be allowed.
   */
  readonly trialsAtOnce: number | undefined;
}

/** What others leave of the vendor's quota, learned from 429s: no other answer tells about it. */
export interface QuotaEstimate {
  /** For the next call. */
  allowance(nowMs: number): Allowance;
  sent(nowMs: number): void;
  refused(minute: RefusedMinute): void;
  resize(requestsPerMinute: number): void;
}

const minuteMs = 60_000;
/** What was left is not used to the last call: other users do not come evenly. */
const usedShare = 0.95;
/** What is tried in any case, however much the others take. */
const leastShare = 0.1;
/** Who leaves less than this will hardly go on so for hours. */
const stormShare = 0.25;
/** Nearly the whole budget was sent: there is nothing left to find out. */
const wholeShare = 0.97;
/**
 * How long less is asked for after a trial that was refused. Each of them costs a 429, so
 * whoever shares the key for good is tested ever more rarely.
 */
const holdsMs = [0, 60 * minuteMs, 120 * minuteMs, 240 * minuteMs];
const longestHoldMs = 240 * minuteMs;

/** No more than `perMinute` is asked for until `untilMs`; in the minutes from then on more is tried. */
interface Held {
  readonly perMinute: number;
  readonly untilMs: number;
  /** Trials that were refused in a row. */
  readonly failedTrials: number;
  /** Which minute of the trial this is. */
  readonly trialMinute: number;
  /** Calls sent in this minute of the trial. */
  readonly sent: number;
}

/** The share of the budget that is sure to be left grows with each minute that was not refused. */
export function createQuotaEstimate(initialRequestsPerMinute: number): QuotaEstimate {
  let budget = initialRequestsPerMinute;
  let held: Held | undefined;
  let knownUntilMs = Number.NEGATIVE_INFINITY;

  return {
    allowance: (nowMs) => {
      held = atTime(held, nowMs, budget);
      if (held === undefined) return { perMinute: budget, trialsAtOnce: undefined };
      if (nowMs < held.untilMs) {
        return { perMinute: Math.min(budget, held.perMinute), trialsAtOnce: undefined };
      }
      const isKnown = held.sent < held.perMinute;
      return { perMinute: budget, trialsAtOnce: isKnown ? undefined : trialsAtOnce(held, budget) };
    },
    sent: (nowMs) => {
      held = atTime(held, nowMs, budget);
      if (held !== undefined) held = { ...held, sent: held.sent + 1 };
    },
    refused: (minute) => {
      // Calls that were under way together are refused together: that is one refusal.
      const isNews = minute.sentMs >= knownUntilMs;
      knownUntilMs = Math.max(knownUntilMs, minute.untilMs);
      if (isNews) held = afterRefusal(atTime(held, minute.sentMs, budget), minute, budget);
    },
    resize: (requestsPerMinute) => {
      budget = requestsPerMinute;
    },
  };
}

/** What a minute of trial has shown to be allowed counts from the next one on. */
function atTime(held: Held | undefined, nowMs: number, budget: number): Held | undefined {
  if (held === undefined || nowMs < held.untilMs) return held;
  const trialMinute = 1 + Math.floor((nowMs - held.untilMs) / minuteMs);
  if (trialMinute === held.trialMinute) return held;
  const perMinute = held.trialMinute === 0 ? held.perMinute : Math.max(held.perMinute, held.sent);
  if (perMinute >= wholeShare * budget) return undefined;
  return { ...held, perMinute, trialMinute, sent: 0 };
}

function afterRefusal(held: Held | undefined, minute: RefusedMinute, budget: number): Held {
  const isTrial = held !== undefined && minute.sentMs >= held.untilMs;
  const left = usedShare * leftByOthers(minute);
  const known = held?.perMinute ?? budget;
  const most = held === undefined || isTrial ? known : usedShare * known;
  const isStorm = left < stormShare * budget;
  const failedTrials = (held?.failedTrials ?? 0) + (isTrial && !isStorm ? 1 : 0);
  const holdMs = isStorm ? 0 : (holdsMs[failedTrials] ?? longestHoldMs);
  return {
    perMinute: Math.max(1, Math.floor(Math.max(leastShare * budget, Math.min(left, most)))),
    untilMs: minute.untilMs + holdMs,
    failedTrials,
    trialMinute: 0,
    sent: 0,
  };
}

/** All that are under way when the quota ends are refused; but a long way must not take for ever. */
function trialsAtOnce({ perMinute }: Held, budget: number): number {
  return perMinute < budget / 2 ? 4 : 1;
}

/** What we may send in a minute if the others go on as they did in this one. */
function leftByOthers({ answered, elapsedMs, limitPerMinute }: RefusedMinute): number {
  const others = Math.max(0, limitPerMinute - answered);
  const othersPerMinute = (others * minuteMs) / Math.max(1, elapsedMs);
  return Math.min(answered, limitPerMinute - othersPerMinute);
}
