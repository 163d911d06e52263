import type {
  AccountDetails,
  AccountState,
  ApplicationState,
  ApplicationStatus,
  ReloadStatus,
} from '../model/status.ts';
import { countOf, countText } from './number-text.ts';

/** The state of the whole exporter, in a word and a sentence. */
export interface OverallState {
  readonly state: AccountState;
  readonly sentence: string;
}

/** How many applications are in each state. */
export type StateCounts = Readonly<Record<ApplicationState, number>>;

export function countStates(applications: readonly ApplicationStatus[]): StateCounts {
  const counts = { dropped: 0, failing: 0, gone: 0, waiting: 0, silent: 0, up: 0 };
  for (const { state } of applications) counts[state] += 1;
  return counts;
}

const phraseOf = (count: number, one: string, many: string): readonly string[] =>
  count === 0 ? [] : [countOf(count, one, many)];

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

/** Everything that is wrong, the worst first. */
function faultsOf(
  accounts: readonly AccountDetails[],
  { dropped, failing }: StateCounts,
  { problem, inForceSinceMs }: ReloadStatus,
): readonly string[] {
  const down = accounts.filter(({ state }) => state === 'down').length;
  const missing = sumOf(accounts.map(({ missingSelectors }) => missingSelectors.length));
  const keys = accounts.filter(({ key }) => key.problem !== undefined).length;
  return [
    ...phraseOf(down, 'account down', 'accounts down'),
    ...phraseOf(failing, 'application failing', 'applications failing'),
    ...(dropped === 0 ? [] : [`values of ${countOf(dropped, 'application')} dropped`]),
    ...phraseOf(missing, 'entry matches nothing', 'entries match nothing'),
    ...phraseOf(keys, 'API key cannot be read', 'API keys cannot be read'),
    ...(problem !== undefined && inForceSinceMs !== undefined
      ? ['the last reload was refused']
      : []),
  ];
}

function withCapital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** The state of the whole: as bad as the worst part of it; `down` only if nothing works. */
export function overallStateOf(
  accounts: readonly AccountDetails[],
  counts: StateCounts,
  reload: ReloadStatus,
): OverallState {
  if (reload.inForceSinceMs === undefined) {
    return reload.problem === undefined
      ? { state: 'starting', sentence: 'The configuration is being read.' }
      : { state: 'down', sentence: 'There is no usable configuration, so nothing is polled.' };
  }
  const faults = faultsOf(accounts, counts, reload);
  if (faults.length > 0) {
    const isDown = accounts.length > 0 && accounts.every(({ state }) => state === 'down');
    return { state: isDown ? 'down' : 'degraded', sentence: `${withCapital(faults.join(', '))}.` };
  }
  const degraded = accounts.filter(({ state }) => state === 'degraded');
  if (degraded.length > 0) {
    const sentence = `${withCapital(countOf(degraded.length, 'account'))} degraded.`;
    return { state: 'degraded', sentence };
  }
  return workingState(accounts, counts);
}

function workingState(accounts: readonly AccountDetails[], counts: StateCounts): OverallState {
  const starting = accounts.filter(({ state }) => state === 'starting').length;
  if (starting > 0) {
    const sentence = `The first discovery of ${countOf(starting, 'account')} has not ended yet.`;
    return { state: 'starting', sentence };
  }
  const { up, waiting } = counts;
  if (waiting > 0) {
    const sentence = `${countText(up)} of ${countOf(up + waiting, 'application')} have been polled so far.`;
    return { state: 'starting', sentence };
  }
  const where = accounts.length > 1 ? ` in ${countText(accounts.length)} accounts` : '';
  const sentences = [
    up > 0
      ? `All polls succeed: ${countOf(up, 'application')}${where}.`
      : 'No application is polled.',
    ...phraseOf(counts.silent, 'application reports nothing.', 'applications report nothing.'),
    ...phraseOf(counts.gone, 'application is gone.', 'applications are gone.'),
  ];
  return { state: 'up', sentence: sentences.join(' ') };
}
