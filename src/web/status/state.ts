import { type Problem, problemsOf, problemsOfProcess } from '../../model/problem.ts';
import { kindsOfProblems, type ProblemKind, problemKinds } from '../../model/problem-kinds.ts';
import { countText } from '../../model/shown-text.ts';
import {
  type AccountDetails,
  type AccountState,
  type ApplicationState,
  type ApplicationStatus,
  type PolledStatus,
  type ProcessStatus,
  type QueryStatus,
} from '../../model/status.ts';
import { type Html, html } from './html.ts';
import { shownCount, since, withCapital } from './texts.ts';

/** How a state looks. The word always stands beside the colour. */
export type Tone = 'good' | 'bad' | 'wait' | 'none';

export interface StateView {
  readonly tone: Tone;
  readonly meaning: string;
}

export const applicationStateViews: Readonly<Record<ApplicationState, StateView>> = {
  dropped: {
    tone: 'bad',
    meaning: 'Polls have failed for so long that its values are no longer published.',
  },
  failing: { tone: 'bad', meaning: 'The last poll did not get everything.' },
  gone: {
    tone: 'none',
    meaning: 'New Relic lists it, but answers 404 when asked for it. Nothing is published.',
  },
  waiting: { tone: 'wait', meaning: 'Its first poll has not ended yet.' },
  up: { tone: 'good', meaning: 'The last poll got everything.' },
  silent: { tone: 'none', meaning: 'It reports nothing to New Relic, so it is not polled.' },
};

/** How an application looks, which may never have had a value. */
export function applicationView({ state, reading, lastSuccessMs }: PolledStatus): StateView {
  const isNew = state === 'failing' && reading === undefined && lastSuccessMs === undefined;
  const view = applicationStateViews[state];
  return isNew ? { ...view, meaning: 'Nothing of it has arrived yet.' } : view;
}

const accountStateViews: Readonly<Record<AccountState, StateView>> = {
  down: {
    tone: 'bad',
    meaning: 'New Relic does not answer its lists, or where it has none, its queries.',
  },
  degraded: {
    tone: 'bad',
    meaning: 'The discovery works, but something else does not: the line below says what.',
  },
  starting: { tone: 'wait', meaning: 'Nothing has been answered yet.' },
  up: { tone: 'good', meaning: 'The discovery works, and so do all polls.' },
};

/** How the state of an account, or of the whole, looks: amber instead of red if nothing fails. */
export function accountView(state: AccountState, problems: readonly Problem[]): StateView {
  const view = accountStateViews[state];
  return state === 'degraded' ? { ...view, tone: toneOf(problems) } : view;
}

/** That of the worst of them. */
function toneOf(problems: readonly Problem[]): Tone {
  if (problems.length === 0) return 'good';
  return problems.some(({ tone }) => tone === 'red') ? 'bad' : 'wait';
}

/** What is wrong in words, with since when; an answer of New Relic's says itself what to do. */
export function problemNote(
  { kind, tone, text, sinceMs, reason, remedy }: Problem,
  nowMs: number,
): Html {
  const [title] = problemKinds[kind].phrase;
  const begun = sinceMs !== undefined && html` since ${since(sinceMs, nowMs)}`;
  const todo = reason === undefined && ` ${withCapital(remedy)}.`;
  return html`<p class="${tone === 'red' ? 'bad' : 'wait'}"><b>${withCapital(title)}</b>${begun}: ${text.replace(/\.?$/u, '.')}${todo}</p>`;
}

/** The word of a state, with its sign and colour. */
export function stateBadge(word: string, { tone, meaning }: StateView): Html {
  return html`<span class="state ${tone}" title="${meaning}">${word}</span>`;
}

/** The queries of these accounts. */
export function queriesOf(accounts: readonly AccountDetails[]): readonly QueryStatus[] {
  return accounts.flatMap(({ queries = [] }) => queries);
}

/** The state of the whole exporter, in a word and a sentence. */
export interface OverallState {
  readonly state: AccountState;
  readonly sentence: string;
  readonly tone: Tone;
}

const phraseOf = (count: number, one: string, many: string): readonly string[] =>
  count === 0 ? [] : [shownCount(count, one, many)];

/** `2 applications and 1 query`; empty without any. */
export function subjectsText(applications: number, queries: number): string {
  return [
    ...phraseOf(applications, 'application', 'applications'),
    ...phraseOf(queries, 'query', 'queries'),
  ].join(' and ');
}

/** The kinds of what is wrong, each with the number of those that have it; the rest stands at the accounts. */
function headlineOf(problems: readonly Problem[]): string {
  const counts = new Map<ProblemKind, number>();
  for (const { kind } of problems) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const phrases = kindsOfProblems.flatMap((kind) => {
    const count = counts.get(kind);
    const [one, many] = problemKinds[kind].phrase;
    return count === undefined ? [] : shownCount(count, one, many);
  });
  return `${withCapital(phrases.join(', '))}.`;
}

/** The state of the whole: as bad as the worst part of it; `down` only if nothing works. */
export function overallStateOf(
  accounts: readonly AccountDetails[],
  applications: readonly ApplicationStatus[],
  process: ProcessStatus,
): OverallState {
  if (process.reload.inForceSinceMs === undefined) {
    return process.reload.problem === undefined
      ? { state: 'starting', tone: 'wait', sentence: 'The configuration is being read.' }
      : {
          state: 'down',
          tone: 'bad',
          sentence: 'There is no usable configuration, so nothing is polled.',
        };
  }
  const ofProcess = problemsOfProcess(process, accounts);
  const problems = [...ofProcess, ...accounts.flatMap(problemsOf)];
  if (problems.length === 0) return workingState(accounts, applications);
  const isDown =
    ofProcess.some(({ kind }) => kind === 'nothing_selected') ||
    (accounts.length > 0 && accounts.every(({ state }) => state === 'down'));
  return {
    state: isDown ? 'down' : 'degraded',
    tone: isDown ? 'bad' : toneOf(problems),
    sentence: headlineOf(problems),
  };
}

function workingState(
  accounts: readonly AccountDetails[],
  applications: readonly ApplicationStatus[],
): OverallState {
  const countIn = (wanted: ApplicationState): number =>
    applications.filter(({ state }) => state === wanted).length;
  const starting = accounts.filter(({ state }) => state === 'starting').length;
  const isListed = accounts.some(({ hasApplications }) => hasApplications);
  if (starting > 0) {
    const what = isListed ? 'discovery' : 'query';
    const sentence = `The first ${what} of ${shownCount(starting, 'account')} has not ended yet.`;
    return { state: 'starting', tone: 'wait', sentence };
  }
  const [up, waiting] = [countIn('up'), countIn('waiting')];
  if (waiting > 0) {
    const sentence = `${countText(up)} of ${shownCount(up + waiting, 'application')} have been polled so far.`;
    return { state: 'starting', tone: 'wait', sentence };
  }
  const where = accounts.length > 1 ? ` in ${countText(accounts.length)} accounts` : '';
  const polled = subjectsText(up, queriesOf(accounts).length);
  const sentences = [
    ...(polled === '' ? [] : [`${polled}${where}, all polls succeed.`]),
    ...(up === 0 && (isListed || polled === '') ? ['No application is polled.'] : []),
    ...phraseOf(countIn('silent'), 'application reports nothing.', 'applications report nothing.'),
    ...phraseOf(countIn('gone'), 'application is gone.', 'applications are gone.'),
  ];
  return { state: 'up', tone: 'good', sentence: sentences.join(' ') };
}
