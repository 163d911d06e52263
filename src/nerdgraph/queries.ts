import type { Operation } from '../model/telemetry.ts';
import type { TimeWindow } from '../model/window.ts';
import type { BatchAnswers } from './batch-answers.ts';
import type { ColumnSet } from './column-sets.ts';
import { type HostSubset, halvesOf } from './host-partition.ts';
import { applicationsNrql, hostsNrql, recordedMetricsNrql } from './nrql.ts';
import type { NrqlAnswer } from './nrql-answer.ts';
import type { QuerySize } from './query-sizes.ts';
import type { RecordedMetrics } from './recorded-metrics.ts';

/** One query of a batch. */
export interface Query {
  readonly operation: Operation;
  readonly applicationIds: readonly string[];
  /** What makes it large; `undefined` if that says nothing about later queries. */
  readonly size: Partial<QuerySize> | undefined;
  /** The window that it asks for, if the batch is about this one. */
  windowOf(window: TimeWindow): TimeWindow;
  /** Whether it does not matter if New Relic moves the ends of that window a little. */
  readonly mayShift?: true;
  /** Whether it is asked only once for an application. */
  readonly isOnce?: true;
  /** The names of its columns, if it asks for more than calls. */
  readonly columns?: readonly string[];
  nrql(window: TimeWindow): string;
  /** Passes on a complete answer. */
  answered(answer: NrqlAnswer): void;
  /** Queries that ask for the same in two parts; `undefined` if it cannot be divided. */
  halves(): readonly [Query, Query] | undefined;
}

export interface QueryTargets {
  readonly answers: BatchAnswers;
  readonly recorded: RecordedMetrics;
}

/** Asks for whole applications. */
export function applicationsQuery(
  ids: readonly string[],
  columns: ColumnSet,
  targets: Pick<QueryTargets, 'answers'>,
): Query {
  return {
    operation: 'application_metrics',
    applicationIds: ids,
    size: { applications: ids.length },
    windowOf: (window) => window,
    columns: namesOf(columns),
    nrql: (window) => applicationsNrql({ applicationIds: ids, window }, columns.columns),
    answered: (answer) => {
      targets.answers.applications(ids, columns, answer);
    },
    halves: () => halved(ids, (half) => applicationsQuery(half, columns, targets)),
  };
}

function namesOf({ columns }: ColumnSet): readonly string[] {
  return columns.map(({ name }) => name);
}

/** An application of a query about hosts. */
export interface AskedHosts {
  readonly id: string;
  /** The names of the hosts that the answer is expected to have. */
  readonly names: readonly string[];
}

/** What a query about hosts is about. */
export interface HostsQuestion {
  readonly asked: readonly AskedHosts[];
  readonly columns: ColumnSet;
  readonly subset: HostSubset;
}

/** Asks for hosts of applications. */
export function hostsQuery(question: HostsQuestion, targets: Pick<QueryTargets, 'answers'>): Query {
  const { asked, columns, subset } = question;
  const ids = asked.map(({ id }) => id);
  const hosts = asked.reduce((sum, { names }) => sum + names.length, 0);
  return {
    operation: 'host_metrics',
    applicationIds: ids,
    size: { rows: hosts },
    windowOf: (window) => window,
    columns: namesOf(columns),
    nrql: (window) => hostsNrql({ applicationIds: ids, window }, columns.columns, subset.condition),
    answered: (answer) => {
      targets.answers.hosts(ids, subset.has, columns, answer);
    },
    halves: () =>
      halved(asked, (some) => hostsQuery({ ...question, asked: some }, targets)) ??
      halvedHosts(question, targets),
  };
}

/** Two queries for the hosts of a single application. */
function halvedHosts(
  { asked, columns, subset }: HostsQuestion,
  targets: Pick<QueryTargets, 'answers'>,
): readonly [Query, Query] | undefined {
  const halves = halvesOf(
    subset,
    asked.flatMap(({ names }) => names),
  );
  const queryOf = (half: HostSubset): Query => {
    const inHalf = asked.map(({ id, names }) => ({ id, names: names.filter(half.has) }));
    return hostsQuery({ asked: inHalf, columns, subset: half }, targets);
  };
  return halves && [queryOf(halves[0]), queryOf(halves[1])];
}

const dayMs = 24 * 3_600_000;

function dayBefore({ toMs }: TimeWindow): TimeWindow {
  return { fromMs: toMs - dayMs, toMs };
}

/** Asks which of these metrics applications have had in the last day. */
export function recordedMetricsQuery(
  ids: readonly string[],
  metrics: readonly string[],
  targets: Pick<QueryTargets, 'recorded'>,
): Query {
  return {
    operation: 'application_metrics',
    applicationIds: ids,
    // A day of one application may take longer than half an hour of two hundred.
    size: undefined,
    windowOf: dayBefore,
    mayShift: true,
    isOnce: true,
    nrql: (window) =>
      recordedMetricsNrql({ applicationIds: ids, window: dayBefore(window) }, metrics),
    answered: ({ rows }) => {
      for (const { applicationId, metric } of rows) {
        if (metric !== undefined) targets.recorded.saw(applicationId, metric);
      }
      targets.recorded.known(ids, metrics);
    },
    halves: () =>
      halved(ids, (half) => recordedMetricsQuery(half, metrics, targets)) ??
      halved(metrics, (half) => recordedMetricsQuery(ids, half, targets)),
  };
}

function halved<Item>(
  items: readonly Item[],
  queryOf: (items: readonly Item[]) => Query,
): readonly [Query, Query] | undefined {
  if (items.length < 2) return undefined;
  const middle = Math.ceil(items.length / 2);
  return [queryOf(items.slice(0, middle)), queryOf(items.slice(middle))];
}
