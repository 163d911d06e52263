import type { Application } from '../../model/application.ts';
import type { AppEntry } from '../../model/config.ts';
import type { Question } from '../../model/source.ts';

/** By then late data has arrived, and both APIs answer from the same. */
const settledAfterMs = 10 * 60_000;
/** As long as the window that REST has by default, which NerdGraph does not have. */
const defaultLengthMs = 30 * 60_000;
/** As long as REST lists a host that has ended. */
const listedAfterEndMs = 60 * 60_000;

/** Asks for the values of a window that both APIs have whole. */
export function settledQuestion(application: Application, entry: AppEntry): Question {
  const { window, delayMs } = entry.poll;
  const lengthMs = window.kind === 'range' ? window.lengthMs : defaultLengthMs;
  return questionOf(application, entry, lengthMs, Math.max(delayMs, settledAfterMs));
}

/** Asks NerdGraph for what REST lists: the hosts of the last hour. */
export function lastHourQuestion(application: Application, entry: AppEntry): Question {
  return questionOf(application, entry, listedAfterEndMs, 0);
}

/** Asks for the names of the hosts as well: they are what both APIs have in common. */
function questionOf(
  application: Application,
  entry: AppEntry,
  lengthMs: number,
  delayMs: number,
): Question {
  const poll = { ...entry.poll, window: { kind: 'range' as const, lengthMs }, delayMs };
  return {
    selected: { application, entry: { ...entry, poll } },
    askHostNames: entry.hosts !== false,
    hostNames: new Map(),
    isListed: () => true,
  };
}
