import { minuteMs } from '../../src/model/time.ts';
import { nrqlOf, queriesStarted } from '../support/query-daemon.ts';

/** One query, in the configuration. */
export const calls =
  '  - { as: calls, nrql: SELECT count(*) FROM Transaction FACET appName LIMIT 20 }';

/** How often it is asked beside applications that are asked for each minute. */
export async function callsInHalfAnHour(interval: string): Promise<number> {
  const bench = await queriesStarted({
    poll: 'poll: { interval: 60s }',
    queries: calls.replace(' }', `, interval: ${interval} }`),
  });
  await bench.platform.clock.advance(20 * minuteMs);
  const before = nrqlOf(bench, 'FROM Transaction FACET').length;
  await bench.platform.clock.advance(30 * minuteMs);
  return nrqlOf(bench, 'FROM Transaction FACET').length - before;
}
