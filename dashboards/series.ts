const sameProcess = 'on (cluster, job, instance)';

/**
 * Of the series of exporters only those that were the highest when they were last seen in the shown
 * range, so that one that has ended is among them. A plain `topk` would choose anew at every moment,
 * and leave gaps in every line.
 */
export function highest(expression: string, last: string): string {
  return `${expression} and ${sameProcess} topk($topn, ${last})`;
}

/** The last value in the shown range. */
export function lastOf(selected: string): string {
  return `last_over_time(${selected}[$__range] @ end())`;
}

/** What grows with the value and with how long it was there in the shown range. */
export function totalOf(selected: string): string {
  return `sum_over_time(${selected}[$__range] @ end())`;
}

/** Of the series of exporters only those whose counter grew the most in the shown range. */
export function busiest(expression: string, counter: string): string {
  const growth = `sum by (cluster, job, instance) (increase(${counter}[$__range] @ end()))`;
  return `${expression} and ${sameProcess} topk($topn, ${growth})`;
}

/**
 * Of counts by a label those above 0. A line "none" says that all of them are 0, so that no line at
 * all can only mean that nothing is known. `all` is what the counts are of, if they end at 0.
 */
export function onlySome(label: string, counts: string, all: string = counts): string {
  const some = `${counts} > 0`;
  const none = `label_replace(0 * count(${all}) unless on () (${some}), "${label}", "none", "", "")`;
  return `(${some}) or ${none}`;
}
