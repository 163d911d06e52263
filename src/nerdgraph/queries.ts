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
  /** What makes it large. */
  readonly size: Partial<QuerySize>;
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

/** What a query about hosts is about. */
export interface HostsQuestion {
  readonly ids: readonly string[];
  readonly transactions: readonly TransactionType[];
  readonly subset: HostSubset;
  /** Rows that the answer is expected to have. */
  readonly rows: number;
}

/** Asks for hosts of applications. */
export function hostsQuery(question: HostsQuestion, targets: Pick<QueryTargets, 'answers'>): Query {
  const { ids, transactions, subset, rows } = question;
  const half = { ...question, rows: Math.ceil(rows / 2) };
  return {
    operation: 'host_throughput',
    applicationIds: ids,
    size: { rows },
    windowOf: (window) => window,
    nrql: (window) => hostsNrql({ applicationIds: ids, window }, transactions, subset.condition),
    answered: (answer) => {
      targets.answers.hosts(ids, subset.has, answer);
    },
    halves: () => {
      if (ids.length > 1) return halved(ids, (some) => hostsQuery({ ...half, ids: some }, targets));
      const parts = halvesOf(subset);
      return (
        parts && [
          hostsQuery({ ...half, subset: parts[0] }, targets),
          hostsQuery({ ...half, subset: parts[1] }, targets),
        ]
      );
    },
  };
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
    size: { applications: ids.length },
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

function halved(
  ids: readonly string[],
  queryOf: (ids: readonly string[]) => Query,
): readonly [Query, Query] | undefined {
  if (ids.length < 2) return undefined;
  const middle = Math.ceil(ids.length / 2);
  return [queryOf(ids.slice(0, middle)), queryOf(ids.slice(middle))];
}
