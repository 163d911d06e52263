import { isDeepStrictEqual } from 'node:util';
import type { AppEntry, Query } from '../model/config.ts';
import { isReadOf, metricScopes, type PolledSeries } from '../model/polled-series.ts';
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
  return areNamesAsked && wanted.series.every((one) => isAmong(asked.series, one));
}

/** What both must have alike. */
function frameOf(asked: Asked): readonly unknown[] {
  const times = [asked.poll.window, asked.poll.delayMs];
  if ('series' in asked) {
    return [...times, asked.poll.raw, asked.application, hostChoiceText(hostChoiceOf(asked))];
  }
  return [...times, asked.nrql, asked.gauges, asked.facets, asked.maxSeries];
}

function isAmong(series: readonly PolledSeries[], wanted: PolledSeries): boolean {
  return scopes
    .filter((scope) => isReadOf(scope, wanted))
    .every((scope) => series.some((one) => readsSame(one, wanted, scope)));
}

const scopes = metricScopes.filter((scope) => scope !== 'both');

/** Whether the values of both are the same, whatever their names and labels. */
export function readsSame(
  one: PolledSeries,
  other: PolledSeries,
  scope: 'applications' | 'hosts',
): boolean {
  return (
    one.metric === other.metric &&
    one.value === other.value &&
    one.scale === other.scale &&
    isReadOf(scope, one) &&
    isReadOf(scope, other)
  );
}
