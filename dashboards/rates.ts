import type { Query } from './panel.ts';
import { ofAccount } from './selectors.ts';

/** What counters of accounts grow by in a second, as a sum for each combination of the labels. */
export function ratePer(labels: string, metric: string): string {
  return `sum by (${labels}) (rate(${ofAccount(metric)}[$__rate_interval]))`;
}

/** The median, p95 and p99 of a histogram of accounts. */
export function quantilesOf(histogram: string): readonly Query[] {
  return [50, 95, 99].map((percent) => ({
    expr: `histogram_quantile(${percent / 100}, ${ratePer('le', `${histogram}_bucket`)})`,
    legend: `p${percent}`,
  }));
}
