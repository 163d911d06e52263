import { countedNrql } from '../../config/counted-nrql.ts';
import type { ToolPlatform } from '../../daemon/platform.ts';
import { ApiError, asApiError } from '../../model/api-error.ts';
import type { Query } from '../../model/config.ts';
import type { PollOutcome } from '../../model/poll-outcome.ts';
import type { Values } from '../../model/polled-series.ts';
import { labelsOf, type SelectedApplication } from '../../model/selected-application.ts';
import type { ApplicationQuestion } from '../../model/source.ts';
import type { TimeWindow } from '../../model/window.ts';
import { createUnexpectedAnswers } from '../../newrelic/answer.ts';
import { Answers, SeenMetrics } from '../../newrelic/nerdgraph/answers.ts';
import { metricsNrql } from '../../newrelic/nerdgraph/nrql.ts';
import { nrqlAnswerOf } from '../../newrelic/nerdgraph/nrql-answer.ts';
import { nrqlValueOf } from '../../newrelic/nerdgraph/nrql-values.ts';
import { queryReadingOf } from '../../newrelic/nerdgraph/query-answer.ts';
import {
  groupsOf,
  halvesOf,
  type PlannedQuery,
  plannedQueries,
  rowsOf,
  undivided,
} from '../../newrelic/nerdgraph/query-plan.ts';
import { polledFamilies, queryFamiliesOf } from '../../publish/families.ts';
import { type FamilyHead, renderApplication, renderQuery } from '../../publish/render.ts';
import { type OpenAccount } from '../survey/ask.ts';
import { sumOf } from '../survey/call-plan.ts';
import {
  askSeries,
  cut,
  inGroups,
  marks,
  type Page,
  type SampleRange,
  type Slice,
  slicesNow,
  slicesOf,
} from './slices.ts';

/** One query of the polls, through time. */
export interface Chain {
  readonly account: OpenAccount;
  /** What it asks about, in words. */
  readonly subject: string;
  readonly slices: readonly Slice[];
  readonly gauges: readonly FamilyHead[];
  readonly nrqlOf: (range: TimeWindow) => string;
  readonly ask: (slice: Slice) => Promise<readonly Page[]>;
}

const notAsked = new ApiError('client', 'it was not asked.');
/** What a snapshot has that is not shown here. */
const rest = { pollSucceeded: undefined, failureReason: undefined, lastSuccessMs: undefined };

/** What the answers of an account are read with. */
function readingOf({ account: { name }, asking }: OpenAccount) {
  return {
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
  const how = readingOf(account);
  const questions = all.map((selected) => ({ kind: 'application' as const, selected }));
  const byId = new Map(questions.map((one) => [one.selected.application.id, one]));
  return groupsOf(questions).flatMap((group) =>
    plannedQueries(group, () => () => undivided).map((query): Chain => {
      const asked = query.applicationIds.flatMap((id) => byId.get(id) ?? []);
      const counts = asked.map((one) => (query.subject === 'hosts' ? rowsOf(one.selected) : 1));
      const rows = Math.ceil(sumOf(counts) / query.parts);
      const poll = asked[0]?.selected.entry.poll;
      const ask = async (slice: Slice, count: number): Promise<readonly Page[]> => {
        const pages: Page[] = [];
        for (const part of inParts(query, count)) {
          pages.push(...(await askPart(account, part, byId, slice, how)));
        }
        return pages;
      };
      const names = asked.map(({ selected }) => selected.application.name).join(', ');
      return {
        account,
        subject: `${query.subject === 'hosts' ? 'hosts of ' : ''}${names}`,
        slices: poll === undefined ? [] : slicesOf(range, poll, rows, true),
        gauges: asked.flatMap(({ selected }) => polledFamilies(selected.entry.series)),
        nrqlOf: (window) => metricsNrql({ ...query, window }),
        ask: async (slice) => divided(slice, mostParts, ask, account.platform),
      };
    }),
  );
}

async function askPart(
  account: OpenAccount,
  query: PlannedQuery,
  byId: ReadonlyMap<string, ApplicationQuestion>,
  slice: Slice,
  how: ReturnType<typeof readingOf>,
): Promise<readonly Page[]> {
  const { name, source } = account.account;
  const { operation, applicationIds } = query;
  const { accountId } = source;
  const purpose = { operation, applications: applicationIds.length, accountId };
  const asked = applicationIds.flatMap((id) => byId.get(id) ?? []);
  const nrqlOf = (window: TimeWindow): string => metricsNrql({ ...query, window });
  const had = new SeenMetrics();
  // What was before the slice is not known here: no zero is left out.
  const seen = { has: () => true, saw: had.saw.bind(had), keepHosts: () => undefined };
  return askSeries(account, nrqlOf, slice, { purpose, count: 'calls' }, (part, window) => {
    const answers = new Answers([query], { ...how, seen });
    const mayBeAbout = (stated: TimeWindow): boolean => answers.isAbout(stated);
    answers.answered(query, nrqlAnswerOf(part, { ...query, ...how, purpose, window, mayBeAbout }));
    return () => asked.flatMap((one) => linesOf(name, one, answers.outcome(one, notAsked), had));
  });
}

/** What a page would have of the application, by the same code, and marks. The name of a host is its id. */
function linesOf(
  account: string,
  { selected }: ApplicationQuestion,
  { reading }: PollOutcome,
  had: SeenMetrics,
): readonly string[] {
  const { application, entry } = selected;
  if (reading === undefined) return [];
  const marked = (values: Values, host?: string): Values =>
    reading.series.map((one, index) => {
      const value = values[index];
      if ((value ?? 0) !== 0 || !nrqlValueOf(one).isAmount) return value;
      if (had.has(application.id, host, one.metric)) return value ?? marks.hidden;
      return value === undefined ? undefined : marks.ifBefore;
    });
  const hosts = Array.from(reading.hosts, ([id, values]) => [id, marked(values, id)] as const);
  const shown = { ...reading, application: marked(reading.application), hosts: new Map(hosts) };
  const of = { account, application, hostsOnly: !entry.application, reading: shown };
  const snapshot = { ...rest, ...of, hostNames: new Map(), labels: labelsOf(selected) };
  return textOf(renderApplication(snapshot, polledFamilies(entry.series)).bytes);
}

function textOf(bytes: Buffer): readonly string[] {
  return bytes.toString().split('\n').slice(0, -1);
}

/** Queries for one window at most. */
const mostParts = 1024;

/**
 * The pages of all windows of a slice, by the hour of what is too old by now; if that is too much for one answer, or
 * refused, which may be for a lower limit of windows, those of its halves. A single window that is too much is asked
 * for in parts: twice as many each time, up to `most`.
 */
async function divided(
  slice: Slice,
  most: number,
  ask: (slice: Slice, parts: number) => Promise<readonly Page[]>,
  platform: Pick<ToolPlatform, 'clock'>,
  parts = 1,
): Promise<readonly Page[]> {
  const pieces = slicesNow(slice, platform.clock.wallMs());
  if (pieces[0] !== slice) return allOf(pieces, async (one) => divided(one, most, ask, platform));
  try {
    return await ask(slice, parts);
  } catch (error) {
    const { windows } = slice;
    const { reason, status } = asApiError(error);
    const isTooMuch = reason === 'too_large' || reason === 'timeout';
    const mayBeLess = windows > 1 ? isTooMuch || status === 400 : isTooMuch && parts < most;
    if (!mayBeLess) throw error;
    if (windows === 1) return divided(slice, most, ask, platform, 2 * parts);
    const halves = cut(slice, Math.ceil(windows / 2));
    return allOf(halves, async (one) => divided(one, most, ask, platform));
  }
}

/** The pages of slices, one after the other. */
async function allOf(
  slices: readonly Slice[],
  ask: (slice: Slice) => Promise<readonly Page[]>,
): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (const one of slices) pages.push(...(await ask(one)));
  return pages;
}

/** The query in so many parts: of its applications, and then of the hosts of each. */
function inParts(query: PlannedQuery, count: number): readonly PlannedQuery[] {
  const { applicationIds: ids, subject } = query;
  const hosts = subject === 'hosts' ? halvesOf([], Math.floor(count / ids.length), query) : [query];
  return inGroups(ids, Math.ceil(ids.length / count)).flatMap((applicationIds) =>
    hosts.map(({ condition, asksFor }) => ({ ...query, applicationIds, condition, asksFor })),
  );
}

/** What tells a group without data in a window from one whose values are 0. */
const records = 'backfill_records';

/** @param rows of all windows together, as far as is known now */
export function queryChain(
  account: OpenAccount,
  query: Query,
  range: SampleRange,
  rows: number,
): Chain {
  const how = readingOf(account);
  const purpose = { operation: 'query', accountId: account.account.source.accountId } as const;
  const names = new Set(query.gauges.map(({ name }) => name));
  const families = queryFamiliesOf(query).filter(({ name }) => names.has(name));
  const { nrql, count, isExact, sortedBy } = countedNrql(query.nrql, records);
  const nrqlOf = ({ fromMs, toMs }: TimeWindow): string => `${nrql} SINCE ${fromMs} UNTIL ${toMs}`;
  const about = { ...how, purpose, count: isExact ? count : undefined };
  const series = { purpose, count, limit: query.mostRows, sortedBy };
  const ask = async (slice: Slice): Promise<readonly Page[]> =>
    askSeries(account, nrqlOf, slice, series, (part, window) => {
      const reading = queryReadingOf(part, query, { ...about, window });
      return () => textOf(renderQuery({ ...rest, query, reading }, families).bytes);
    });
  return {
    account,
    subject: `query ${query.name}`,
    slices: slicesOf(range, query.poll, rows, query.eventTypes.includes('Metric')),
    gauges: families,
    nrqlOf,
    ask: async (slice) => divided(slice, 1, ask, account.platform),
  };
}
