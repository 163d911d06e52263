import type { FailureReason } from './api-error.ts';
import type { ValueName } from './vendor-value.ts';

/** What the daemon calls the vendor for; values of the metric label `operation`. */
export const operationNames = [
  'list_applications',
  'list_hosts',
  'application_metrics',
  'host_metrics',
  'query',
] as const;
export type DaemonOperation = (typeof operationNames)[number];

/** What a vendor call is for. The names of metrics are listed only by commands, which ask once. */
export type Operation = DaemonOperation | 'list_metrics';

/** What messages call it. */
export function operationTitle(operation: Operation): string {
  return operation === 'list_metrics' ? 'metric names' : operation;
}

/** Why a value of the vendor was left out. Only of queries: there is none, or another row with the same labels. */
export const invalidSampleReasons = [
  'not_a_number',
  'not_finite',
  'negative',
  'absent',
  'duplicate',
] as const;
export type InvalidSampleReason = (typeof invalidSampleReasons)[number];

/**
 * Why series are not published: others have their labels, their query has too many, or a fault of this
 * program keeps all those of one application or query from it, which count as one.
 */
export const seriesDropReasons = ['duplicate', 'max_series', 'fault'] as const;
export type SeriesDropReason = (typeof seriesDropReasons)[number];

/**
 * How an answer of NerdGraph differs from what New Relic documents, or from what was assumed where its
 * documents say nothing: another window than the one asked for; no window; more rows than fit into an
 * answer; a row without a host; a row that cannot be read or that nobody asked for; an application that
 * reports, but of which no host does; an entity of another account than the one asked for.
 */
export const unexpectedAnswers = [
  'window',
  'host_null',
  'row',
  'no_heartbeat',
  'foreign_entity',
] as const;
/** Of the REST API: an answer for several metrics lacks values that a metric has when it is asked for alone. */
export type UnexpectedAnswer = (typeof unexpectedAnswers)[number] | 'values_missing';

/** Counts what happens on the way to the vendor; one per account. */
export interface ApiObserver {
  started(operation: Operation): void;
  /** `code` is the HTTP status, or the failure reason where no answer came. */
  ended(operation: Operation, code: string, durationSeconds: number): void;
  failed(operation: Operation, reason: FailureReason): void;
  retried(operation: Operation, reason: FailureReason): void;
  throttled(): void;
  invalidSample(reason: InvalidSampleReason): void;
  /** @param count how many there were; 0 only creates the series */
  unexpected(kind: UnexpectedAnswer, count: number): void;
}

/** Counts what the poller does; one per account. */
export interface PollObserver {
  polled(durationSeconds: number, succeeded: boolean): void;
  skipped(count: number): void;
}

/** A value that an entry asks for, and that New Relic has sent for none of its applications. */
export interface MissingMetric {
  /** The entry as it was written, such as `id=123`. */
  readonly selector: string;
  /** The Prometheus name of the gauge; that of hosts if it is read of hosts alone. */
  readonly name: string;
  /** New Relic's name of the metric; of a preset perhaps several, separated by commas. */
  readonly metric: string;
  readonly value: ValueName;
}

/** Takes the fields first, then a message that never changes, like pino. */
export interface Logger {
  /** Whether `debug` writes anything; if not, what only it needs can be spared. */
  readonly isDebugging?: boolean;
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}
