import { type ApiError, asApiError } from '../model/api-error.ts';
import type { Query } from '../model/config.ts';
import { applicationScope, type PollOutcome } from '../model/poll-outcome.ts';
import type { Batch, CallContext, Question, Stage } from '../model/source.ts';
import { type TimeWindow, windowAt } from '../model/window.ts';
import type { InvalidSampleListener } from '../newrelic/json.ts';
import type { GraphqlClient } from './graphql-client.ts';
import { type QueryAnswer, queryAnswerOf } from './query-answer.ts';
import type { UnexpectedAnswers } from './unexpected-answers.ts';

export interface QueryBatchDependencies {
  readonly client: Pick<GraphqlClient, 'query'>;
  readonly unexpected: UnexpectedAnswers;
  readonly onInvalid: InvalidSampleListener;
}

/** One query of the configuration: one call. */
export class QueryBatch<Asked extends Question> implements Batch<Asked> {
  readonly questions: readonly Asked[];
  readonly key: string;
  readonly #query: Query;
  readonly #dependencies: QueryBatchDependencies;
  #isAsked = false;
  #answer: QueryAnswer | undefined;
  #error: ApiError | undefined;

  constructor(question: Asked, query: Query, dependencies: QueryBatchDependencies) {
    this.questions = [question];
    this.key = question.selected.application.id;
    this.#query = query;
    this.#dependencies = dependencies;
  }

  nextStage(): Stage | undefined {
    if (this.#isAsked) return undefined;
    this.#isAsked = true;
    const call = async (context: CallContext): Promise<void> => {
      try {
        const answer = await this.#ask(context);
        // What comes after the deadline has failed all the same.
        if (this.#error === undefined) this.#answer = answer;
      } catch (error) {
        this.#error ??= asApiError(error);
      }
    };
    return { size: 1, calls: [call].values() };
  }

  giveUp(error: ApiError): void {
    if (this.#answer === undefined) this.#error ??= error;
  }

  outcomeOf(): PollOutcome {
    const answer = this.#answer;
    return {
      reading: answer && {
        windowEndMs: answer.window.toMs,
        series: [],
        application: [],
        hosts: new Map(),
        query: answer.result,
      },
      error: this.#error,
      failed: new Set(answer === undefined ? [applicationScope] : []),
      partCount: 1,
      gone: false,
      unauthorized: this.#error?.status === 401,
      hostNames: undefined,
      hostNamesError: undefined,
      extraCalls: 0,
    };
  }

  async #ask(context: CallContext): Promise<QueryAnswer> {
    const { client, unexpected, onInvalid } = this.#dependencies;
    const query = this.#query;
    const window = windowOf(query, context.wallMs);
    const nrql = `${query.nrql} SINCE ${window.fromMs} UNTIL ${window.toMs}`;
    return client.query(
      { query: query.name, nrql },
      (part, purpose) => queryAnswerOf(part, { query, purpose, window, unexpected, onInvalid }),
      context,
    );
  }
}

/** New Relic's own window in the REST API, for queries that name none. */
const defaultWindow = { kind: 'range', lengthMs: 30 * 60_000 } as const;

function windowOf({ poll }: Query, wallMs: number): TimeWindow {
  const window =
    windowAt(wallMs, poll.window, poll.delayMs) ?? windowAt(wallMs, defaultWindow, poll.delayMs);
  if (window === undefined) throw new Error('a range has a window');
  return window;
}
