import { seriesLabels, totalOf } from '../../model/polled-series.ts';
import { cutText, durationText, rateText } from '../../model/shown-text.ts';
import { type AppReading, throughputIn } from '../../model/snapshot.ts';
import type { ApplicationStatus, StatusSource } from '../../model/status.ts';
import {
  failureText,
  hostsText,
  namedValues,
  nextPoll,
  type RowValues,
  shownValues,
  valueColumns,
  valuesAge,
} from './applications.ts';
import { documentOf, fact, type PageContext, tableOf } from './document.ts';
import { type Child, type Html, html } from './html.ts';
import { type Column, listSection } from './list.ts';
import { applicationView, type StateView, stateBadge } from './state.ts';
import { byText, measured, shownValue, since, unknownValue } from './texts.ts';

const path = './applications';
/** As long as a name of a host may be; metrics may be longer, but nobody reads that. */
const longestHostShown = 253;

/** Whether there is more to show than requests per minute, which has its own places. */
function hasMoreThanThroughput(reading: AppReading | undefined): boolean {
  return reading?.series.some(({ preset }) => preset !== 'throughput') ?? false;
}

function labelTexts(labels: Readonly<Record<string, string>>): readonly Html[] {
  return Object.entries(labels).map(
    ([key, text]) => html`<code>${key}=<bdi>${cutText(text, longestHostShown)}</bdi></code> `,
  );
}

/** All values of an application or of a host, and what they are in New Relic. */
function valuesTable(label: string, values: RowValues): Html {
  const rows = namedValues(values).map(({ name, series, value }) => {
    const { metric, value: valueName, scale } = series;
    const text = measured(value, (known) => shownValue(valueName, known, scale));
    return html`<tr><th scope="row"><code>${name}</code></th><td class="c-labels">${labelTexts(seriesLabels(series))}</td><td class="n"><b>${text}</b></td><td class="c-metric"><span class="soft"><bdi>${cutText(metric, longestHostShown)}</bdi>, ${valueName}</span></td></tr>
`;
  });
  const head = html`<tr><th scope="col">Gauge</th><th scope="col">Labels</th><th scope="col" class="n">Value</th><th scope="col">In New Relic</th></tr>`;
  return tableOf(
    label,
    'values',
    html`<thead>${head}</thead>
<tbody>${rows}</tbody>`,
  );
}

/** All values of an application; nothing if it has none, or no more than requests per minute. */
function valuesSection({ reading }: ApplicationStatus): Html | undefined {
  const hasValues = reading?.application.some((value) => value !== undefined) === true;
  if (!hasValues || !hasMoreThanThroughput(reading)) return undefined;
  return html`<section aria-labelledby="values"><h2 id="values">Values</h2>
${valuesTable('Values of the application', shownValues(reading))}</section>`;
}

/** All values of the host that is asked for; nothing without such a host. */
function hostValuesSection(
  { reading, hostIds, hostNames }: ApplicationStatus,
  params: URLSearchParams,
): Html | undefined {
  const id = params.get('host');
  if (id === null || reading === undefined || !hostIds.includes(id)) return undefined;
  const name = cutText(hostNames.get(id) ?? id, longestHostShown);
  return html`<section aria-labelledby="host"><div class="head"><h2 id="host">Values of the host <bdi>${name}</bdi></h2><a href="${hostHref(params)}">Close</a></div>
${valuesTable('Values of the host', shownValues(reading, id))}</section>`;
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
  readonly state: HostState;
}

/** What it is sorted by. */
const hostNameOf = ({ id, name }: HostRow): string => name ?? id;

function hostStateOf(
  { failedHostIds, lastPollMs, reading }: ApplicationStatus,
  id: string,
): HostState {
  if (failedHostIds.has(id)) return 'failing';
  if (lastPollMs === undefined) return 'waiting';
  return reading?.hosts.get(id)?.some((value) => value !== undefined) === true ? 'up' : 'empty';
}

function hostColumns(
  { reading, failure }: ApplicationStatus,
  hosts: readonly HostRow[],
  params: URLSearchParams,
): { readonly columns: readonly Column<HostRow>[]; readonly caption: string } {
  // Without more, the row has all of its values.
  const linked = (id: string, text: Html | string): Html | string =>
    hasMoreThanThroughput(reading)
      ? html`<a href="${hostHref(params, id)}#host">${text}</a>`
      : text;
  const { columns: values, caption } = valueColumns(hosts, ({ id }) => shownValues(reading, id));
  // What all of them lack has its reason above.
  const isSaid = hosts.every(({ state }) => state === 'failing');
  const columns: readonly Column<HostRow>[] = [
    {
      key: 'name',
      label: 'Host',
      isHeading: true,
      sortValue: hostNameOf,
      cell: ({ id, name }) =>
        name === undefined
          ? unknownValue('Its name is not known')
          : linked(id, html`<bdi>${cutText(name, longestHostShown)}</bdi>`),
    },
    {
      key: 'id',
      label: 'Id',
      className: 'n',
      sortValue: ({ id }) => id,
      cell: ({ id, name }) => (name === undefined ? linked(id, id) : id),
    },
    ...values,
    {
      key: 'why',
      label: 'Why',
      className: 'c-why',
      isOf: ({ state }) => state !== 'up' && !isSaid,
      cell: ({ state }) => {
        const { tone, meaning } = hostStateViews[state];
        const isKnown = state === 'failing' && failure !== undefined;
        const why = isKnown ? `${meaning.slice(0, -1)} (${failure.reason}).` : meaning;
        return state !== 'up' && html`<span class="${tone}">${why}</span>`;
      },
    },
  ];
  return { columns, caption };
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
  const hosts = application.hostIds.map((id) => ({
    id,
    name: application.hostNames.get(id),
    state: hostStateOf(application, id),
  }));
  return listSection<HostRow>(
    {
      path,
      title: 'Hosts',
      searched: 'name or id',
      // `host` is the one whose values are all shown.
      kept: ['account', 'id', 'host'],
      stateOf: ({ state }) => state,
      views: hostStateViews,
      ...hostColumns(application, hosts, params),
      keyOf: ({ id }) => id,
      textsOf: (host) => [host.id, hostNameOf(host)],
      compare: (left, right) =>
        byText(hostNameOf(left), hostNameOf(right)) || byText(left.id, right.id),
      nothing: 'No hosts of this application are polled.',
    },
    hosts,
    params,
  );
}

const longestTitle = 100;

function factList(application: ApplicationStatus, nowMs: number): Html {
  const { id, account, selector, labels, reading, intervalSeconds } = application;
  const throughput = throughputIn(reading);
  const { series = [] } = reading ?? {};
  // As far as it is known.
  const isAsked = series.length === 0 || series.some(({ preset }) => preset === 'throughput');
  const { lastPollMs, lastSuccessMs } = application;
  const timeOr = (ms: number | undefined, text: string): Child =>
    ms === undefined ? text : since(ms, nowMs);
  return html`<dl class="facts grid">
${
  isAsked &&
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
${Object.keys(labels).length > 0 && fact('Labels', labelTexts(labels))}
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
  const view = applicationView(application);
  const failure = failureText(application, nowMs, Number.POSITIVE_INFINITY);
  const main = html`<p class="back"><a href="./">All applications</a></p>
<div class="banner ${view.tone}"><h1><bdi>${name}</bdi></h1><p role="status">${stateBadge(state, view)} ${view.meaning}</p></div>
${failure !== undefined && html`<section class="problem why" aria-label="Why it fails">${failure}</section>`}
${factList(application, nowMs)}
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
