import { cutText } from '../../model/shown-text.ts';
import type { ApplicationStatus } from '../../model/status.ts';
import { byText } from './applications.ts';
import { type Html, html } from './html.ts';
import { type Column, type List, listSection } from './list.ts';
import { unknown } from './number-text.ts';
import type { StateView } from './state-view.ts';
import { valueColumns } from './value-columns.ts';
import { hasMoreThanThroughput, hostValuesSection } from './values-section.ts';

const path = './applications';
/** As long as a host name may be. */
const longestName = 253;

/** How a polled host is doing, the worst first. */
const stateViews = {
  failing: { tone: 'bad', meaning: 'The last poll got nothing of it.' },
  empty: { tone: 'none', meaning: 'New Relic gave no value for it.' },
  waiting: { tone: 'wait', meaning: 'It has not been polled yet.' },
  up: { tone: 'good', meaning: 'The last poll got its values.' },
} as const satisfies Readonly<Record<string, StateView>>;
type HostState = keyof typeof stateViews;

/** A host as a row of the list. */
interface HostRow {
  readonly id: string;
  readonly name: string | undefined;
  /** The name, or the id without one, as it is sorted by and searched in. */
  readonly sortName: string;
  readonly state: HostState;
}

function stateOf({ failedHostIds, lastPollMs, reading }: ApplicationStatus, id: string): HostState {
  if (failedHostIds.has(id)) return 'failing';
  if (lastPollMs === undefined) return 'waiting';
  return reading?.hosts.get(id)?.some((value) => value !== undefined) === true ? 'up' : 'empty';
}

function hostRows(application: ApplicationStatus): readonly HostRow[] {
  const { hostIds, hostNames } = application;
  return hostIds.map((id) => {
    const name = hostNames.get(id);
    return { id, name, sortName: name?.toLowerCase() ?? id, state: stateOf(application, id) };
  });
}

/** Why a host has no values; empty if it has some. */
function whyText(state: HostState, reason: string | undefined): string {
  if (state === 'up') return '';
  const { meaning } = stateViews[state];
  return state === 'failing' && reason !== undefined
    ? `${meaning.slice(0, -1)} (${reason}).`
    : meaning;
}

/** @param hrefOfHost the address of all values of a host; `undefined` if the row has them all */
function columnsFor(
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
        html`<span class="${stateViews[state].tone}">${whyText(state, reason)}</span>`,
    },
  ];
}

/** The hosts of an application: counts, search and a page of the list, after all values of one of them. */
export function hostsSections(application: ApplicationStatus, params: URLSearchParams): Html {
  const { failure, reading } = application;
  const hosts = hostRows(application);
  const hrefWith = (host: Readonly<Record<string, string>>): string => {
    const others = [...params].filter(([name]) => name !== 'host');
    return `${path}?${new URLSearchParams([...others, ...Object.entries(host)]).toString()}`;
  };
  const { columns: values, caption } = valueColumns(hosts, ({ id }) => ({
    series: reading?.series ?? [],
    values: reading?.hosts.get(id),
  }));
  // What all of them lack has its reason above.
  const isSaid = hosts.every(({ state }) => state === 'failing');
  const columns = columnsFor(
    values,
    failure?.reason,
    hasMoreThanThroughput(reading) ? (host) => `${hrefWith({ host })}#host` : undefined,
  );
  const list: List<HostRow> = {
    path,
    title: 'Hosts',
    caption,
    searched: 'name or id',
    // `host` is the one whose values are all shown.
    scope: ['account', 'id', 'host'],
    views: stateViews,
    columns: columns.filter(({ key }) => key !== 'why' || !isSaid),
    keyOf: ({ id }) => id,
    matches: ({ id, sortName }, search) => id.includes(search) || sortName.includes(search),
    compare: (left, right) => byText(left.sortName, right.sortName),
    nothing: 'No hosts of this application are polled.',
  };
  return html`${hostValuesSection(application, params.get('host') ?? undefined, hrefWith({}))}
${listSection(list, hosts, params)}`;
}
