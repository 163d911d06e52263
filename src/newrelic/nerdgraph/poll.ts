import pLimit from 'p-limit';
import { ApiError, asApiError } from '../../model/api-error.ts';
import type { Permit } from '../../model/permit.ts';
import { queryOutcomeOf } from '../../model/poll-outcome.ts';
import type {
  ApplicationQuestion,
  Polled,
  PollOptions,
  QueryQuestion,
  Question,
  RequestContext,
} from '../../model/source.ts';
import { minuteMs } from '../../model/time.ts';
import { pollWindow, type TimeWindow } from '../../model/window.ts';
import type { UnexpectedAnswers } from '../answer.ts';
import type { AccountCalls } from '../calls/account-calls.ts';
import type { VendorTime } from '../calls/vendor-clock.ts';
import { Answers, type AnswersContext } from './answers.ts';
import type { GraphqlClient } from './graphql-client.ts';
import { type PlannedQuery, plannedQueries } from './query-plan.ts';
import type { EndedQuery, QuerySizes } from './query-sizes.ts';

/** What all polls of an account share. */
export interface NerdGraphPoll extends AnswersContext {
  readonly client: GraphqlClient;
  readonly calls: AccountCalls;
  readonly sizes: QuerySizes;
  readonly unexpected: UnexpectedAnswers;
  readonly vendorClock: VendorTime;
}

const notAsked = new ApiError('timeout', 'it was not asked.');
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
  how: PollOptions,
  context: NerdGraphPoll,
): AsyncGenerator<Polled, undefined> {
  const { job, signal } = how;
  const turn = context.calls.take(job, signal);
  // More may join until then.
  const permit = await turn.catch(() => undefined);
  try {
    const questions = signal.aborted ? [] : asked();
    const [first] = questions;
    if (first?.kind === 'query') {
      const polled = await pollQuery(first, turn, how, context);
      if (!signal.aborted) yield polled;
    } else {
      const applications = questions.filter((one) => one.kind === 'application');
      yield* await pollApplications(applications, turn, how, context);
    }
  } finally {
    permit?.release('unsent');
  }
  return undefined;
}

/** Makes a call when its turn has come. Resolves to the error if there is one. */
async function inTurn<Result>(
  turn: Promise<Permit>,
  call: (permit: Permit) => Promise<Result>,
): Promise<Result | ApiError> {
  let permit: Permit | undefined;
  try {
    permit = await turn;
    return await call(permit);
  } catch (error) {
    return asApiError(error);
  } finally {
    permit?.release('unsent');
  }
}

/** The next poll may be an hour away. */
const mostMoreQueries = 2;

/** One call. It is made again if its answer shows that its window was cut by a wrong clock. */
async function pollQuery(
  question: QueryQuestion,
  turn: Promise<Permit>,
  { job, signal }: PollOptions,
  { client, vendorClock }: NerdGraphPoll,
): Promise<Polled> {
  const { query, hasFailed } = question;
  const isOurs = (): boolean => vendorClock.skewSeconds() === undefined;
  const ask = async (call: RequestContext, left: number): ReturnType<GraphqlClient['query']> => {
    const wasOurs = isOurs();
    const window = pollWindow(query.poll, vendorClock.wallMs());
    const read = await client.query(query, window, call);
    return left === 0 || wasOurs === isOurs() ? read : ask(call, left - 1);
  };
  const result = await inTurn(turn, async (permit) =>
    ask({ job, signal, permit, mayRetry: hasFailed !== true }, mostMoreQueries),
  );
  return { kind: 'query', question, outcome: queryOutcomeOf(result) };
}

async function pollApplications(
  questions: readonly ApplicationQuestion[],
  turn: Promise<Permit>,
  { job, signal, windowsAtMs }: PollOptions,
  context: NerdGraphPoll,
): Promise<Iterable<Polled>> {
  const { client, calls, sizes, vendorClock } = context;
  const spare = calls.sparePerMinute() * (job.periodMs / minuteMs);
  const queries = plannedQueries(questions, sizes.within(spare));
  const answers = new Answers(queries, context);
  const ended: EndedQuery[] = [];
  const failedBefore = new Set(
    questions.flatMap(({ hasFailed, selected }) =>
      hasFailed === true ? selected.application.id : [],
    ),
  );
  const mayBeAbout = (stated: TimeWindow): boolean => answers.isAbout(stated);
  const { poll } = questions[0]?.selected.entry ?? {};
  // The same for all queries.
  const window = pollWindow(poll, windowsAtMs ?? vendorClock.wallMs());
  /** The refusal of the key: what was not asked for yet is refused as well. */
  let refusal: ApiError | undefined;

  const ask = async (query: PlannedQuery, permit: Promise<Permit>): Promise<void> => {
    // What has failed before is a retry itself.
    const isRetry =
      query.when !== 'usual' || query.applicationIds.every((id) => failedBefore.has(id));
    const answer = await inTurn(permit, async (given) => {
      if (refusal !== undefined) throw refusal;
      return client.nrql(
        { ...query, window, mayBeAbout },
        { job, signal, permit: given, mayRetry: !isRetry },
      );
    });
    // What was cut off says nothing about its size.
    if (signal.aborted) return;
    const error = answer instanceof ApiError ? answer : undefined;
    if (error?.status === 401) refusal = error;
    if (answer instanceof ApiError) answers.failed(query.applicationIds, answer);
    else answers.answered(query, answer);
    ended.push({ ...query, error });
  };
  const now = queries.filter(({ when }) => when !== 'later');
  // What is asked in smaller parts is a larger job, which lets others pass.
  const others = now.length > job.size ? { ...job, size: now.length } : job;
  await pLimit(calls.concurrency).map(now, async (query, index) =>
    ask(query, index === 0 ? turn : calls.take(others, signal)),
  );
  if (signal.aborted) return [];
  sizes.ended(ended);
  for (const { when, applicationIds } of queries) {
    if (when === 'later') answers.failed(applicationIds, askedLater);
  }
  return outcomesOf(questions, answers, context);
}

function* outcomesOf(
  questions: readonly ApplicationQuestion[],
  answers: Answers,
  { unexpected }: NerdGraphPoll,
): Generator<Polled, undefined> {
  for (const question of questions) {
    const { id } = question.selected.application;
    if (answers.isWithoutHeartbeat(id)) unexpected.saw('no_heartbeat', { app_id: id });
    yield { kind: 'application', question, outcome: answers.outcome(question, notAsked) };
  }
  return undefined;
}
