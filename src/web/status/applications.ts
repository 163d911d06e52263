import { countText, cutText } from '../../model/shown-text.ts';
import type {
  AccountDetails,
  ApplicationStatus,
  PolledStatus,
  StatusSource,
} from '../../model/status.ts';
import { type Html, html } from './html.ts';
import { type Column, type List, listSection } from './list.ts';
import { gaveNoValue, rateText, unknown } from './number-text.ts';
import { applicationStateViews } from './state-view.ts';
import { ago, due, since, until } from './time-text.ts';
import { valueColumns } from './value-columns.ts';

/** Names are up to 255 characters at New Relic, but nothing ensures it. */
export const longestName = 100;
/** The page of the application has the rest. */
export const longestMessage = 600;

/** The address of the page of an application. */
export function applicationHref(account: string, id: string): string {
  return `./applications?${new URLSearchParams({ account, id }).toString()}`;
}

/** A rate as it was measured, or a dash. */
export function measuredRate(value: number | undefined): Html | string {
  return value === undefined ? gaveNoValue : rateText(value);
}

/** From when the published values are. */
export function valuesAge(
  { reading, isHeld }: PolledStatus,
  nowMs: number,
  timeText: typeof ago = ago,
): Html {
  if (reading === undefined) return unknown('Nothing is published');
  if (reading.windowEndMs === undefined) return unknown('New Relic had no data in its window');
  const held = isHeld && html`<span class="state wait">held</span> `;
  return html`${held}${timeText(reading.windowEndMs, nowMs)}`;
}

/** How many hosts are polled, and of how many of them the last poll got something. */
export function hostsText({ hostIds, failedHostIds }: ApplicationStatus): Html {
  if (hostIds.length === 0) return unknown('No hosts are polled');
  const all = countText(hostIds.length);
  if (failedHostIds.size === 0) return html`${all}`;
  return html`<b class="bad">${countText(hostIds.length - failedHostIds.size)}</b> of ${all}`;
}

/** When it is polled next. */
export function nextPoll({ state, nextPollMs }: PolledStatus, nowMs: number): Html {
  return state === 'silent' ? unknown('It is not polled') : due(nextPollMs, nowMs);
}

/** What happens to the values while polls fail. */
function valuesOutlook({ state, isHeld, dropMs }: PolledStatus, nowMs: number): Html | undefined {
  if (dropMs === undefined) return undefined;
  if (state === 'dropped') return html`Its values were dropped at ${since(dropMs, nowMs)}.`;
  if (!isHeld) return undefined;
  return html`Older values are held; they are dropped at ${until(dropMs, nowMs)} unless a poll succeeds.`;
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
  const outlook = valuesOutlook(polled, nowMs);
  return html`<p class="${applicationStateViews[state].tone}"><b>${reason}</b> since ${since(sinceMs, nowMs)}: ${cutText(message, longest)}</p>
${outlook !== undefined && html`<p>${outlook}</p>`}`;
}

/** Returns which fail for a reason of their whole account, which stands there: lists fail alike, or there are 429s. */
export function accountCauses(
  accounts: readonly AccountDetails[],
  nowMs: number,
): (one: PolledStatus) => boolean {
  const byName = new Map(accounts.map((account) => [account.name, account]));
  return ({ account, state, failure }) => {
    const { errorReason, refusals, backoffUntilMs = 0 } = byName.get(account) ?? {};
    if (failure === undefined || state === 'gone') return false;
    const isThrottled = refusals !== undefined || backoffUntilMs > nowMs;
    return failure.reason === errorReason || (failure.reason === 'throttled' && isThrottled);
  };
}

function matches({ name, id, labels, failure }: ApplicationStatus, search: string): boolean {
  const labelTexts = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return [name, id, ...labelTexts, failure?.reason ?? ''].some((text) =>
    text.toLowerCase().includes(search),
  );
}

/** The newest failure first; without failures, by name. */
export function byFailure(
  left: PolledStatus & { readonly id?: string },
  right: PolledStatus & { readonly id?: string },
): number {
  return (
    (right.failure?.sinceMs ?? 0) - (left.failure?.sinceMs ?? 0) ||
    byText(left.name, right.name) ||
    byText(left.account, right.account) ||
    byText(left.id ?? '', right.id ?? '')
  );
}

export function byText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

interface ColumnOptions {
  readonly values: readonly Column<ApplicationStatus>[];
  readonly nowMs: number;
  /** Whether the name of the account is shown. */
  readonly hasAccount: boolean;
  /** Names that several applications have: their ids are shown. */
  readonly sharedNames: ReadonlySet<string>;
}

const accountColumn: Column<ApplicationStatus> = {
  key: 'account',
  label: 'Account',
  className: 'c-account',
  sortValue: ({ account }) => account.toLowerCase(),
  cell: ({ account }) => html`<bdi>${cutText(account, longestName)}</bdi>`,
};

function columnsFor(options: ColumnOptions): readonly Column<ApplicationStatus>[] {
  const { nowMs, hasAccount, sharedNames } = options;
  return [
    {
      key: 'name',
      label: 'Application',
      isHeading: true,
      sortValue: ({ name }) => name.toLowerCase(),
      cell: ({ name, id, ...one }) =>
        html`<a href="${applicationHref(one.account, id)}"><bdi>${cutText(name, longestName)}</bdi></a>${sharedNames.has(name) && html` <span class="soft">${id}</span>`}`,
    },
    ...(hasAccount ? [accountColumn] : []),
    ...options.values,
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
      className: 'n c-polled',
      sortValue: ({ lastPollMs }) => lastPollMs,
      cell: ({ lastPollMs }) => (lastPollMs === undefined ? 'not yet' : ago(lastPollMs, nowMs)),
    },
    {
      key: 'next',
      label: 'Next poll',
      className: 'n c-next',
      sortValue: ({ nextPollMs }) => nextPollMs,
      cell: (one) => nextPoll(one, nowMs),
    },
    {
      key: 'hosts',
      isDescendingFirst: true,
      label: 'Hosts',
      className: 'n c-hosts',
      sortValue: ({ hostIds }) => hostIds.length,
      cell: hostsText,
    },
  ];
}

/** The applications: counts, filters and a page of the list. */
export function applicationsSection(
  source: StatusSource,
  all: readonly ApplicationStatus[],
  params: URLSearchParams,
  nowMs: number,
): Html {
  const accounts = source.accounts().map(({ name }) => name);
  const isOfAccount = accountCauses(source.accounts(), nowMs);
  const names = new Set<string>();
  const sharedNames = new Set<string>();
  for (const { name } of all) (names.has(name) ? sharedNames : names).add(name);
  const { columns: values, caption } = valueColumns(all, ({ reading }) => ({
    series: reading?.series ?? [],
    values: reading?.application,
  }));
  const list: List<ApplicationStatus> = {
    path: './',
    title: 'Applications',
    caption,
    searched: 'name, id, label or reason',
    scope: ['account'],
    choice: { name: 'account', label: 'Account', from: accounts, of: ({ account }) => account },
    views: applicationStateViews,
    columns: columnsFor({ values, nowMs, hasAccount: accounts.length > 1, sharedNames }),
    keyOf: ({ account, id }) => `${account}/${id}`,
    matches,
    compare: byFailure,
    classOf: (one) => (isOfAccount(one) ? 'of-account' : undefined),
    noteOf: (one) => (isOfAccount(one) ? undefined : failureText(one, nowMs, longestMessage)),
    nothing: 'No application is polled yet.',
  };
  return listSection(list, all, params);
}
