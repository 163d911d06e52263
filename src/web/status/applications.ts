import {
  isReadOf,
  type PolledSeries,
  totalOf,
  type Values,
  valuesByTransaction,
} from '../../model/polled-series.ts';
import type { PresetName } from '../../model/presets.ts';
import { isEffectOf } from '../../model/problem.ts';
import { countText, cutText, rateText } from '../../model/shown-text.ts';
import type { AppReading } from '../../model/snapshot.ts';
import type {
  AccountDetails,
  ApplicationStatus,
  PolledStatus,
  StatusSource,
} from '../../model/status.ts';
import { type Child, type Html, html } from './html.ts';
import { type Column, listSection } from './list.ts';
import { applicationStateViews, applicationView } from './state.ts';
import { ago, byText, due, measured, secondsText, since, unknownValue, until } from './texts.ts';

/** Names are up to 255 characters at New Relic, but nothing ensures it. */
export const longestNameShown = 100;
/** The page of the application has the rest. */
export const longestMessage = 600;

/** Before the parameters of the list of queries, which stands on the same page. */
export const queriesPrefix = 'query_';

/** The address of the page of an application. */
export function applicationHref(account: string, id: string): string {
  return `./applications?${new URLSearchParams({ account, id }).toString()}`;
}

/** Whether it is known which applications an account has: its list was read, at least in part. */
export function isListed(account: AccountDetails): boolean {
  const { hasApplications, applications, listedApplications } = account;
  return !hasApplications || applications > 0 || listedApplications !== undefined;
}

/** From when the published values are. */
export function valuesAge(
  { reading, isHeld }: PolledStatus,
  nowMs: number,
  timeText: typeof ago = ago,
): Html {
  if (reading === undefined) return unknownValue('Nothing is published');
  if (reading.windowEndMs === undefined) return unknownValue('New Relic had no data in its window');
  const held = isHeld && html`<span class="state wait">held</span> `;
  return html`${held}${timeText(reading.windowEndMs, nowMs)}`;
}

/** How many hosts are polled, and of how many of them the last poll got something. */
export function hostsText({ hostIds, failedHostIds }: ApplicationStatus): Html {
  if (hostIds.length === 0) return unknownValue('No hosts are polled');
  const all = countText(hostIds.length);
  if (failedHostIds.size === 0) return html`${all}`;
  return html`<b class="bad">${countText(hostIds.length - failedHostIds.size)}</b> of ${all}`;
}

/** When it is polled next. */
export function nextPoll({ state, nextPollMs }: PolledStatus, nowMs: number): Html {
  return state === 'silent' ? unknownValue('It is not polled') : due(nextPollMs, nowMs);
}

/** What happens to the values while polls fail. */
function valuesOutlook({ state, isHeld, dropMs }: PolledStatus, nowMs: number): Html | undefined {
  if (dropMs === undefined) return undefined;
  if (state === 'dropped') return html`<p>Its values were dropped at ${since(dropMs, nowMs)}.</p>`;
  if (!isHeld) return undefined;
  return html`<p>Older values are held; they are dropped at ${until(dropMs, nowMs)} unless a poll succeeds.</p>`;
}

/** Why it fails and since when; nothing if it does not. */
export function failureText(
  polled: PolledStatus,
  nowMs: number,
  longest: number,
): Html | undefined {
  const { failure, state } = polled;
  if (failure === undefined) return undefined;
  const { reason, message, sinceMs } = failure;
  return html`<p class="${applicationStateViews[state].tone}"><b>${reason}</b> since ${since(sinceMs, nowMs)}: ${cutText(message, longest)}</p>
${valuesOutlook(polled, nowMs)}`;
}

/** Returns which fail for a reason of their whole account, which stands there. */
export function accountCauses(accounts: readonly AccountDetails[]): (one: PolledStatus) => boolean {
  const byName = new Map(accounts.map((account) => [account.name, account]));
  return (one) => {
    const account = byName.get(one.account);
    return account !== undefined && isEffectOf(account, one);
  };
}

type PolledRow = PolledStatus & { readonly id?: string };

/** The newest failure first; without failures, by name. */
export function byFailure(left: PolledRow, right: PolledRow): number {
  return (
    (right.failure?.sinceMs ?? 0) - (left.failure?.sinceMs ?? 0) ||
    byText(left.name, right.name) ||
    byText(left.account, right.account) ||
    byText(left.id ?? '', right.id ?? '')
  );
}

/** A value that lists show; without a type of transactions, of all of them together. */
type Measure = readonly [
  key: string,
  label: string,
  preset: PresetName,
  transactionType: 'web' | 'other' | undefined,
  text: (value: number) => string,
];

const throughputs: readonly Measure[] = [
  ['web', 'Web', 'throughput', 'web', rateText],
  ['other', 'Other', 'throughput', 'other', rateText],
];

/** Only some configurations ask for these. */
const sometimes: readonly Measure[] = [
  ['web_time', 'Web time', 'response_time', 'web', secondsText],
  ['other_time', 'Other time', 'response_time', 'other', secondsText],
  ['errors', 'Errors', 'errors', undefined, rateText],
];

/** The values of an application or of a host, which is a row of a list. */
export interface RowValues {
  readonly what: 'applications' | 'hosts';
  readonly series: readonly PolledSeries[];
  readonly values: Values | undefined;
}

/** Those of an application, or of one of its hosts. */
export function shownValues(reading: AppReading | undefined, hostId?: string): RowValues {
  const { series = [], application, hosts } = reading ?? {};
  if (hostId === undefined) return { what: 'applications', series, values: application };
  return { what: 'hosts', series, values: hosts?.get(hostId) };
}

function cellValueOf(
  [, , preset, transactionType]: Measure,
  { series, values }: RowValues,
): number | undefined {
  if (!series.some((one) => one.preset === preset)) return undefined;
  const byType = valuesByTransaction(preset, series, values);
  return transactionType === undefined ? totalOf(byType) : byType.get(transactionType);
}

/** Throughput, and of response time and errors what any of the rows has; and what a caption says of them. */
export function valueColumns<Row>(
  rows: readonly Row[],
  valuesOf: (row: Row) => RowValues,
): { readonly columns: readonly Column<Row>[]; readonly caption: string } {
  const more = sometimes.filter((measure) =>
    rows.some((row) => cellValueOf(measure, valuesOf(row)) !== undefined),
  );
  const columns = [...throughputs, ...more].map((measure): Column<Row> => {
    const [key, label, , , text] = measure;
    const sortValue = (row: Row): number | undefined => cellValueOf(measure, valuesOf(row));
    const cell = (row: Row): Child => measured(sortValue(row), text);
    return { key, label, className: 'n', isDescendingFirst: true, sortValue, cell };
  });
  const others = more.length > 0 ? ', average response time, errors per minute' : '';
  return { columns, caption: `Throughput in requests per minute${others}` };
}

/** Each series of an application or of a host under its own name, with its value if it has one. */
export function namedValues({ what, series, values = [] }: RowValues): readonly {
  readonly name: string;
  readonly series: PolledSeries;
  readonly value?: number;
}[] {
  return series.flatMap((one, index) => {
    if (!isReadOf(what, one)) return [];
    const value = values[index];
    const name = what === 'hosts' ? one.gauge.hostName : one.gauge.name;
    return [{ name, series: one, ...(value !== undefined && { value }) }];
  });
}

/** The name of the account of an application or a query. */
export const accountColumn: Column<PolledStatus> = {
  key: 'account',
  label: 'Account',
  className: 'c-account',
  sortValue: ({ account }) => account,
  cell: ({ account }) => html`<bdi>${cutText(account, longestNameShown)}</bdi>`,
};

/** From when its values are, and when it is polled. */
export function pollColumns(nowMs: number): readonly Column<PolledStatus>[] {
  return [
    {
      key: 'values',
      label: 'Values from',
      className: 'n c-values',
      sortValue: ({ reading }) => reading?.windowEndMs,
      cell: (one) => valuesAge(one, nowMs),
    },
    {
      key: 'polled',
      label: 'Last poll',
      className: 'n',
      sortValue: ({ lastPollMs }) => lastPollMs,
      cell: ({ lastPollMs }) => (lastPollMs === undefined ? 'not yet' : ago(lastPollMs, nowMs)),
    },
    {
      key: 'next',
      label: 'Next poll',
      className: 'n',
      sortValue: ({ nextPollMs }) => nextPollMs,
      cell: (one) => nextPoll(one, nowMs),
    },
  ];
}

/** @param sharedNames those that several applications have: their ids are shown */
function nameColumn(sharedNames: ReadonlySet<string>): Column<ApplicationStatus> {
  return {
    key: 'name',
    label: 'Application',
    isHeading: true,
    sortValue: ({ name }) => name,
    cell: ({ name, id, account }) =>
      html`<a href="${applicationHref(account, id)}"><bdi>${cutText(name, longestNameShown)}</bdi></a>${sharedNames.has(name) && html` <span class="soft">${id}</span>`}`,
  };
}

const hostsColumn: Column<ApplicationStatus> = {
  key: 'hosts',
  label: 'Hosts',
  className: 'n',
  isDescendingFirst: true,
  sortValue: ({ hostIds }) => hostIds.length,
  cell: hostsText,
};

/** The applications: counts, filters and a page of the list. */
export function applicationsSection(
  source: StatusSource,
  all: readonly ApplicationStatus[],
  params: URLSearchParams,
  nowMs: number,
): Html {
  const accounts = source.accounts().map(({ name }) => name);
  const isOfAccount = accountCauses(source.accounts());
  const names = new Set<string>();
  const sharedNames = new Set<string>();
  for (const { name } of all) (names.has(name) ? sharedNames : names).add(name);
  const { columns: values, caption } = valueColumns(all, ({ reading }) => shownValues(reading));
  return listSection<ApplicationStatus>(
    {
      path: './',
      title: 'Applications',
      caption,
      searched: 'name, id, label or reason',
      kept: ['account', ...['state', 'sort', 'q'].map((name) => queriesPrefix + name)],
      accounts,
      accountOf: ({ account }) => account,
      stateOf: ({ state }) => state,
      views: applicationStateViews,
      viewOf: applicationView,
      columns: [
        nameColumn(sharedNames),
        ...(accounts.length > 1 ? [accountColumn] : []),
        ...values,
        ...pollColumns(nowMs),
        hostsColumn,
      ],
      keyOf: ({ account, id }) => `${account}/${id}`,
      textsOf: ({ name, id, labels, failure }) => [
        name,
        id,
        ...Object.entries(labels).map(([key, value]) => `${key}=${value}`),
        failure?.reason ?? '',
      ],
      compare: byFailure,
      classOf: (one) => (isOfAccount(one) ? 'of-account' : undefined),
      noteOf: (one) => (isOfAccount(one) ? undefined : failureText(one, nowMs, longestMessage)),
      nothing: 'No application is polled yet.',
    },
    all,
    params,
  );
}
