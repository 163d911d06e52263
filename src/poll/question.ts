import { isDeepStrictEqual } from 'node:util';
import type { AppEntry, Query } from '../model/config.ts';
import { isReadOf, type PolledSeries } from '../model/polled-series.ts';
import { hostChoiceOf, hostChoiceText } from '../model/selected-application.ts';
import type { Question } from '../model/source.ts';

/** What says what polls ask for. */
export type Asked = AppEntry | Query;

export function askedOf(subject: Question): Asked {
  return subject.kind === 'query' ? subject.query : subject.selected.entry;
}

/**
 * Whether a poll for one of them brings what the other one wants. If not, what is under way is given up, and
 * the next poll is due at once.
 */
export function brings(asked: Asked | undefined, wanted: Asked | undefined): boolean {
  if (asked === wanted) return true;
  if (asked === undefined || wanted === undefined) return false;
  if (!isDeepStrictEqual(frameOf(asked), frameOf(wanted))) return false;
  if (!('series' in asked && 'series' in wanted)) return true;
  const areNamesAsked = asked.poll.hostNames || !wanted.poll.hostNames;
  const areRead = (scope: (typeof scopes)[number]): boolean => {
    const read = new Set([undefined, ...asked.series.map((one) => readOf(one, scope))]);
    return wanted.series.every((one) => read.has(readOf(one, scope)));
  };
  return areNamesAsked && scopes.every(areRead);
}

const scopes = ['applications', 'hosts'] as const;

/** What both must have alike. */
function frameOf(asked: Asked): readonly unknown[] {
  const times = [asked.poll.window, asked.poll.delayMs];
  if ('series' in asked) {
    return [...times, asked.poll.raw, asked.application, hostChoiceText(hostChoiceOf(asked))];
  }
  return [...times, asked.nrql, asked.gauges, asked.facets, asked.maxSeries];
}

/** What a series reads of these: the same has the same values, whatever its name and labels. */
export function readOf(series: PolledSeries, scope: 'applications' | 'hosts'): string | undefined {
  const { metric, value, scale } = series;
  return isReadOf(scope, series) ? `${value} ${scale} ${metric}` : undefined;
}
