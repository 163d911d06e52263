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
  type QueryStatus,
  type ReloadStatus,
} from './status.ts';

/** Names, of applications and metrics, may be of any length. */
const longestName = 256;

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

/** What it is judged by. */
type Judged = Omit<AccountFacts, 'queries'> & {
  readonly queries?: readonly (FailingStatus & Pick<QueryStatus, 'missing'>)[] | undefined;
};

type Noted = Pick<AccountFacts, 'problemsSinceMs'>;

/** What stays the same of a problem as long as it lasts: what the log calls it, and whom it is about. */
export function problemKeyOf({ log, subject }: Pick<Problem, 'log' | 'subject'>): string {
  if (subject === undefined) return log[0];
  // Ten thousand of them take milliseconds: JSON would take ten times as long.
  return `${log[0]}\n${subject['app_id'] ?? Object.values(subject).join('\n')}`;
}

/** What is left out is that of its kind. */
type FoundProblem = Pick<Problem, 'kind' | 'text'> & Partial<Problem>;

/** All that is wrong with an account, the worst first: the only judge of it. */
export function problemsOf(account: Judged): readonly Problem[] {
  return [
    ...askedProblems(account),
    ...throttledProblems(account),
    ...keyProblems(account),
    ...account.missingSelectors.map((selector): FoundProblem => {
      const text = `nothing matches ${selector}`;
      return { kind: 'entry_matches_nothing', text, subject: { selector } };
    }),
    ...pollProblems(account),
    ...stretchProblems(account),
    ...missingProblems(account),
    ...seriesProblems(account),
  ].map(asProblem(account));
}

function asProblem({ problemsSinceMs }: Noted): (found: FoundProblem) => Problem {
  return (found) => {
    const { tone, remedy, log } = problemKinds[found.kind];
    // Of ten thousand of them, a spread would take several times as long.
    const problem = Object.assign({ tone, remedy, log, sinceMs: found.sinceMs }, found);
    problem.sinceMs ??= problemsSinceMs?.get(problemKeyOf(problem));
    return problem;
  };
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
export function problemSubjects(
  problems: readonly Problem[],
  wanted: ProblemKind,
): readonly NonNullable<Problem['subject']>[] {
  return problems.flatMap(({ kind, subject }) =>
    kind === wanted && subject !== undefined ? [subject] : [],
  );
}

/** Whether what fails does so because of its whole account: lists fail alike, or did when it was polled, or there are 429s. */
export function isEffectOf(
  account: Judged,
  { state, failure, isLeftOver = false }: FailingStatus,
): boolean {
  if (failure === undefined || state === 'gone') return false;
  const isAlike = failure.reason === account.errorReason || isLeftOver;
  return isAlike || (failure.reason === 'throttled' && isThrottled(account));
}

/** What lists that fail for these reasons are; for others: `list_failing`. */
const kindsOfFailures: Readonly<Partial<Record<FailureReason, ProblemKind>>> = {
  auth: 'key_refused',
  dns: 'unreachable',
  connect: 'unreachable',
  tls: 'unreachable',
  reset: 'unreachable',
  redirect: 'unreachable',
};

/** Lists fail, or where there are none, queries. */
function askedProblems(account: Judged): readonly FoundProblem[] {
  const { up, error, errorReason: reason, hasApplications } = account;
  if (up !== false) return [];
  const text = error ?? 'New Relic did not answer';
  const other = hasApplications ? 'list_failing' : 'unanswered';
  const kind = (reason && kindsOfFailures[reason]) ?? other;
  return [{ kind, text, reason, log: problemKinds[other].log }];
}

const remediesOf429: Readonly<Record<ThrottleCause, string>> = {
  key_limit: 'the limit of the key is used up: see who else uses it, or lower requests_per_minute',
  overload: 'New Relic has too much to do: nothing needs to be done here',
  unknown: 'if this lasts, see who else uses the key, or lower requests_per_minute',
};

/** 429s and the pauses after them. */
function throttledProblems(account: Judged): readonly FoundProblem[] {
  const { refusals } = account;
  if (!isThrottled(account)) return [];
  const how = refusals && { sinceMs: refusals.sinceMs, remedy: remediesOf429[refusals.cause] };
  return [{ kind: 'throttled', text: refusalText(account), ...how }];
}

function isThrottled({ refusals, backoffUntilMs }: Judged): boolean {
  return refusals !== undefined || backoffUntilMs !== undefined;
}

/** What the vendor refused, what is sent since then, and until when nothing is. */
function refusalText(account: Judged): string {
  const { refusals, backoffUntilMs, stretch, isReduced } = account;
  const { requestsPerMinute: full, budgetRequestsPerMinute: limit } = account;
  const parts = [
    refusals &&
      `New Relic refused ${countOf(refusals.calls, 'call', 'calls', countText)}, the last at ${clockText(refusals.lastMs)}`,
    isReduced && `limit lowered from ${rateText(full)} to ${rateText(limit)}`,
    backoffUntilMs !== undefined &&
      `paused after a 429: no calls are sent until ${clockText(backoffUntilMs)}`,
    stretch > mostStretch && `intervals stretched ${stretch.toFixed(1)} times`,
  ];
  return parts.filter((part) => typeof part === 'string').join('; ');
}

/** Why the budget, or the vendor, makes polls rarer than they were meant to be. While a key is throttled, that is why. */
function stretchProblems(account: Judged): readonly FoundProblem[] {
  const { stretch, demandRequestsPerMinute: demand = 0, budgetRequestsPerMinute: limit } = account;
  const isOf429 = isThrottled(account) && demand <= account.requestsPerMinute;
  if (stretch <= mostStretch || isOf429) return [];
  const needed = `intervals stretched ${stretch.toFixed(1)} times: ${rateText(demand)} calls a minute needed`;
  return demand > limit
    ? [{ kind: 'budget_too_small', text: `${needed}, ${rateText(limit)} allowed` }]
    : [{ kind: 'answers_slow', text: `${needed}, New Relic answers too slowly` }];
}

function keyProblems({ key: { location, problem, sinceMs } }: Judged): readonly FoundProblem[] {
  if (problem === undefined) return [];
  const where = problem.includes(location.split(' ').at(-1) ?? '') ? '' : `${location}: `;
  const text = `${where}${problem.replace(/\.$/u, '')}; the key that was read before stays in use`;
  return [{ kind: 'key_unreadable', text, sinceMs }];
}

/** Applications and queries alike. */
function pollProblems(account: Judged): readonly FoundProblem[] {
  const failures = (
    one: FailingStatus,
    of: 'application' | 'query',
    subject: Problem['subject'] & {},
  ): readonly FoundProblem[] => {
    const { failure, state, dropMs } = one;
    const text = failure?.message ?? 'the last poll did not get everything';
    const [reason, isEffect] = [failure?.reason, isEffectOf(account, one)];
    const sinceMs = failure?.sinceMs;
    const own: FoundProblem = { kind: `${of}_failing`, text, subject, reason, isEffect, sinceMs };
    if (state !== 'dropped') return [own];
    // Whatever the cause: that values are gone is a thing of its own.
    return [own, { kind: `${of}_dropped`, text, subject, reason, sinceMs: dropMs }];
  };
  return [
    ...account.failing.flatMap((one) => {
      const subject = { app_id: one.id, app_name: cutText(one.name, longestName) };
      return failures(one, 'application', subject);
    }),
    ...(account.queries ?? [])
      .filter(({ state }) => state === 'failing' || state === 'dropped')
      .flatMap((one) => failures(one, 'query', { query: one.name })),
  ];
}

/** What is configured and never had a value. */
function missingProblems(account: Judged): readonly FoundProblem[] {
  const { missingMetrics, missingTags = [], queries = [] } = account;
  return [
    ...missingMetrics.map(({ selector, name, metric, value }): FoundProblem => {
      const text = `${name} of ${selector} never has a value (${metric}, ${value})`;
      const subject = { selector, name, metric: cutText(metric, longestName), value };
      return { kind: 'metric_without_value', text, subject };
    }),
    ...missingTags.map((tag): FoundProblem => {
      const text = `no application has the tag ${tag}`;
      return { kind: 'tag_without_value', text, subject: { tag } };
    }),
    ...queries.flatMap(({ name, missing: remedy }): readonly FoundProblem[] => {
      if (remedy === undefined) return [];
      const text = `${name} never has a value`;
      return [{ kind: 'query_without_value', text, subject: { query: name }, remedy }];
    }),
  ];
}

function seriesProblems({ leftOut }: Judged): readonly FoundProblem[] {
  const left = Object.entries(leftOut ?? {}).filter(([, count]) => count > 0);
  if (left.length === 0) return [];
  const counts = left.map(([reason, count]) => `${countText(count)} (${reason})`).join(', ');
  return [{ kind: 'series_dropped', text: `series that are not published: ${counts}` }];
}

/** Without any in force, none is reloaded. */
const firstConfig = ['no usable configuration', 'configuration found'] as const;

/** What is wrong with the process, and nobody's own: files, keys that several have, the clock. */
export function problemsOfProcess(
  process: Pick<ProcessStatus, 'shard' | 'problemsSinceMs'> & {
    readonly reload: ReloadStatus | undefined;
  },
  accounts: readonly AccountDetails[],
): readonly Problem[] {
  const { problem, inForceSinceMs, brokenFiles = [] } = process.reload ?? {};
  const isFirst = inForceSinceMs === undefined;
  const found: readonly FoundProblem[] = [
    ...(problem === undefined
      ? []
      : [{ kind: 'config_broken', text: problem, ...(isFirst && { log: firstConfig }) } as const]),
    ...brokenFiles.map(({ name, problem: text }) => {
      return { kind: 'config_file_broken', text, subject: { file: name } } as const;
    }),
    ...(process.shard.total === 1 && accounts.length > 0 && accounts.every(selectsNothing)
      ? [{ kind: 'nothing_selected', text: 'no application is selected' } as const]
      : []),
    ...clockProblems(accounts),
    ...sharedKeyProblems(accounts),
  ];
  return found.map(asProblem(process));
}

/** Whether New Relic has listed what there is, and nothing of it is polled, nor a query. */
function selectsNothing(account: AccountDetails): boolean {
  const { up, applications, queries = [], nextDiscoveryMs, hasApplications } = account;
  // A list that is under way may bring what the last one could not know of.
  const isListed = !hasApplications || nextDiscoveryMs !== undefined;
  return up === true && isListed && applications + queries.length === 0;
}

function clockProblems(accounts: readonly AccountDetails[]): readonly FoundProblem[] {
  const [worst] = accounts
    .flatMap(({ clockSkew }) => clockSkew ?? [])
    .toSorted((left, right) => Math.abs(right.ms) - Math.abs(left.ms));
  if (worst === undefined) return [];
  const side = worst.ms > 0 ? 'ahead of' : 'behind';
  const effect = worst.isBelieved
    ? "windows follow New Relic's"
    : "windows follow this machine's, as that is beyond reason; look for a proxy that changes the Date header";
  const text = `New Relic's clock is ${durationText(Math.abs(worst.ms))} ${side} this machine's: ${effect}`;
  return [{ kind: 'clock_wrong', text }];
}

function sharedKeyProblems(accounts: readonly AccountDetails[]): readonly FoundProblem[] {
  return accounts.flatMap(({ name, keySharedBy = [] }) => {
    const names = accounts.map((one) => one.name).filter((one) => keySharedBy.includes(one));
    // One of them stands for all.
    if (names[0] !== name) return [];
    const subject = { accounts: names.join(', ') };
    const text = `they share its limit evenly, the smallest requests_per_minute of them: ${subject.accounts}`;
    return [{ kind: 'key_shared', text, subject }];
  });
}

/** `19:50:05 UTC`. */
function clockText(wallMs: number): string {
  const date = new Date(wallMs);
  return Number.isNaN(date.getTime()) ? 'no time' : `${date.toISOString().slice(11, 19)} UTC`;
}
