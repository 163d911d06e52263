import { invalidInput } from './graphql-failure.ts';
import { dataSources } from './nrql-attributes.ts';
import { nrqlTimeOf } from './nrql-evaluation.ts';
import type { NrqlCondition, NrqlQuery } from './nrql-query.ts';

/**
 * Throws `INVALID_INPUT` for a query that can be read and makes no sense: without a source of its data, or
 * about no time at all.
 */
export function checkNrql(query: NrqlQuery, nowMs: number): void {
  const isOfMetrics = query.eventTypes.includes('Metric');
  const named = [
    ...query.facets.map(({ text }) => text),
    ...(query.where === undefined ? [] : attributesIn(query.where)),
  ];
  if (isOfMetrics && !named.some((name) => dataSources.includes(name))) {
    throw invalidInput(`NRQL Syntax Error: timeslices need one of ${dataSources.join(', ')}`);
  }
  if (nrqlTimeOf(query.since, nowMs) >= nrqlTimeOf(query.until, nowMs)) {
    throw invalidInput('NRQL Syntax Error: SINCE must be before UNTIL');
  }
}

function attributesIn(condition: NrqlCondition): readonly string[] {
  if (condition.kind === 'not') return attributesIn(condition.condition);
  if (!('left' in condition)) return [condition.attribute];
  return [...attributesIn(condition.left), ...attributesIn(condition.right)];
}
