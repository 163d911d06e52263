import type { Clock } from '../src/model/clock.ts';
import type { PollOutcome } from '../src/model/poll-outcome.ts';
import type { Values } from '../src/model/polled-series.ts';
import type { Batch, Call, Question, Source, Stage } from '../src/model/source.ts';
import { inTurn } from '../test/support/fake-source.ts';

const batchSize = 200;

/** An API that answers for 200 applications and their hosts in one call, beside the rest of a source. */
export function createBatchSource(
  rest: Source,
  { clock, latencyMs }: { readonly clock: Clock; readonly latencyMs: number },
): Source {
  return {
    ...rest,
    earlyMs: 30_000,
    costs: {
      ...rest.costs,
      polls: (applications) => ({
        list_applications: 0,
        list_hosts: 0,
        application_metrics: Math.ceil(applications.length / batchSize),
        host_metrics: 0,
      }),
      once: () => 0,
    },
    batches: (due, early) => {
      const needed = Math.ceil(due.length / batchSize);
      const questions = [...due, ...early].slice(0, needed * batchSize);
      return Array.from({ length: needed }, (_, index) =>
        aBatch(questions.slice(index * batchSize, (index + 1) * batchSize), clock, latencyMs),
      );
    },
  };
}

function aBatch<Asked extends Question>(
  questions: readonly Asked[],
  clock: Clock,
  latencyMs: number,
): Batch<Asked> {
  const answers = new Map<Asked, PollOutcome>();
  const call: Call = async (context) =>
    inTurn(context, async () => {
      await new Promise<void>((resolve) => {
        clock.after(latencyMs, resolve);
      });
      for (const question of questions) answers.set(question, outcomeFor(question));
    });
  const stages: Stage[] = [{ size: 1, calls: [call].values() }];
  return {
    questions,
    key: questions[0]?.selected.application.id ?? '',
    nextStage: () => stages.pop(),
    giveUp: () => undefined,
    outcomeOf: (question) =>
      answers.get(question) ?? { ...outcomeFor(question), reading: undefined },
  };
}

function outcomeFor({ selected }: Question): PollOutcome {
  const hostIds = selected.application.hostIds ?? [];
  const hosts = new Map(hostIds.map((id): [string, Values] => [id, [1]]));
  return {
    reading: {
      windowEndMs: undefined,
      series: selected.entry.series,
      application: [hosts.size],
      hosts,
    },
    error: undefined,
    failed: new Set(),
    partCount: 1 + hosts.size,
    gone: false,
    unauthorized: false,
    hostNames: undefined,
    hostNamesError: undefined,
    extraCalls: 0,
  };
}
