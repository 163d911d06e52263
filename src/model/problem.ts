import type { FailureReason } from './api-error.ts';
import type { ThrottleCause } from './permit.ts';
import { type ProblemKind, type ProblemTone, problemKinds } from './problem-kinds.ts';
import { countOf, countText, cutText, durationText, rateText } from './shown-text.ts';
import {
  type AccountDetails,
  type AccountState,
  type FailingStatus,
  mostStretch,
  type ProcessStatus,
  type ReloadStatus,
} from './status.ts';

/** Names, of applications and metrics, may be of any length. */
const longestName = 256;

/** Of an account that asks for no list, its queries say the same. */
const logOfQueries = ['queries are not answered', 'queries are answered again'] as const;

/** One thing that is wrong, as of now. */
export interface Problem {
  readonly kind: ProblemKind;
  readonly tone: ProblemTone;
  /** Wall time of its begin; `undefined` as long as nobody has noted it. */
  readonly sinceMs: number | undefined;
  /** What is wrong, for people. Holds no secret. */
  readonly text: string;
  readonly remedy: string;
  /** Whom it is about, if not the whole: by the names that labels and the log have for it. */
  readonly subject?: Readonly<Record<string, string>>;
  /** Why New Relic gave no answer. */
  readonly reason?: FailureReason | undefined;
  /** Whether another problem of its account explains it, so that there is nothing to do here. */
  readonly isEffect?: boolean;
  /** The messages of the log at its begin and at its end. */
  readonly log: readonly [begins: string, ends: string];
}

/** What is known of an account, without what is judged by it. */
export type AccountFacts = Omit<AccountDetails, 'state' | 'stateSinceMs'>;

type Noted = Pick<AccountFacts, 'problemsSinceMs'>;

/** All that is wrong with an account, the worst first: the only judge of it. */
export function problemsOf(account: AccountFacts): readonly Problem[] {
  return [
    ...askedProblems(account),
    ...throttledProblems(account),
    ...keyProblems(account),
    ...account.missingSelectors.map((selector) =>
      aProblem(account, 'entry_matches_nothing', `nothing matches ${selector}`, {
        subject: { selector },
      }),
    ),
    ...pollProblems(account),
    ...stretchProblems(account),
    ...missingProblems(account),
    ...seriesProblems(account),
  ];
}

/** What an account is, by what is wrong with it. */
export function stateOfAccount(
  up: boolean | undefined,
  problems: readonly Problem[],
): AccountState {
  if (up === undefined) return 'starting';
  if (!up) return 'down';
  return problems.length > 0 ? 'degraded' : 'up';
}

/** The subjects of the problems of one kind. */
export function subjectsOf(
  problems: readonly Problem[],
  wanted: ProblemKind,
): readonly NonNullable<Problem['subject']>[] {
  return problems.flatMap(({ kind, subject }) =>
    kind === wanted && subject !== undefined ? [subject] : [],
  );
}

/** Whether what fails does so because of its whole account: lists fail alike, or did when it was polled, or there are 429s. */
export function isEffectOf(
  { errorReason, refusals, backoffUntilMs, recovered }: AccountFacts,
  { state, failure, lastPollMs = 0 }: FailingStatus,
): boolean {
  if (failure === undefined || state === 'gone') return false;
  const isThrottled = refusals !== undefined || backoffUntilMs !== undefined;
  const isLeft = failure.reason === recovered?.reason && lastPollMs < recovered.atMs;
  const isAlike = failure.reason === errorReason || isLeft;
  return isAlike || (failure.reason === 'throttled' && isThrottled);
}

function aProblem(
  { problemsSinceMs }: Noted,
  kind: ProblemKind,
  text: string,
  more: Partial<Problem> = {},
): Problem {
  const { tone, remedy, log } = problemKinds[kind];
  return Object.assign(
    { kind, tone, sinceMs: problemsSinceMs?.get(kind), text, remedy, log },
    more,
  );
}

const unreachable: ReadonlySet<FailureReason> = new Set([
  'dns',
  'connect',
  'tls',
  'reset',
  'timeout',
  'redirect',
]);

/** Lists fail, or where there are none, queries. */
function askedProblems(account: AccountFacts): readonly Problem[] {
  const { up, error, errorReason: reason, hasApplications } = account;
  if (up !== false) return [];
  const how = { reason, ...(!hasApplications && { log: logOfQueries }) };
  const text = error ?? 'New Relic did not answer';
  if (reason === 'throttled') {
    const { log } = problemKinds.list_failing;
    return [aProblem(account, 'throttled', text, { log, ...how, tone: 'red' })];
  }
  if (reason === 'auth') return [aProblem(account, 'key_refused', text, how)];
  const isUnreachable = reason !== undefined && unreachable.has(reason);
  return [aProblem(account, isUnreachable ? 'unreachable' : 'list_failing', text, how)];
}

const remediesOf429: Readonly<Record<ThrottleCause, string>> = {
  key_limit: 'the limit of the key is used up: see who else uses it, or lower requests_per_minute',
  overload: 'New Relic has too much to do: nothing needs to be done here',
  unknown: 'if this lasts, see who else uses the key, or lower requests_per_minute',
};

/** 429s and the pauses after them. That lists wait for the key says it already, where they are late. */
function throttledProblems(account: AccountFacts): readonly Problem[] {
  const { refusals, backoffUntilMs, errorReason, up } = account;
  if (refusals === undefined && backoffUntilMs === undefined) return [];
  if (up === false && errorReason === 'throttled') return [];
  const text = refusalText(account);
  const how = refusals && { sinceMs: refusals.sinceMs, remedy: remediesOf429[refusals.cause] };
  return [aProblem(account, 'throttled', text, how)];
}

/** What the vendor refused, what is sent since then, and until when nothing is. */
function refusalText(account: AccountFacts): string {
  const { refusals, backoffUntilMs, stretch, isReduced } = account;
  const { requestsPerMinute: full, budgetRequestsPerMinute: limit } = account;
  return [
    ...(refusals === undefined
      ? []
      : [
          `New Relic refused ${countOf(refusals.calls, 'call', 'calls', countText)}, the last at ${clockText(refusals.lastMs)}`,
        ]),
    ...(isReduced ? [`limit lowered from ${rateText(full)} to ${rateText(limit)}`] : []),
    ...(backoffUntilMs === undefined
      ? []
      : [`paused after a 429: no calls are sent until ${clockText(backoffUntilMs)}`]),
    ...(stretch > mostStretch ? [`intervals stretched ${stretch.toFixed(1)} times`] : []),
  ].join('; ');
}

/** Why the budget, or the vendor, makes polls rarer than they were meant to be. While a key is throttled, that is why. */
function stretchProblems(account: AccountFacts): readonly Problem[] {
  const { stretch, demandRequestsPerMinute: demand = 0, budgetRequestsPerMinute: limit } = account;
  const isThrottled = account.refusals !== undefined || account.backoffUntilMs !== undefined;
  if (stretch <= mostStretch || (isThrottled && demand <= account.requestsPerMinute)) return [];
  const needed = `intervals stretched ${stretch.toFixed(1)} times: ${rateText(demand)} calls a minute needed`;
  return [
    demand > limit
      ? aProblem(account, 'budget_too_small', `${needed}, ${rateText(limit)} allowed`)
      : aProblem(account, 'answers_slow', `${needed}, New Relic answers too slowly`),
  ];
}

function keyProblems(account: AccountFacts): readonly Problem[] {
  const { location, problem, sinceMs } = account.key;
  if (problem === undefined) return [];
  const text = `${location}: ${problem.replace(/\.$/u, '')}; the key that was read before stays in use`;
  return [aProblem(account, 'key_unreadable', text, { sinceMs })];
}

/** Applications and queries alike. */
function pollProblems(account: AccountFacts): readonly Problem[] {
  const { failing, queries = [] } = account;
  return [
    ...failing.flatMap((one) =>
      failureProblems(account, one, ['application_failing', 'application_dropped'], {
        app_id: one.id,
        app_name: cutText(one.name, longestName),
      }),
    ),
    ...queries
      .filter(({ state }) => state === 'failing' || state === 'dropped')
      .flatMap((one) =>
        failureProblems(account, one, ['query_failing', 'query_dropped'], { query: one.name }),
      ),
  ];
}

function failureProblems(
  account: AccountFacts,
  one: FailingStatus,
  [failing, dropped]: readonly [ProblemKind, ProblemKind],
  subject: Readonly<Record<string, string>>,
): readonly Problem[] {
  const { failure, state, dropMs } = one;
  const how = { subject, reason: failure?.reason, isEffect: isEffectOf(account, one) };
  const text = failure?.message ?? 'the last poll did not get everything';
  return [
    aProblem(account, failing, text, { ...how, sinceMs: failure?.sinceMs }),
    // Whatever the cause: that values are gone is a thing of its own.
    ...(state === 'dropped'
      ? [aProblem(account, dropped, text, { ...how, isEffect: false, sinceMs: dropMs })]
      : []),
  ];
}

/** What is configured and never had a value. */
function missingProblems(account: AccountFacts): readonly Problem[] {
  const { missingMetrics, missingTags = [], queries = [] } = account;
  return [
    ...missingMetrics.map(({ selector, name, metric, value }) => {
      const text = `${name} of ${selector} never has a value (${metric}, ${value})`;
      const subject = { selector, name, metric: cutText(metric, longestName), value };
      return aProblem(account, 'metric_without_value', text, { subject });
    }),
    ...missingTags.map((tag) =>
      aProblem(account, 'tag_without_value', `no application has the tag ${tag}`, {
        subject: { tag },
      }),
    ),
    ...queries.flatMap(({ name, missing }) => {
      if (missing === undefined) return [];
      const how = { subject: { query: name }, remedy: missing };
      return [aProblem(account, 'query_without_value', `${name} never has a value`, how)];
    }),
  ];
}

function seriesProblems(account: AccountFacts): readonly Problem[] {
  const left = Object.entries(account.leftOut ?? {}).filter(([, count]) => count > 0);
  if (left.length === 0) return [];
  const counts = left.map(([reason, count]) => `${countText(count)} (${reason})`).join(', ');
  return [aProblem(account, 'series_dropped', `series that are not published: ${counts}`)];
}

/** What is wrong with the process, and nobody's own: files, keys that several have, the clock. */
export function problemsOfProcess(
  process: Pick<ProcessStatus, 'shard' | 'problemsSinceMs'> & {
    readonly reload: ReloadStatus | undefined;
  },
  accounts: readonly AccountDetails[],
): readonly Problem[] {
  const problem = process.reload?.problem;
  return [
    ...(problem === undefined ? [] : [aProblem(process, 'config_broken', problem)]),
    ...(process.shard.total === 1 && selectsNothing(accounts)
      ? [aProblem(process, 'nothing_selected', 'no application is selected')]
      : []),
    ...clockProblems(process, accounts),
    ...sharedKeyProblems(process, accounts),
  ];
}

/** Whether New Relic has listed what there is, and nothing of it is polled, nor a query. */
function selectsNothing(accounts: readonly AccountDetails[]): boolean {
  return (
    accounts.length > 0 &&
    accounts.every(
      ({ up, applications, queries = [] }) => up === true && applications + queries.length === 0,
    )
  );
}

function clockProblems(known: Noted, accounts: readonly AccountDetails[]): readonly Problem[] {
  const [worst] = accounts
    .flatMap(({ clockSkew }) => clockSkew ?? [])
    .toSorted((left, right) => Math.abs(right.ms) - Math.abs(left.ms));
  if (worst === undefined) return [];
  const side = worst.ms > 0 ? 'ahead of' : 'behind';
  const effect = worst.isBelieved
    ? "windows follow New Relic's"
    : "windows follow this machine's, as that is beyond reason; look for a proxy that changes the Date header";
  const text = `New Relic's clock is ${durationText(Math.abs(worst.ms))} ${side} this machine's: ${effect}`;
  return [aProblem(known, 'clock_wrong', text)];
}

function sharedKeyProblems(known: Noted, accounts: readonly AccountDetails[]): readonly Problem[] {
  return accounts.flatMap(({ name, keySharedBy = [] }) => {
    const names = accounts.map((one) => one.name).filter((one) => keySharedBy.includes(one));
    // One of them stands for all.
    if (names[0] !== name) return [];
    const subject = { accounts: names.join(', ') };
    const text = `they share its limit evenly, the smallest requests_per_minute of them: ${subject.accounts}`;
    return [aProblem(known, 'key_shared', text, { subject })];
  });
}

/** `19:50:05 UTC`. */
function clockText(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(11, 19)} UTC`;
}
