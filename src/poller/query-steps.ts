import { isDeepStrictEqual } from 'node:util';
import type { Query } from '../model/config.ts';
import { isQuery, queryOf, subjectOf } from '../model/query.ts';
import type { SelectedApplication } from '../model/selected-application.ts';
import type { Owns } from '../model/shard.ts';
import { newAppState } from './app-state.ts';
import type { DueQueue } from './due-queue.ts';
import type { NewStates, Reconfiguration } from './state-steps.ts';

/**
 * Brings the queries among the states in line with the configuration. One that asks for the same as before
 * keeps its values; any other one begins anew.
 */
export function changeQueries(
  states: Pick<DueQueue, 'all' | 'set' | 'delete'>,
  queries: readonly Query[],
  { monotonicMs, virtualMs, takePhaseIndex }: NewStates,
  owns: Owns,
): Reconfiguration {
  const wanted = new Map<string, SelectedApplication>();
  for (const query of queries) {
    const subject = subjectOf(query);
    if (owns(subject.application.id)) wanted.set(subject.application.id, subject);
  }
  const released = [...states.all].flatMap(([id, state]) =>
    isQuery(state) && !wanted.has(id) ? [id] : [],
  );
  for (const id of released) states.delete(id);
  const unwanted = [...released];
  for (const [id, selected] of wanted) {
    const known = states.all.get(id);
    const [before, after] = [known && queryOf(known), queryOf({ selected })];
    if (isDeepStrictEqual(before, after)) continue;
    const isKept = before !== undefined && after !== undefined && bringsTheSame(before, after);
    if (known === undefined || !isKept) {
      states.set(
        id,
        newAppState(selected, known?.phaseIndex ?? takePhaseIndex(), monotonicMs, virtualMs),
      );
    } else states.set(id, { ...known, selected });
    if (!isKept || !isDeepStrictEqual(windowOf(before), windowOf(after))) unwanted.push(id);
  }
  return { unwanted, released };
}

/** Whether what one of them has brought can be shown of the other one. */
function bringsTheSame(before: Query, after: Query): boolean {
  return (
    before.nrql === after.nrql &&
    before.maxSeries <= after.maxSeries &&
    isDeepStrictEqual(before.facets, after.facets) &&
    isDeepStrictEqual(before.gauges, after.gauges)
  );
}

function windowOf({ poll: { window, delayMs } }: Query): unknown {
  return [window, delayMs];
}
