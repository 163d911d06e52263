import type { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { PollOutcome } from '../model/poll-outcome.ts';
import {
  areHostsUnknown,
  asksForApplication,
  type SelectedApplication,
} from '../model/selected-application.ts';
import type { Batch, Call, CallContext, Question, Stage } from '../model/source.ts';
import { type TimeWindow, windowAt } from '../model/window.ts';
import { asApiError } from '../newrelic/as-api-error.ts';
import type { InvalidSampleListener } from '../newrelic/json.ts';
import { BatchAnswers } from './batch-answers.ts';
import { amountMetricsOf, type BatchColumns } from './column-sets.ts';
import { failureOf } from './failures.ts';
import type { GraphqlClient } from './graphql-client.ts';
import { hostQueriesOf, namesIn } from './host-query-plan.ts';
import { applicationsQuery, hostsQuery, type Query, recordedMetricsQuery } from './queries.ts';
import {
  applicationQueriesOf,
  batchColumnsOf,
  recordedQueriesOf,
  type SelectedOf,
  wantedHosts,
} from './query-plan.ts';
import { isSmall, mostDivisions, type QuerySizes } from './query-sizes.ts';
import type { RecordedMetrics } from './recorded-metrics.ts';
import type { UnexpectedAnswers } from './unexpected-answers.ts';

export interface BatchDependencies {
  readonly client: Pick<GraphqlClient, 'nrql'>;
  readonly clock: Pick<Clock, 'after'>;
  readonly sizes: QuerySizes;
  readonly recorded: RecordedMetrics;
  readonly unexpected: UnexpectedAnswers;
  readonly onInvalid: InvalidSampleListener;
  /** Finds the application of a question, with the hosts that are chosen. */
  readonly selectedOf: SelectedOf<Question>;
}

/**
 * An answer with more cells is used in a turn of the event loop after the one in which it was parsed: each
 * takes about 10 ms for 2500 hosts with all presets.
 */
const cellsPerTurn = 10_000;

/** New Relic's own window in the REST API; NRQL would take an hour. */
const defaultWindow = { kind: 'range', lengthMs: 30 * 60_000 } as const;

/**
 * Applications of one kind, with one query for up to 200 of them and a few for their hosts. A query
 * that turns out too large is asked again in two parts, in a further stage.
 */
export function createNerdGraphBatch<Asked extends Question>(
  questions: readonly Asked[],
  dependencies: BatchDependencies,
): Batch<Asked> {
  return new NerdGraphBatch(questions, dependencies);
}

/** A query of the next stage. */
interface Pending {
  readonly query: Query;
  /** How often in a row it was divided because it took too long. */
  readonly divisions: number;
  /** Whether polls do not count on it. */
  readonly isExtra: boolean;
}

class NerdGraphBatch<Asked extends Question> implements Batch<Asked> {
  readonly questions: readonly Asked[];
  readonly key: string;
  readonly #dependencies: BatchDependencies;
  readonly #answers: BatchAnswers;
  #next: readonly Pending[];
  #window: TimeWindow | undefined;
  /** The refusal of the key, which ends the batch. */
  #refusal: ApiError | undefined;
  #extraCalls = 0;

  constructor(questions: readonly Asked[], dependencies: BatchDependencies) {
    this.questions = questions;
    this.key = questions[0]?.selected.application.id ?? '';
    this.#dependencies = dependencies;
    const columns = batchColumnsOf(questions, dependencies.selectedOf);
    this.#answers = new BatchAnswers(columns, dependencies);
    const queries = firstQueriesOf(questions, columns, this.#answers, dependencies);
    this.#next = queries.map((query) => ({ query, divisions: 0, isExtra: query.isOnce === true }));
  }

  nextStage(): Stage | undefined {
    const pending = this.#next;
    this.#next = [];
    if (pending.length === 0) return undefined;
    this.#extraCalls += pending.filter(({ isExtra }) => isExtra).length;
    return { size: pending.length, calls: pending.map((one) => this.#call(one)).values() };
  }

  giveUp(error: ApiError): void {
    this.#next = [];
    this.#answers.givenUp(error);
  }

  outcomeOf(question: Asked): PollOutcome {
    const { isListed, askHostNames, hostNames } = question;
    const selected = this.#dependencies.selectedOf(question);
    const { application, entry } = selected;
    const hosts = wantedHosts(selected).filter(isListed);
    const asked = {
      applicationId: application.id,
      application: asksForApplication(selected),
      hosts,
      areHostsUnknown: areHostsUnknown(selected, hostNames),
      series: entry.series,
    };
    if (this.#answers.isWithoutHeartbeat(application.id)) {
      this.#dependencies.unexpected.saw('no_heartbeat', { app_id: application.id });
    }
    const outcome = this.#answers.outcome(asked, askHostNames ? namesOf(selected) : undefined);
    const extraCalls = this.#extraCalls;
    this.#extraCalls = 0;
    return { ...outcome, extraCalls };
  }

  #call(pending: Pending): Call {
    return async (context) => {
      if (this.#refusal !== undefined) {
        this.#answers.failed(pending.query.applicationIds, this.#refusal);
        return;
      }
      try {
        await this.#ask(pending, context);
      } catch (error) {
        this.#failed(pending, asApiError(error));
      }
    };
  }

  async #ask({ query, divisions }: Pending, context: CallContext): Promise<void> {
    const { client } = this.#dependencies;
    const { operation, applicationIds, mayShift, columns } = query;
    const window = this.#windowAt(context);
    const answer = await client.nrql(
      {
        operation,
        nrql: query.nrql(window),
        window: query.windowOf(window),
        applications: applicationIds.length,
        ...(mayShift && { mayShift }),
        ...(columns && { columns }),
      },
      context,
    );
    if (answer.rows.length * (columns?.length ?? 1) > cellsPerTurn) await this.#nextTurn();
    if (!answer.isTruncated) query.answered(answer);
    else if (!this.#divide(query, divisions)) {
      const purpose = { operation, applications: applicationIds.length, accountId: undefined };
      const detail = 'the answer has more rows than New Relic returns, however it is divided';
      this.#answers.failed(applicationIds, failureOf(purpose, 'too_large', detail));
    }
  }

  async #nextTurn(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#dependencies.clock.after(0, resolve);
    });
  }

  #failed({ query, divisions }: Pending, error: ApiError): void {
    if (error.status === 401) this.#refusal = error;
    const isAllSmall = query.size !== undefined && isSmall(query.size);
    const isDivisible = divisions < mostDivisions && !isAllSmall;
    if (error.reason === 'too_large' && isDivisible && this.#divide(query, divisions + 1)) return;
    this.#answers.failed(query.applicationIds, error);
  }

  /** Asks again in two parts, if that is possible. */
  #divide(query: Query, divisions: number): boolean {
    if (query.size !== undefined) this.#dependencies.sizes.tooLarge(query.size);
    const halves = query.halves();
    if (halves === undefined) return false;
    const parts = halves.map((half) => ({ query: half, divisions, isExtra: true }));
    this.#next = [...this.#next, ...parts];
    return true;
  }

  /** The window is the same for all queries. */
  #windowAt({ wallMs }: CallContext): TimeWindow {
    if (this.#window !== undefined) return this.#window;
    const poll = this.questions[0]?.selected.entry.poll;
    const delayMs = poll?.delayMs ?? 0;
    const window =
      windowAt(wallMs, poll?.window ?? defaultWindow, delayMs) ??
      windowAt(wallMs, defaultWindow, delayMs);
    if (window === undefined) throw new Error('a range has a window');
    this.#window = window;
    return window;
  }
}

function firstQueriesOf(
  questions: readonly Question[],
  columns: BatchColumns,
  answers: BatchAnswers,
  { sizes, recorded, selectedOf }: BatchDependencies,
): readonly Query[] {
  const size = sizes.current();
  const metrics = amountMetricsOf(columns);
  const unknown = questions.filter(
    ({ selected }) => !recorded.isKnown(selected.application.id, metrics),
  );
  const targets = { answers, recorded };
  return [
    ...recordedQueriesOf(unknown, columns, selectedOf, size).map((query) =>
      recordedMetricsQuery(idsOf(query.items), query.metrics, targets),
    ),
    ...applicationQueriesOf(questions, columns, selectedOf, size).map((query) =>
      applicationsQuery(idsOf(query.items), query.columns, targets),
    ),
    ...hostQueriesOf(questions, columns, selectedOf, size).map(
      ({ items, subset, columns: set }) => {
        const asked = items.map(selectedOf).map((one) => ({
          id: one.application.id,
          names: namesIn(subset, one),
        }));
        return hostsQuery({ asked, columns: set, subset }, targets);
      },
    ),
  ];
}

function idsOf(questions: readonly Question[]): readonly string[] {
  return questions.map(({ selected }) => selected.application.id);
}

/** In this API the name of a host is its id. */
function namesOf({ application, namedHostIds }: SelectedApplication): ReadonlyMap<string, string> {
  const names = application.hostIds ?? namedHostIds ?? [];
  return new Map(names.map((name) => [name, name]));
}
