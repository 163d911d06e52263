import type { TransactionType } from '../model/application.ts';
import { transactionTypes } from '../model/application.ts';
import type { Operation } from '../model/telemetry.ts';
import type { TimeWindow } from '../model/window.ts';
import { metricNames } from '../newrelic/metric-names.ts';
import type { BatchAnswers } from './batch-answers.ts';
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
  transactions: readonly TransactionType[],
  targets: Pick<QueryTargets, 'answers'>,
): Query {
  return {
    operation: 'application_throughput',
    applicationIds: ids,
    size: { applications: ids.length },
    windowOf: (window) => window,
    nrql: (window) => applicationsNrql({ applicationIds: ids, window }, transactions),
    answered: (answer) => {
      targets.answers.applications(ids, answer);
    },
    halves: () => halved(ids, (half) => applicationsQuery(half, transactions, targets)),
  };
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
  readonly transactions: readonly TransactionType[];
  readonly subset: HostSubset;
}

/** Asks for hosts of applications. */
export function hostsQuery(question: HostsQuestion, targets: Pick<QueryTargets, 'answers'>): Query {
  const { asked, transactions, subset } = question;
  const ids = asked.map(({ id }) => id);
  const hosts = asked.reduce((sum, { names }) => sum + names.length, 0);
  return {
    operation: 'host_throughput',
    applicationIds: ids,
    // One row for each type of transactions, and one for the heartbeat.
    size: { rows: hosts * (transactions.length + 1) },
    windowOf: (window) => window,
    nrql: (window) => hostsNrql({ applicationIds: ids, window }, transactions, subset.condition),
    answered: (answer) => {
      targets.answers.hosts(ids, subset.has, answer);
    },
    halves: () =>
      halved(asked, (some) => hostsQuery({ ...question, asked: some }, targets)) ??
      halvedHosts(question, targets),
  };
}

/** Two queries for the hosts of a single application. */
function halvedHosts(
  { asked, transactions, subset }: HostsQuestion,
  targets: Pick<QueryTargets, 'answers'>,
): readonly [Query, Query] | undefined {
  const halves = halvesOf(
    subset,
    asked.flatMap(({ names }) => names),
  );
  const queryOf = (half: HostSubset): Query => {
    const inHalf = asked.map(({ id, names }) => ({ id, names: names.filter(half.has) }));
    return hostsQuery({ asked: inHalf, transactions, subset: half }, targets);
  };
  return halves && [queryOf(halves[0]), queryOf(halves[1])];
}

const dayMs = 24 * 3_600_000;

function dayBefore({ toMs }: TimeWindow): TimeWindow {
  return { fromMs: toMs - dayMs, toMs };
}

/** Asks which of the throughput metrics applications have had in the last day. */
export function recordedMetricsQuery(
  ids: readonly string[],
  targets: Pick<QueryTargets, 'recorded'>,
): Query {
  return {
    operation: 'application_throughput',
    applicationIds: ids,
    // A day of one application may take longer than half an hour of two hundred.
    size: undefined,
    windowOf: dayBefore,
    mayShift: true,
    isOnce: true,
    nrql: (window) => recordedMetricsNrql({ applicationIds: ids, window: dayBefore(window) }),
    answered: ({ rows }) => {
      for (const { applicationId, metric } of rows) {
        const type = transactionTypes.find((known) => metricNames[known] === metric);
        if (type !== undefined) targets.recorded.saw(applicationId, type);
      }
      targets.recorded.known(ids);
    },
    halves: () => halved(ids, (half) => recordedMetricsQuery(half, targets)),
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
