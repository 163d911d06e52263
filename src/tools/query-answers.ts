import type { ToolPlatform } from '../daemon/platform.ts';
import type { Query } from '../model/config.ts';
import type { QueryOutcome } from '../model/poll-outcome.ts';
import type { Source } from '../model/source.ts';
import { askOnce } from './poll-once.ts';

export interface QueryAnswer {
  readonly query: Query;
  readonly outcome: QueryOutcome;
}

/** Whether it brought no row, or only what New Relic says of no data: a single 0 or null. */
export function isEmptyHanded({ query, outcome: { reading } }: QueryAnswer): boolean {
  if (reading === undefined || reading.rows === 0) return reading !== undefined;
  const isNothing = reading.series.every(({ value }) => value === 0);
  return isNothing && query.facets.length === 0 && !reading.unusable.has('not_a_number');
}

/** Asks each query once, one after the other, until New Relic refuses the key. */
export async function answersOf(
  queries: readonly Query[],
  source: Source,
  { clock, stopSignal }: ToolPlatform,
): Promise<readonly QueryAnswer[]> {
  const answers: QueryAnswer[] = [];
  for (const query of queries) {
    const options = { wallMs: clock.wallMs(), concurrency: 1, signal: stopSignal };
    const outcome = await askOnce(source, { kind: 'query', query }, options);
    answers.push({ query, outcome });
    if (outcome.unauthorized) break;
  }
  return answers;
}
