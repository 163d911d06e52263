import { type Answer, documentAnswer } from './answer.ts';
import { metricsOf } from './metric-catalogue.ts';
import { valueNamesOf } from './metric-values.ts';
import { type LinkStyle, pageOf } from './paging.ts';
import type { Query } from './request.ts';
import type { SimulatedApplication } from './simulated-application.ts';

export interface MetricNameOptions {
  readonly metricNamesPageSize: number;
  readonly linkStyle: LinkStyle;
}

/** Answers a request for the metrics that an application, or one of its hosts, has. */
export type MetricNameRoute = (
  application: SimulatedApplication,
  path: string,
  query: Query,
) => Answer;

/** `name` matches a part of the names and ignores case. */
export function createMetricNameRoute(options: MetricNameOptions): MetricNameRoute {
  return (application, path, query) => {
    const part = query.last('name')?.toLowerCase() ?? '';
    const all = metricsOf(application)
      .filter(({ name }) => name.toLowerCase().includes(part))
      .toSorted((left, right) => (left.name < right.name ? -1 : 1));
    const { items, link } = pageOf(all, {
      page: query.last('page'),
      pageSize: options.metricNamesPageSize,
      path,
      linkStyle: options.linkStyle,
    });
    const metrics = items.map(({ name, kind }) => ({ name, values: valueNamesOf(kind) }));
    return documentAnswer({ metrics }, link);
  };
}
