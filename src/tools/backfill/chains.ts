import { readNrql } from '../../config/nrql-text.ts';
import { ApiError } from '../../model/api-error.ts';
import type { Query } from '../../model/config.ts';
import type { PollOutcome } from '../../model/poll-outcome.ts';
import { labelsOf, type SelectedApplication } from '../../model/selected-application.ts';
import type { TimeWindow } from '../../model/window.ts';
import { Answers, type MetricMemory } from '../../newrelic/nerdgraph/answers.ts';
import { createUnexpectedAnswers } from '../../newrelic/nerdgraph/failures.ts';
import { metricsNrql } from '../../newrelic/nerdgraph/nrql.ts';
import { type FacetRow, nrqlAnswerOf } from '../../newrelic/nerdgraph/nrql-answer.ts';
import { nrqlValueOf } from '../../newrelic/nerdgraph/nrql-values.ts';
import { queryReadingOf } from '../../newrelic/nerdgraph/query-answer.ts';
import {
  groupsOf,
  type PlannedQuery,
  partsOf,
  queriesOf,
  rowsOf,
  undivided,
} from '../../newrelic/nerdgraph/query-plan.ts';
import { familiesOf, fixedFamilies, queryFamiliesOf } from '../../publish/families.ts';
import { type FamilyHead, renderApplication, renderQuery } from '../../publish/render.ts';
import { type OpenAccount, questionAbout } from '../ask.ts';
import {
  askSeries,
  cut,
  inGroups,
  rangeOf,
  type SampleRange,
  type Slice,
  slicesOf,
  windowsOf,
} from './slices.ts';

/** The lines of the page that shows a window of a slice, as far as they are values of New Relic's. */
export type PageOf = (window: TimeWindow, index: number) => readonly string[];

/** A gauge, and whether it is an amount: 0 where nothing was recorded. */
export interface Gauge extends FamilyHead {
  readonly isAmount: boolean;
}

/** One query of the polls, through time. */
export interface Chain {
  readonly account: OpenAccount;
  readonly slices: readonly Slice[];
  /** In each window, as far as is known now. */
  readonly series: number;
  readonly gauges: readonly Gauge[];
  readonly ask: (slice: Slice) => Promise<PageOf>;
}

const fixedNames = new Set(fixedFamilies.map(({ name }) => name));

/** The gauges of what is polled, without what a page says of every application. */
function familiesIn({ entry: { series } }: SelectedApplication): ReturnType<typeof familiesOf> {
  return familiesOf(series).filter(({ name }) => !fixedNames.has(name));
}

function gaugesIn(selected: SelectedApplication): readonly Gauge[] {
  const amounts = selected.entry.series.filter((one) => nrqlValueOf(one).isAmount);
  const names = new Set(amounts.flatMap(({ gauge }) => [gauge.name, gauge.hostName]));
  return familiesIn(selected).map(({ name, help }) => ({ name, help, isAmount: names.has(name) }));
}

/** Here it is not known yet which metrics an application has had: whoever puts the slices together knows. */
const seen: MetricMemory = { has: () => true, saw: () => undefined, keepHosts: () => undefined };
const notAsked = new ApiError('client', 'it was not asked.');
/** What a snapshot has that is not shown here. */
const rest = { pollSucceeded: undefined, failureReason: undefined, lastSuccessMs: undefined };

/** What the answers of an account are read with. */
function readingOf({ account: { name, source }, asking }: OpenAccount) {
  return {
    accountId: source.accountId ?? 0,
    unexpected: createUnexpectedAnswers(name, asking),
    onInvalid: asking.observer.invalidSample.bind(asking.observer),
  };
}

/** A chain of each query that polls of these applications would make. */
export function applicationChains(
  account: OpenAccount,
  all: readonly SelectedApplication[],
  range: SampleRange,
): readonly Chain[] {
  const { onInvalid } = readingOf(account);
  const questions = all.map((selected) => questionAbout(selected, true));
  return groupsOf(questions).flatMap((group) =>
    queriesOf(group, () => undivided).map((query): Chain => {
      const asked = group.filter(({ selected: { application } }) =>
        query.applicationIds.includes(application.id),
      );
      const counts = asked.map((one) => (query.subject === 'hosts' ? rowsOf(one.selected) : 1));
      const rows = Math.ceil(counts.reduce((sum, count) => sum + count, 0) / query.parts);
      const poll = asked[0]?.selected.entry.poll;
      const ask = async (slice: Slice, count: number): Promise<Rows> => {
        const found: Rows[] = [];
        for (const one of inParts(query, count)) found.push(await askRows(one, slice, account));
        return windowsOf(slice).map((_, index) => found.flatMap((part) => part[index] ?? []));
      };
      return {
        account,
        slices: poll === undefined ? [] : slicesOf(range, poll, rows, true),
        series: rows * query.values.length,
        gauges: asked.flatMap(({ selected }) => gaugesIn(selected)),
        ask: async (slice) => {
          const found = await divided(slice, ask, mostParts);
          return (window, index) => {
            const answers = new Answers([query], { seen, onInvalid });
            answers.isAbout(window);
            answers.answered(query, { rows: found[index] ?? [], window });
            return asked.flatMap((question) =>
              linesOf(account, question.selected, answers.outcome(question, notAsked)),
            );
          };
        },
      };
    }),
  );
}

/** What a page would have of the application, by the same code. */
function linesOf(
  { account: { name } }: OpenAccount,
  selected: SelectedApplication,
  { reading, hostNames = new Map() }: PollOutcome,
): readonly string[] {
  const { application, entry } = selected;
  const shown = { account: name, application, hostsOnly: !entry.application, hostNames, reading };
  const snapshot = { ...rest, ...shown, labels: labelsOf(selected) };
  return textOf(renderApplication(snapshot, familiesIn(selected)).bytes);
}

function textOf(bytes: Buffer): readonly string[] {
  return bytes.toString().split('\n').slice(0, -1);
}

type Rows = readonly (readonly FacetRow[])[];

/** The rows of each window. */
async function askRows(query: PlannedQuery, slice: Slice, account: OpenAccount): Promise<Rows> {
  const { accountId, ...others } = readingOf(account);
  const { applicationIds, operation } = query;
  const purpose = { operation, applications: applicationIds.length, accountId };
  const nrql = metricsNrql({ ...query, window: rangeOf(slice) });
  return askSeries(account, purpose, nrql, slice, 'calls', (part, window) => {
    const reading = { ...query, ...others, purpose, window, mayBeAbout: () => true };
    return nrqlAnswerOf(part, reading).rows;
  });
}

/** Queries for one window at most. */
const mostParts = 1024;

/**
 * The answers about all windows of a slice; if that is too much for one answer, about those of its halves. A single
 * window may be asked for in parts: more and more of them, up to as many.
 */
async function divided<Answer>(
  slice: Slice,
  ask: (slice: Slice, parts: number) => Promise<readonly Answer[]>,
  most: number,
  parts = 1,
): Promise<readonly Answer[]> {
  try {
    return await ask(slice, parts);
  } catch (error) {
    const { windows } = slice;
    const mayBeLess = windows > 1 || parts < most;
    const isTooMuch =
      error instanceof ApiError && (error.reason === 'too_large' || error.reason === 'timeout');
    if (!mayBeLess || !isTooMuch) throw error;
    if (windows === 1) return divided(slice, ask, most, 2 * parts);
    const answers: Answer[] = [];
    for (const half of cut(slice, Math.ceil(windows / 2))) {
      answers.push(...(await divided(half, ask, most)));
    }
    return answers;
  }
}

/** The query in so many parts: of its applications, and then of the hosts of each. */
function inParts(query: PlannedQuery, count: number): readonly PlannedQuery[] {
  const { applicationIds: ids, subject } = query;
  const hosts = subject === 'hosts' ? partsOf([], Math.floor(count / ids.length), query) : [query];
  return inGroups(ids, Math.ceil(ids.length / count)).flatMap((applicationIds) =>
    hosts.map(({ condition, asksFor }) => ({ ...query, applicationIds, condition, asksFor })),
  );
}

/** What tells a group without data in a window from one whose values are 0. */
const records = 'backfill_records';

/** A chain for a query of the configuration. */
export function queryChain(account: OpenAccount, query: Query, range: SampleRange): Chain {
  const { accountId, ...others } = readingOf(account);
  const purpose = { operation: 'query', accountId } as const;
  const names = new Set(query.gauges.map(({ name }) => name));
  const families = queryFamiliesOf(query).filter(({ name }) => names.has(name));
  const isGrouped = query.facets.length > 0;
  const counted = isGrouped ? withRecords(query.nrql) : query.nrql;
  const ask = async (slice: Slice): Promise<readonly (readonly string[])[]> => {
    const { fromMs, toMs } = rangeOf(slice);
    const nrql = `${counted} SINCE ${fromMs} UNTIL ${toMs}`;
    const count = isGrouped ? records : undefined;
    return askSeries(account, purpose, nrql, slice, count, (part, window) => {
      const reading = queryReadingOf(part, query, { ...others, purpose, window });
      return textOf(renderQuery({ ...rest, query, reading }, families).bytes);
    });
  };
  return {
    account,
    slices: slicesOf(range, query.poll, query.mostRows, query.eventTypes.includes('Metric')),
    series: query.mostRows * query.gauges.length,
    gauges: families.map(({ name, help }) => ({ name, help, isAmount: false })),
    ask: async (slice) => {
      const lines = await divided(slice, ask, 1);
      return (_, index) => lines[index] ?? [];
    },
  };
}

/** The name of a function behind it. */
const alias = /^\s+AS\s+(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`|[^\s,]+)/iu;

/** The query with a count behind what it selects: the first function decides which groups there are. */
function withRecords(nrql: string): string {
  const last = readNrql(nrql).clauses.get('SELECT')?.at(-1);
  if (last === undefined) return nrql;
  const behind = last.at + last.length;
  const end = behind + (alias.exec(nrql.slice(behind))?.[0].length ?? 0);
  return `${nrql.slice(0, end)}, count(*) AS ${records}${nrql.slice(end)}`;
}
