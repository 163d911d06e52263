import { isDeepStrictEqual } from 'node:util';
import type { Query } from '../model/config.ts';
import { isQuery, queryOf, subjectOf } from '../model/query.ts';
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
  const wanted = new Map(
    queries.map(subjectOf).map((selected) => [selected.application.id, selected] as const),
  );
  const released = [...states.all].flatMap(([id, state]) =>
    isQuery(state) && !wanted.has(id) ? [id] : [],
  );
  for (const id of released) states.delete(id);
  const unwanted = [...released];
  for (const [id, selected] of wanted) {
    const known = states.all.get(id);
    const before = known && queryOf(known);
    const after = queryOf({ selected });
    if (!owns(id) || isDeepStrictEqual(before, after)) continue;
    if (known !== undefined && isDeepStrictEqual(questionOf(before), questionOf(after))) {
      states.set(id, { ...known, selected });
    } else {
      const phaseIndex = known?.phaseIndex ?? takePhaseIndex();
      states.set(id, newAppState(selected, phaseIndex, monotonicMs, virtualMs));
      unwanted.push(id);
    }
  }
  return { unwanted, released };
}

/** What decides what a query brings. */
function questionOf(query: Query | undefined): unknown {
  if (query === undefined) return undefined;
  const { nrql, gauges, facets, maxSeries, poll } = query;
  return [nrql, gauges, facets, maxSeries, poll.window, poll.delayMs];
}
