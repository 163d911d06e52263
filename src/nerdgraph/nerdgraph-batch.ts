import { ApiError } from '../model/api-error.ts';
import type { PollOutcome } from '../model/poll-outcome.ts';
import { areHostsUnknown, type SelectedApplication } from '../model/selected-application.ts';
import type { Batch, Call, CallContext, Question, Stage } from '../model/source.ts';
import { type TimeWindow, windowAt } from '../model/window.ts';
import { BatchAnswers } from './batch-answers.ts';
import { failureOf } from './failures.ts';
import type { GraphqlClient } from './graphql-client.ts';
import { applicationsQuery, hostsQuery, type Query, recordedMetricsQuery } from './queries.ts';
import {
  applicationQueriesOf,
  hostQueriesOf,
  ofQuestion,
  slicesOf,
  wantedHosts,
} from './query-plan.ts';
import { isSmall, type QuerySizes } from './query-sizes.ts';
import type { RecordedMetrics } from './recorded-metrics.ts';
import type { Surprises } from './surprises.ts';

export interface BatchDependencies {
  readonly client: Pick<GraphqlClient, 'nrql'>;
  readonly sizes: QuerySizes;
  readonly recorded: RecordedMetrics;
  readonly surprises: Surprises;
}

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

class NerdGraphBatch<Asked extends Question> implements Batch<Asked> {
  readonly questions: readonly Asked[];
  readonly key: string;
  readonly #dependencies: BatchDependencies;
  readonly #answers: BatchAnswers;
  #next: readonly Query[];
  #window: TimeWindow | undefined;
  #isUnauthorized = false;
  /** Calls that polls do not count on. */
  #extraCalls: number;

  constructor(questions: readonly Asked[], dependencies: BatchDependencies) {
    this.questions = questions;
    this.key = questions[0]?.selected.application.id ?? '';
    this.#dependencies = dependencies;
    this.#answers = new BatchAnswers(dependencies.recorded);
    this.#next = firstQueriesOf(questions, this.#answers, dependencies);
    this.#extraCalls = this.#next.filter(({ isOnce }) => isOnce === true).length;
  }

  nextStage(): Stage | undefined {
    const queries = this.#next;
    this.#next = [];
    if (queries.length === 0) return undefined;
    return { size: queries.length, calls: queries.map((query) => this.#call(query)).values() };
  }

  giveUp(error: ApiError): void {
    this.#next = [];
    this.#answers.givenUp(error);
  }

  outcomeOf({ selected, isListed, askHostNames, hostNames }: Asked): PollOutcome {
    const { application, entry } = selected;
    const hosts = wantedHosts(selected).filter(isListed);
    const asked = {
      applicationId: application.id,
      application: entry.application,
      hosts,
      areHostsUnknown: areHostsUnknown(selected, hostNames),
      transactions: entry.transactions,
    };
    if (this.#answers.isWithoutHeartbeat(application.id)) {
      this.#dependencies.surprises.saw('no_heartbeat', { applicationId: application.id });
    }
    const outcome = this.#answers.outcome(asked, askHostNames ? namesOf(selected) : undefined);
    const extraCalls = this.#extraCalls;
    this.#extraCalls = 0;
    return { ...outcome, extraCalls };
  }

  #call(query: Query): Call {
    return async (context) => {
      if (this.#isUnauthorized) return false;
      try {
        await this.#ask(query, context);
        return true;
      } catch (error) {
        const known = asApiError(error);
        this.#failed(query, known);
        return known.status !== undefined;
      }
    };
  }

  async #ask(query: Query, context: CallContext): Promise<void> {
    const { client } = this.#dependencies;
    const { operation, applicationIds, mayShift } = query;
    const window = this.#windowAt(context);
    const answer = await client.nrql(
      {
        operation,
        nrql: query.nrql(window),
        window: query.windowOf(window),
        applications: applicationIds.length,
        ...(mayShift && { mayShift }),
      },
      context,
    );
    if (!answer.isTruncated) query.answered(answer);
    else if (!this.#divide(query)) {
      const purpose = { operation, applications: applicationIds.length, accountId: undefined };
      const detail = 'the answer has more rows than New Relic returns, however it is divided';
      this.#answers.failed(applicationIds, failureOf(purpose, 'too_large', detail));
    }
  }

  #failed(query: Query, error: ApiError): void {
    if (error.status === 401) this.#isUnauthorized = true;
    if (error.reason === 'too_large' && !isSmall(query.size) && this.#divide(query)) return;
    this.#answers.failed(query.applicationIds, error);
  }

  /** Asks again in two parts, if that is possible. */
  #divide(query: Query): boolean {
    this.#dependencies.sizes.tooLarge(query.size);
    const halves = query.halves();
    if (halves === undefined) return false;
    this.#next = [...this.#next, ...halves];
    this.#extraCalls += halves.length;
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
  answers: BatchAnswers,
  { sizes, recorded }: BatchDependencies,
): readonly Query[] {
  const size = sizes.current();
  const transactions = questions[0]?.selected.entry.transactions ?? [];
  const asked = questions.filter(
    ({ selected }) => selected.entry.application || wantedHosts(selected).length > 0,
  );
  const unknown = idsOf(asked).filter((id) => !recorded.isKnown(id));
  return [
    ...slicesOf(unknown, size.applications).map((ids) => recordedMetricsQuery(ids, { recorded })),
    ...applicationQueriesOf(questions, ofQuestion, size).map((some) =>
      applicationsQuery(idsOf(some), transactions, { answers }),
    ),
    ...hostQueriesOf(questions, ofQuestion, size).map(({ items, subset, rows }) =>
      hostsQuery({ ids: idsOf(items), transactions, subset, rows }, { answers }),
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

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError('client', 'the call failed because of an error in this program', {
    cause: error,
  });
}
