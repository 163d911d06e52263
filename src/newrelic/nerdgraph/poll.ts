import { ApiError, asApiError } from '../../model/api-error.ts';
import { type QueryOutcome, queryOutcomeOf } from '../../model/poll-outcome.ts';
import type {
  ApplicationQuestion,
  Call,
  CallContext,
  PollCalls,
  Polled,
  QueryQuestion,
  Question,
} from '../../model/source.ts';
import { pollWindow, type TimeWindow } from '../../model/window.ts';
import type { UnexpectedAnswers } from '../answer.ts';
import type { VendorTime } from '../calls/vendor-clock.ts';
import { Answers, type AnswersContext } from './answers.ts';
import type { GraphqlClient } from './graphql-client.ts';
import { type PlannedQuery, queriesOf } from './query-plan.ts';
import type { EndedQuery, QuerySizes } from './query-sizes.ts';

/** What all polls of an account share. */
export interface PollContext extends AnswersContext {
  readonly client: GraphqlClient;
  readonly sizes: QuerySizes;
  readonly unexpected: UnexpectedAnswers;
  readonly vendorClock: VendorTime;
}

/** A poll that has begun. */
interface Poll {
  readonly calls: readonly Call[];
  /** What its calls have shown. To be called once. @param late why the rest has failed */
  readonly polled: (late: ApiError) => Iterable<Polled>;
}

const neverAsked = new ApiError('timeout', 'it was not asked.');
const askedLater = new ApiError(
  'timeout',
  'it was not asked: a query about it has failed, and the budget leaves no room to ask it apart each time. Raise requests_per_minute.',
);

/**
 * Asks about one group: a query of the configuration, or applications of one kind. Those have one query for
 * up to 200 of them and a few for their hosts. Yields as `Source.poll` does.
 */
export async function* pollGroup(
  asked: () => readonly Question[],
  calls: PollCalls,
  signal: AbortSignal,
  context: PollContext,
): AsyncGenerator<Polled, undefined> {
  let begun: Poll | undefined;
  const poll = (): Poll => (begun ??= begin(asked(), calls, signal, context));
  function* planned(): Generator<Call, undefined> {
    yield* poll().calls;
    return undefined;
  }
  const foreseen = sizeOf(asked(), calls, context);
  await calls.run(() => begun?.calls.length ?? foreseen, planned());
  if (!signal.aborted) yield* poll().polled(neverAsked);
  else if (signal.reason instanceof ApiError) yield* poll().polled(signal.reason);
  return undefined;
}

function sizeOf(questions: readonly Question[], calls: PollCalls, context: PollContext): number {
  const applications = questions.filter((one) => one.kind === 'application');
  if (applications.length === 0) return 1;
  return plannedQueries(applications, calls, context).filter(isNow).length;
}

function plannedQueries(
  questions: readonly ApplicationQuestion[],
  calls: PollCalls,
  { sizes }: PollContext,
): readonly PlannedQuery[] {
  return queriesOf(questions, sizes.within(calls.spare?.() ?? Number.POSITIVE_INFINITY));
}

function isNow({ when }: PlannedQuery): boolean {
  return when !== 'later';
}

function begin(
  questions: readonly Question[],
  calls: PollCalls,
  signal: AbortSignal,
  context: PollContext,
): Poll {
  const [first] = questions;
  if (first?.kind === 'query') return queryPoll(first, signal, context);
  const applications = questions.filter((one) => one.kind === 'application');
  const queries = plannedQueries(applications, calls, context);
  return applicationPoll(applications, queries, signal, context);
}

/** The next poll may be an hour away. */
const mostMoreQueries = 2;

/** One call. It is made again if its answer shows that its window was cut by a wrong clock. */
function queryPoll(
  question: QueryQuestion,
  signal: AbortSignal,
  { client, vendorClock }: PollContext,
): Poll {
  const { query } = question;
  let outcome: QueryOutcome | undefined;
  const isOurs = (): boolean => vendorClock.skewSeconds() === undefined;
  const ask = async (context: CallContext, left: number): ReturnType<GraphqlClient['query']> => {
    const wasOurs = isOurs();
    const read = await client.query(query, pollWindow(query.poll, vendorClock.wallMs()), context);
    return left === 0 || wasOurs === isOurs() ? read : ask(context, left - 1);
  };
  const call: Call = async (context) => {
    const result = await ask(context, mostMoreQueries).catch(asApiError);
    // What comes after the deadline has failed.
    if (!signal.aborted) outcome = queryOutcomeOf(result);
  };
  return {
    calls: [call],
    polled: (late) => [{ kind: 'query', question, outcome: outcome ?? queryOutcomeOf(late) }],
  };
}

function applicationPoll(
  questions: readonly ApplicationQuestion[],
  queries: readonly PlannedQuery[],
  signal: AbortSignal,
  context: PollContext,
): Poll {
  const { client, sizes, unexpected } = context;
  const answers = new Answers(queries, context);
  const ended: EndedQuery[] = [];
  const mayBeAbout = (stated: TimeWindow): boolean => answers.isAbout(stated);
  let window: TimeWindow | undefined;
  /** The refusal of the key: what was not asked for yet is refused as well. */
  let refusal: ApiError | undefined;

  const ask = async (
    query: PlannedQuery,
    callContext: CallContext,
  ): Promise<ApiError | undefined> => {
    // The same for all queries.
    window ??= pollWindow(questions[0]?.selected.entry.poll, callContext.wallMs);
    try {
      const answer = await client.nrql({ ...query, window, mayBeAbout }, callContext);
      if (!signal.aborted) answers.answered(query, answer);
      return undefined;
    } catch (error) {
      return asApiError(error);
    }
  };
  const callFor =
    (query: PlannedQuery): Call =>
    async (callContext) => {
      // What has failed before is a retry itself.
      const isRepeated = callContext.isRepeated === true || query.when !== 'usual';
      const error = refusal ?? (await ask(query, { ...callContext, isRepeated }));
      // What was cut off says nothing about its size.
      if (signal.aborted) return;
      if (error?.status === 401) refusal = error;
      if (error !== undefined) answers.failed(query.applicationIds, error);
      ended.push({ ...query, error });
    };
  return {
    calls: queries.filter(isNow).map(callFor),
    *polled(late) {
      sizes.ended(ended);
      for (const query of queries) {
        if (!isNow(query)) answers.failed(query.applicationIds, askedLater);
      }
      for (const question of questions) {
        const { id } = question.selected.application;
        if (answers.isWithoutHeartbeat(id)) unexpected.saw('no_heartbeat', { app_id: id });
        yield { kind: 'application', question, outcome: answers.outcome(question, late) };
      }
    },
  };
}
