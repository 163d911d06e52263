import { type ApiError, asApiError } from '../../model/api-error.ts';
import type { PollOutcome } from '../../model/poll-outcome.ts';
import type { Batch, Call, CallContext, Question, Stage } from '../../model/source.ts';
import type { TimeWindow } from '../../model/window.ts';
import type { InvalidSampleListener } from '../json.ts';
import { BatchAnswers } from './batch-answers.ts';
import type { GraphqlClient } from './graphql-client.ts';
import { metricsNrql, pollWindow } from './nrql.ts';
import { type PlannedQuery, queriesOf } from './query-plan.ts';
import type { EndedQuery, QuerySizes } from './query-sizes.ts';
import type { SeenMetrics } from './seen-metrics.ts';
import type { UnexpectedAnswers } from './unexpected-answers.ts';

export interface BatchDependencies {
  readonly client: Pick<GraphqlClient, 'nrql'>;
  readonly sizes: QuerySizes;
  readonly seen: SeenMetrics;
  readonly unexpected: UnexpectedAnswers;
  readonly onInvalid: InvalidSampleListener;
}

const operations = { applications: 'application_metrics', hosts: 'host_metrics' } as const;

/** Applications of one kind, with one query for up to 200 of them and a few for their hosts. */
export class NerdGraphBatch<Asked extends Question> implements Batch<Asked> {
  readonly questions: readonly Asked[];
  readonly key: string;
  readonly #dependencies: BatchDependencies;
  readonly #answers: BatchAnswers;
  readonly #queries: readonly PlannedQuery[];
  readonly #ended: EndedQuery[] = [];
  #state: 'new' | 'asked' | 'ended' = 'new';
  #window: TimeWindow | undefined;
  /** The refusal of the key, which ends the batch. */
  #refusal: ApiError | undefined;

  constructor(questions: readonly Asked[], dependencies: BatchDependencies) {
    this.questions = questions;
    this.key = questions[0]?.selected.application.id ?? '';
    this.#dependencies = dependencies;
    this.#queries = queriesOf(questions, (id) => dependencies.sizes.divisionOf(id));
    this.#answers = new BatchAnswers(this.#queries, dependencies);
  }

  nextStage(): Stage | undefined {
    if (this.#state !== 'new') return undefined;
    this.#state = 'asked';
    const calls = this.#queries.map((query) => this.#call(query));
    return { size: calls.length, calls: calls.values() };
  }

  giveUp(error: ApiError): void {
    this.#end();
    this.#answers.givenUp(error);
  }

  outcomeOf({ selected, askHostNames }: Asked): PollOutcome {
    this.#end();
    const { id } = selected.application;
    if (this.#answers.isWithoutHeartbeat(id)) {
      this.#dependencies.unexpected.saw('no_heartbeat', { app_id: id });
    }
    return this.#answers.outcome(selected, askHostNames);
  }

  /** What fails from now on was cut off, and says nothing about its size. */
  #end(): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#dependencies.sizes.ended(this.#ended);
  }

  #call(query: PlannedQuery): Call {
    return async (context) => {
      const error = this.#refusal ?? (await this.#ask(query, context));
      if (error?.status === 401) this.#refusal = error;
      if (error !== undefined) this.#answers.failed(query.applicationIds, error);
      const { subject, applicationIds, parts } = query;
      this.#ended.push({ subject, applicationIds, parts, error });
    };
  }

  /** Resolves with what went wrong. */
  async #ask(query: PlannedQuery, context: CallContext): Promise<ApiError | undefined> {
    const { applicationIds, facets, hosts, subject } = query;
    const { columns } = query.columns;
    const { condition } = hosts;
    // The same for all queries.
    this.#window ??= pollWindow(this.questions[0]?.selected.entry.poll, context.wallMs);
    const window = this.#window;
    const question = {
      operation: operations[subject],
      nrql: metricsNrql({ applicationIds, window, facets, columns, condition }),
      window,
      facets,
      applicationIds,
      asksFor: hosts.has,
      mayBeAbout: (stated: TimeWindow) => this.#answers.isAbout(stated),
      columns: columns.map(({ name }) => name),
    };
    try {
      this.#answers.answered(query, await this.#dependencies.client.nrql(question, context));
      return undefined;
    } catch (error) {
      return asApiError(error);
    }
  }
}
