import { countText, cutText, rateText } from '../../model/shown-text.ts';
import type { QueryReading } from '../../model/snapshot.ts';
import type { AccountDetails, QueryStatus } from '../../model/status.ts';
import type { InvalidSampleReason } from '../../model/telemetry.ts';
import {
  accountCauses,
  accountColumn,
  byFailure,
  failureText,
  longestMessage,
  longestNameShown,
  pollColumns,
  queriesPrefix,
} from './applications.ts';
import { type Html, html } from './html.ts';
import { type Column, listSection } from './list.ts';
import { applicationStateViews, queriesOf, type StateView } from './state.ts';
import { shownCount, unknownValue } from './texts.ts';

const unusableTexts: Readonly<Record<InvalidSampleReason, string>> = {
  absent: 'null',
  not_a_number: 'no number',
  not_finite: 'not finite',
  negative: 'negative',
  duplicate: 'with the labels of another',
};

/** `3 rows, 2 series`, and what became none. */
export function resultText({ rows, series, leftOut, unusable }: QueryReading): string {
  const counts = [
    shownCount(rows, 'row'),
    shownCount(series.length, 'series', 'series'),
    ...(leftOut > 0 ? [`${countText(leftOut)} beyond max_series`] : []),
    ...Array.from(unusable, ([reason, count]) => `${countText(count)} ${unusableTexts[reason]}`),
  ];
  return counts.join(', ');
}

const { up, silent, ...worse } = applicationStateViews;
const noValue = 'no value';
/** One that works and has never had a value is in a state of its own. */
const queryStateViews: Readonly<Record<string, StateView>> = {
  ...worse,
  [noValue]: { tone: 'wait', meaning: 'Its polls succeed, but it has never had a value.' },
  up,
  silent,
};

function queryState({ state, missing }: QueryStatus): string {
  return state === 'up' && missing !== undefined ? noValue : state;
}

function columnsFor(nowMs: number): readonly Column<QueryStatus>[] {
  return [
    {
      key: 'name',
      label: 'Query',
      isHeading: true,
      sortValue: ({ name }) => name,
      cell: ({ name }) => html`<bdi>${cutText(name, longestNameShown)}</bdi>`,
    },
    accountColumn,
    {
      key: 'rows',
      label: 'Rows',
      isDescendingFirst: true,
      sortValue: ({ reading }) => reading?.rows,
      cell: ({ reading }) => (reading ? resultText(reading) : unknownValue('Nothing is published')),
    },
    ...pollColumns(nowMs).filter(({ key }) => key !== 'polled'),
    {
      key: 'calls',
      label: 'Calls a minute',
      className: 'n',
      isDescendingFirst: true,
      sortValue: ({ intervalSeconds }) => 60 / intervalSeconds,
      cell: ({ intervalSeconds }) => rateText(60 / intervalSeconds),
    },
  ];
}

function noteOf(one: QueryStatus, isOfAccount: boolean, nowMs: number): Html {
  const { query, missing } = one;
  return html`${!isOfAccount && failureText(one, nowMs, longestMessage)}${
    queryState(one) === noValue && html`<p class="wait">It has never had a value: ${missing}.</p>`
  }<p class="soft"><code><bdi>${cutText(query.written, longestMessage)}</bdi></code></p>`;
}

/** The queries: counts, filters and a page of the list; nothing if there are none. */
export function queriesSection(
  accounts: readonly AccountDetails[],
  params: URLSearchParams,
  nowMs: number,
): Html | undefined {
  const chosen = params.get('account') ?? '';
  const queries = queriesOf(accounts.filter(({ name }) => chosen === '' || name === chosen));
  if (queries.length === 0) return undefined;
  const isOfAccount = accountCauses(accounts);
  return listSection<QueryStatus>(
    {
      path: './',
      title: 'Queries',
      searched: 'name, NRQL or reason',
      prefix: queriesPrefix,
      kept: ['account', 'state', 'sort', 'q', 'page'],
      stateOf: queryState,
      views: queryStateViews,
      columns: columnsFor(nowMs),
      keyOf: ({ account, name }) => `${account}/${name}`,
      textsOf: ({ name, query, failure }) => [name, query.written, failure?.reason ?? ''],
      compare: byFailure,
      noteOf: (one) => noteOf(one, isOfAccount(one), nowMs),
      nothing: '',
    },
    queries,
    params,
  );
}
