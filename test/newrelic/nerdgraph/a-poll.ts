import { ApiError } from '../../../src/model/api-error.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import type { ApplicationQuestion, PollCalls, Polled, Source } from '../../../src/model/source.ts';
import { VendorClock } from '../../../src/newrelic/calls/vendor-clock.ts';
import { SeenMetrics } from '../../../src/newrelic/nerdgraph/answers.ts';
import type { NrqlQuestion } from '../../../src/newrelic/nerdgraph/graphql-client.ts';
import type { FacetRow, NrqlAnswer } from '../../../src/newrelic/nerdgraph/nrql-answer.ts';
import { type PollContext, pollGroup } from '../../../src/newrelic/nerdgraph/poll.ts';
import { QuerySizes } from '../../../src/newrelic/nerdgraph/query-sizes.ts';
import { aSelected } from '../../support/builders.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { neverAborted } from '../calls/fakes.ts';
import { type PolledTogether, pollGroups } from './a-nerdgraph-source.ts';
import {
  createRecordingUnexpectedAnswers,
  type RecordingUnexpectedAnswers,
} from './recording-unexpected-answers.ts';
import { aQuestion, hostsNamed } from './some-fleet.ts';

export const wallMs: number = Date.UTC(2026, 8, 1, 10, 0, 30);

/** Answers a query with rows, about another window than was asked for, or fails. */
type Answer = (question: NrqlQuestion) => readonly FacetRow[] | NrqlAnswer | Error;

interface ContextParts extends Partial<Omit<PollContext, 'client'>> {
  readonly client: Partial<PollContext['client']>;
}

/** What polls share; nobody asks for what the client lacks. */
export function aContext({ client, ...others }: ContextParts): PollContext {
  const clock = createFakeClock();
  const nobody = async (): Promise<never> => {
    throw new Error('nobody should be asked');
  };
  return {
    client: { nrql: nobody, query: nobody, ...client },
    sizes: new QuerySizes(clock),
    seen: new SeenMetrics(),
    unexpected: createRecordingUnexpectedAnswers(),
    onInvalid: () => undefined,
    vendorClock: new VendorClock(clock, () => undefined),
    ...others,
  };
}

interface Bench {
  /** What was asked. */
  readonly questions: readonly NrqlQuestion[];
  readonly sizes: QuerySizes;
  readonly unexpected: RecordingUnexpectedAnswers;
  readonly clock: FakeClock;
  /** Polls the applications, which are asked for when the first call is taken. */
  readonly poll: (calls: PollCalls, signal?: AbortSignal) => AsyncIterable<Polled>;
  readonly run: () => Promise<PolledTogether>;
}

export function aBench(
  applications: readonly SelectedApplication[],
  answer: Answer,
  ask: Partial<ApplicationQuestion> = {},
): Bench {
  const questions: NrqlQuestion[] = [];
  const clock = createFakeClock();
  const sizes = new QuerySizes(clock);
  const unexpected = createRecordingUnexpectedAnswers();
  const client = {
    nrql: async (question: NrqlQuestion): Promise<NrqlAnswer> => {
      questions.push(question);
      const given = answer(question);
      if (given instanceof Error) throw given;
      const told = 'rows' in given ? given : { rows: given, window: question.window };
      if (!question.mayBeAbout(told.window)) throw otherTime;
      return told;
    },
  };
  const context = { ...aContext({ client }), sizes, unexpected };
  const group = applications.map((one) => aQuestion(one, ask));
  const source: Pick<Source, 'poll'> = { poll: (...asked) => pollGroup(...asked, context) };
  return {
    questions,
    sizes,
    unexpected,
    clock,
    poll: (calls, signal = neverAborted) => source.poll(() => group, calls, signal),
    run: async () => pollGroups(source, [group], { clock, wallMs }),
  };
}

interface Counts {
  readonly web?: number;
  readonly other?: number;
  readonly live?: number;
}

/** A row of a query that reads the throughput of both types: so many calls. */
export function row(
  applicationId: string,
  { web = 0, other = 0, live = 0 }: Counts,
  host?: string,
): FacetRow {
  const calls = web + other + live;
  return {
    applicationId,
    host,
    calls,
    isLive: live > 0,
    cells: [web, other],
  };
}

export function apps(
  count: number,
  hosts = 1,
  entry: Parameters<typeof aSelected>[1] = {},
): readonly SelectedApplication[] {
  return Array.from({ length: count }, (_, index) =>
    aSelected({ id: `${index + 1}`, hostIds: hostsNamed(hosts) }, entry),
  );
}

export const nothing = (): readonly FacetRow[] => [];
export const broken: ApiError = new ApiError('server', 'it broke');
export const otherTime: ApiError = new ApiError('schema', 'about another time');
export const refused: ApiError = new ApiError('auth', 'refused', { status: 401 });

export function isAbout(operation: 'application' | 'host'): (question: NrqlQuestion) => boolean {
  return (question) => question.operation === `${operation}_metrics`;
}
