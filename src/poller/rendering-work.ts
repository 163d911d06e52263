/** What hosts usually have: a series for each transaction type. */
const usualSeries = 2;

/**
 * The work to render applications and hosts, in hosts with the usual number of series. Work is divided
 * into turns of the event loop by it.
 *
 * @param subjects how many applications and hosts
 * @param series how many series each of them has
 */
export function renderingWork(subjects: number, series: number): number {
  return subjects * Math.max(1, series / usualSeries);
}
