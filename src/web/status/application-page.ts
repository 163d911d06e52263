import { seriesLabels, totalOf } from '../../model/polled-series.ts';
import { cutText, durationText, rateText } from '../../model/shown-text.ts';
import { type AppReading, applicationMetrics } from '../../model/snapshot.ts';
import type { ApplicationStatus, StatusSource } from '../../model/status.ts';
import {
  byText,
  failureText,
  hostsText,
  namedValues,
  nextPoll,
  type RowValues,
  valueColumns,
  valuesAge,
} from './applications.ts';
import { documentOf, fact, type PageContext } from './document.ts';
import { type Child, type Html, html } from './html.ts';
import { type Column, listSection } from './list.ts';
import { applicationStateViews, type StateView, stateBadge } from './state.ts';
import { measured, since, unknown, valueText } from './texts.ts';

const path = './applications';
/** As long as a name of a host may be; metrics may be longer, but nobody reads that. */
const longestName = 253;

/** Whether there is more to show than requests per minute, which has its own places. */
function hasMoreThanThroughput(reading: AppReading | undefined): boolean {
  return reading?.series.some(({ preset }) => preset !== 'throughput') ?? false;
}

/** All values of an application or of a host, and what they are in New Relic. */
function valuesTable(what: 'applications' | 'hosts', label: string, values: RowValues): Html {
  const rows = namedValues(what, values).map(({ name, series, value }) => {
    const { metric, value: valueName, scale } = series;
    const labels = Object.entries(seriesLabels(series)).map(
      ([key, text]) => html`<code>${key}=<bdi>${cutText(text, longestName)}</bdi></code> `,
    );
    const text = measured(value, (known) => valueText(valueName, known, scale));
    return html`<tr><th scope="row"><code>${name}</code></th><td class="c-labels">${labels}</td><td class="n c-value"><b>${text}</b></td><td class="c-metric"><span class="soft"><bdi>${cutText(metric, longestName)}</bdi>, ${valueName}</span></td></tr>
`;
  });
  return html`<div class="table" role="region" aria-label="${label}" tabindex="0"><table class="list values">
<thead><tr><th scope="col">Gauge</th><th scope="col">Labels</th><th scope="col" class="n">Value</th><th scope="col">In New Relic</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

/** All values of an application; nothing if it has none, or no more than requests per minute. */
function valuesSection({ reading }: ApplicationStatus): Html | undefined {
  if (reading === undefined || !hasMoreThanThroughput(reading)) return undefined;
  const { series, application: values } = reading;
  if (!values.some((value) => value !== undefined)) return undefined;
  return html`<section aria-labelledby="values"><h2 id="values">Values</h2>
${valuesTable('applications', 'Values of the application', { series, values })}</section>`;
}

/** All values of the host that is asked for; nothing without such a host. */
function hostValuesSection(
  { reading, hostIds, hostNames }: ApplicationStatus,
  params: URLSearchParams,
): Html | undefined {
  const id = params.get('host');
  if (id === null || reading === undefined || !hostIds.includes(id)) return undefined;
  const name = cutText(hostNames.get(id) ?? id, longestName);
  const values = { series: reading.series, values: reading.hosts.get(id) };
  return html`<section aria-labelledby="host"><div class="head"><h2 id="host">Values of the host <bdi>${name}</bdi></h2><a href="${hostHref(params)}">Close</a></div>
${valuesTable('hosts', 'Values of the host', values)}</section>`;
}

/** How a polled host is doing, the worst first. */
const hostStateViews = {
  failing: { tone: 'bad', meaning: 'The last poll got nothing of it.' },
  empty: { tone: 'none', meaning: 'New Relic gave no value for it.' },
  waiting: { tone: 'wait', meaning: 'It has not been polled yet.' },
  up: { tone: 'good', meaning: 'The last poll got its values.' },
} as const satisfies Readonly<Record<string, StateView>>;
type HostState = keyof typeof hostStateViews;

/** A host as a row of the list. */
interface HostRow {
  readonly id: string;
  readonly name: string | undefined;
  /** The name, or the id without one, as it is sorted by and searched in. */
  readonly sortName: string;
  readonly state: HostState;
}

function hostStateOf(
  { failedHostIds, lastPollMs, reading }: ApplicationStatus,
  id: string,
): HostState {
  if (failedHostIds.has(id)) return 'failing';
  if (lastPollMs === undefined) return 'waiting';
  return reading?.hosts.get(id)?.some((value) => value !== undefined) === true ? 'up' : 'empty';
}

function hostRows(application: ApplicationStatus): readonly HostRow[] {
  const { hostIds, hostNames } = application;
  return hostIds.map((id) => {
    const name = hostNames.get(id);
    return { id, name, sortName: name?.toLowerCase() ?? id, state: hostStateOf(application, id) };
  });
}

/** Why a host has no values; empty if it has some. */
function whyText(state: HostState, reason: string | undefined): string {
  if (state === 'up') return '';
  const { meaning } = hostStateViews[state];
  return state === 'failing' && reason !== undefined
    ? `${meaning.slice(0, -1)} (${reason}).`
    : meaning;
}

/** @param hrefOfHost the address of all values of a host; `undefined` if the row has them all */
function hostColumns(
  values: readonly Column<HostRow>[],
  reason: string | undefined,
  hrefOfHost: ((id: string) => string) | undefined,
): readonly Column<HostRow>[] {
  const linked = (id: string, text: Html | string): Html | string =>
    hrefOfHost === undefined ? text : html`<a href="${hrefOfHost(id)}">${text}</a>`;
  return [
    {
      key: 'name',
      label: 'Host',
      isHeading: true,
      sortValue: ({ sortName }) => sortName,
      cell: ({ id, name }) =>
        name === undefined
          ? unknown('Its name is not known')
          : linked(id, html`<bdi>${cutText(name, longestName)}</bdi>`),
    },
    {
      key: 'id',
      label: 'Id',
      className: 'n c-id',
      // Ids are decimal: a shorter one is a smaller one.
      sortValue: ({ id }) => `${String(id.length).padStart(3, '0')}${id}`,
      cell: ({ id, name }) => (name === undefined ? linked(id, id) : id),
    },
    ...values,
    {
      key: 'why',
      label: 'Why',
      className: 'c-why',
      isLabelled: false,
      cell: ({ state }) =>
        html`<span class="${hostStateViews[state].tone}">${whyText(state, reason)}</span>`,
    },
  ];
}

/** The address of the same page with all values of one of its hosts, or without. */
function hostHref(params: URLSearchParams, host?: string): string {
  const others = new URLSearchParams(params);
  others.delete('host');
  if (host !== undefined) others.set('host', host);
  return `${path}?${others.toString()}`;
}

/** The hosts of an application: counts, search and a page of the list. */
function hostsSection(application: ApplicationStatus, params: URLSearchParams): Html {
  const { failure, reading } = application;
  const hosts = hostRows(application);
  const { columns: values, caption } = valueColumns(hosts, ({ id }) => ({
    series: reading?.series ?? [],
    values: reading?.hosts.get(id),
  }));
  // What all of them lack has its reason above.
  const isSaid = hosts.every(({ state }) => state === 'failing');
  const columns = hostColumns(
    values,
    failure?.reason,
    hasMoreThanThroughput(reading) ? (host) => `${hostHref(params, host)}#host` : undefined,
  );
  return listSection<HostRow>(
    {
      path,
      title: 'Hosts',
      caption,
      searched: 'name or id',
      // `host` is the one whose values are all shown.
      kept: ['account', 'id', 'host'],
      stateOf: ({ state }) => state,
      views: hostStateViews,
      columns: columns.filter(({ key }) => key !== 'why' || !isSaid),
      keyOf: ({ id }) => id,
      textsOf: ({ id, sortName }) => [id, sortName],
      compare: (left, right) => byText(left.sortName, right.sortName),
      nothing: 'No hosts of this application are polled.',
    },
    hosts,
    params,
  );
}

const longestTitle = 100;

/** Whether requests per minute are asked for, as far as it is known. */
function asksForThroughput(reading: AppReading | undefined): boolean {
  const { series = [] } = reading ?? {};
  return series.length === 0 || series.some(({ preset }) => preset === 'throughput');
}

function facts(application: ApplicationStatus, nowMs: number): Html {
  const { id, account, selector, labels, reading, intervalSeconds } = application;
  const throughput = applicationMetrics(reading);
  const { lastPollMs, lastSuccessMs } = application;
  const labelList = Object.entries(labels).map(
    ([key, value]) => html`<code>${key}=<bdi>${value}</bdi></code> `,
  );
  const timeOr = (ms: number | undefined, text: string): Child =>
    ms === undefined ? text : since(ms, nowMs);
  return html`<dl class="facts grid">
${
  asksForThroughput(reading) &&
  html`${fact('Web, requests per minute', html`<b>${measured(throughput.get('web'), rateText)}</b>`)}
${fact('Other, requests per minute', html`<b>${measured(throughput.get('other'), rateText)}</b>`)}
${fact('Both', measured(totalOf(throughput), rateText))}`
}
${fact('Values from', valuesAge(application, nowMs, since))}
${fact('Last poll', timeOr(lastPollMs, 'not yet'))}
${fact('Last success', timeOr(lastSuccessMs, 'never'))}
${fact('Next poll', nextPoll(application, nowMs))}
${fact('Interval', durationText(Math.round(intervalSeconds) * 1000))}
${fact('Hosts polled', hostsText(application))}
${fact('Account', html`<a href="./?${new URLSearchParams({ account }).toString()}"><bdi>${account}</bdi></a>`)}
${fact('Id', id)}
${fact('Entry', html`<code><bdi>${selector}</bdi></code>`)}
${labelList.length > 0 && fact('Labels', labelList)}
</dl>`;
}

/** The page of one application and its hosts; `undefined` if it is not polled. */
export function applicationPage(
  source: StatusSource,
  params: URLSearchParams,
  context: PageContext,
): string | undefined {
  const [account, id] = [params.get('account'), params.get('id')];
  const application = source.applications().find((one) => one.account === account && one.id === id);
  if (application === undefined) return undefined;
  const { nowMs } = source.process();
  const { name, state } = application;
  const view = applicationStateViews[state];
  const failure = failureText(application, nowMs, Number.POSITIVE_INFINITY);
  const main = html`<p class="back"><a href="./">All applications</a></p>
<div class="banner ${view.tone}"><h1><bdi>${name}</bdi></h1><p role="status">${stateBadge(state, view)} ${view.meaning}</p></div>
${failure !== undefined && html`<section class="problem why" aria-label="Why it fails">${failure}</section>`}
${facts(application, nowMs)}
${valuesSection(application)}
${hostValuesSection(application, params)}
${hostsSection(application, params)}`;
  return documentOf(
    { title: `${state}: ${cutText(name, longestTitle)}`, tone: view.tone, main },
    context,
  );
}

/** What is shown in place of the page of an application that is not polled. */
export function unknownApplicationPage(params: URLSearchParams, context: PageContext): string {
  const id = params.get('id') ?? '';
  const account = params.get('account') ?? '';
  const what =
    id === '' || account === ''
      ? html`The address names no application.`
      : html`This process does not poll an application with the id <code><bdi>${id}</bdi></code> in the account <code><bdi>${account}</bdi></code>. It may be gone, belong to another shard, or not be selected.`;
  const main = html`<h1>Not found</h1>
<p>${what}</p>
<p><a href="./">All applications</a></p>`;
  return documentOf({ title: 'Not found', tone: 'none', main }, context);
}
