import { ApiError } from '../../../src/model/api-error.ts';
import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import type { Batch, Question } from '../../../src/model/source.ts';
import type { NrqlQuestion } from '../../../src/newrelic/nerdgraph/graphql-client.ts';
import { NerdGraphBatch } from '../../../src/newrelic/nerdgraph/nerdgraph-batch.ts';
import type { FacetRow, NrqlAnswer } from '../../../src/newrelic/nerdgraph/nrql-answer.ts';
import { QuerySizes } from '../../../src/newrelic/nerdgraph/query-sizes.ts';
import { SeenMetrics } from '../../../src/newrelic/nerdgraph/seen-metrics.ts';
import { aSelected } from '../../support/builders.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { runBatches } from './a-nerdgraph-source.ts';
import {
  createRecordingUnexpectedAnswers,
  type RecordingUnexpectedAnswers,
} from './recording-unexpected-answers.ts';
import { aQuestion, hostsNamed } from './some-fleet.ts';

export const wallMs: number = Date.UTC(2026, 8, 1, 10, 0, 30);

/** Answers a query with rows, about another window than was asked for, or fails. */
type Answer = (question: NrqlQuestion) => readonly FacetRow[] | NrqlAnswer | Error;

interface Bench {
  readonly batch: Batch;
  readonly questions: readonly NrqlQuestion[];
  readonly sizes: QuerySizes;
  readonly unexpected: RecordingUnexpectedAnswers;
  readonly run: () => Promise<{
    readonly outcomes: readonly PollOutcome[];
    readonly stages: readonly number[];
  }>;
}

export function aBench(
  applications: readonly SelectedApplication[],
  answer: Answer,
  ask: Partial<Question> = {},
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
  const batch = new NerdGraphBatch(
    applications.map((one) => aQuestion(one, ask)),
    { client, sizes, seen: new SeenMetrics(), unexpected, onInvalid: () => undefined },
  );
  return {
    batch,
    questions,
    sizes,
    unexpected,
    run: async () => {
      const { outcomes, stages } = await runBatches([batch], wallMs, clock);
      return { outcomes: [...outcomes.values()], stages };
    },
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
