import {
  isReadOf,
  type PolledSeries,
  seriesLabels,
  type Values,
} from '../../model/polled-series.ts';
import { cutText } from '../../model/shown-text.ts';
import type { AppReading } from '../../model/snapshot.ts';
import type { ApplicationStatus } from '../../model/status.ts';
import { type Child, type Html, html } from './html.ts';
import { gaveNoValue, valueText } from './number-text.ts';

/** As long as a name of a host may be; metrics may be longer, but nobody reads that. */
const longestName = 253;

/** Whether there is more to show than requests per minute, which has its own places. */
export function hasMoreThanThroughput(reading: AppReading | undefined): boolean {
  return reading?.series.some(({ preset }) => preset !== 'throughput') ?? false;
}

function row(name: string, series: PolledSeries, value: number | undefined): Html {
  const { metric, value: valueName } = series;
  const labels = Object.entries(seriesLabels(series)).map(
    ([key, text]) => html`<code>${key}=<bdi>${cutText(text, longestName)}</bdi></code> `,
  );
  const text: Child = value === undefined ? gaveNoValue : valueText(valueName, value, series.scale);
  return html`<tr><th scope="row"><code>${name}</code></th><td class="c-labels">${labels}</td><td class="n c-value"><b>${text}</b></td><td class="c-metric"><span class="soft"><bdi>${cutText(metric, longestName)}</bdi>, ${valueName}</span></td></tr>
`;
}

function table(rows: readonly Html[], label: string): Html {
  return html`<div class="table" role="region" aria-label="${label}" tabindex="0"><table class="list values">
<thead><tr><th scope="col">Gauge</th><th scope="col">Labels</th><th scope="col" class="n">Value</th><th scope="col">In New Relic</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

function rowsOf(
  what: 'applications' | 'hosts',
  series: readonly PolledSeries[],
  values: Values,
): readonly Html[] {
  return series.flatMap((one, index) => {
    if (!isReadOf(what, one)) return [];
    const { name, hostName } = one.gauge;
    return [row(what === 'hosts' ? hostName : name, one, values[index])];
  });
}

/** All values of an application; nothing if it has none, or no more than requests per minute. */
export function valuesSection({ reading }: ApplicationStatus): Html | undefined {
  if (reading === undefined || !hasMoreThanThroughput(reading)) return undefined;
  const { series, application } = reading;
  if (!application.some((value) => value !== undefined)) return undefined;
  return html`<section aria-labelledby="values"><h2 id="values">Values</h2>
${table(rowsOf('applications', series, application), 'Values of the application')}</section>`;
}

/**
 * All values of one host that is polled; nothing without such a host.
 *
 * @param closeHref the address of the page without them
 */
export function hostValuesSection(
  { reading, hostIds, hostNames }: ApplicationStatus,
  hostId: string | undefined,
  closeHref: string,
): Html | undefined {
  if (hostId === undefined || reading === undefined || !hostIds.includes(hostId)) return undefined;
  const name = cutText(hostNames.get(hostId) ?? hostId, longestName);
  return html`<section aria-labelledby="host"><div class="head"><h2 id="host">Values of the host <bdi>${name}</bdi></h2><a href="${closeHref}">Close</a></div>
${table(rowsOf('hosts', reading.series, reading.hosts.get(hostId) ?? []), 'Values of the host')}</section>`;
}
