import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import type { Batch, Question, Source } from '../../../src/model/source.ts';
import type { Operation } from '../../../src/model/telemetry.ts';
import type { ApiRequest, Transport } from '../../../src/newrelic/calls/transport.ts';
import { statusOf } from '../../../src/newrelic/nerdgraph/failures.ts';
import { createNerdGraphSource } from '../../../src/newrelic/nerdgraph/nerdgraph-source.ts';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.ts';
import { demoApiKey, type SimulatorOptions } from '../../../src/simulator/simulator-options.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger } from '../../support/fake-logger.ts';
import { inMemoryTransport } from '../../support/in-memory-vendor.ts';
import { neverAborted } from '../calls/fakes.ts';
import { accountId } from './answers.ts';
import { aQuestion } from './some-fleet.ts';

/** The real source over a transport, with a record of what it asks and reports. */
export interface SourceUnderTest {
  readonly source: Source;
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
  readonly requests: readonly ApiRequest[];
  /** Kinds of unexpected, each as often as it was counted. */
  readonly unexpected: readonly string[];
  /** Such as `list_hosts schema`. */
  readonly failures: readonly string[];
  readonly callsOf: (operation: Operation) => number;
}

export function aNerdGraphSource(
  send: Transport,
  clock: FakeClock = createFakeClock(),
): SourceUnderTest {
  const requests: ApiRequest[] = [];
  const unexpected: string[] = [];
  const failures: string[] = [];
  const logger = createFakeLogger();
  const source = createNerdGraphSource(
    { account: 'production', accountId, timeoutMs: () => 30_000 },
    {
      send: async (request, signal) => {
        requests.push(request);
        return send(request, signal);
      },
      observer: {
        invalidSample: (reason) => failures.push(`sample ${reason}`),
        failed: (operation, reason) => failures.push(`${operation} ${reason}`),
        unexpected: (kind, count) => {
          for (let left = count; left > 0; left -= 1) unexpected.push(kind);
        },
      },
      logger,
      clock,
      vendorWallMs: () => clock.wallMs(),
    },
  );
  const callsOf = (operation: Operation): number =>
    requests.filter((request) => request.operation === operation).length;
  return { source, clock, logger, requests, unexpected, failures, callsOf };
}

export interface SimulatedSource extends SourceUnderTest {
  readonly simulator: Simulator;
}

/** A transport that asks the simulator without a port, and reads its answers as an account does. */
export function transportTo(simulator: Simulator): Transport {
  const raw = inMemoryTransport(simulator);
  return async (request, signal) => {
    const answer = await raw.send(request, { 'Api-Key': demoApiKey }, signal);
    return { ...answer, status: statusOf(answer) };
  };
}

/** The source over a simulated account. */
export function aSimulatedSource(options: SimulatorOptions = {}): SimulatedSource {
  const clock = createFakeClock();
  const simulator = createSimulator({ ingestDelayMs: 0, ...options }, { clock });
  return { ...aNerdGraphSource(transportTo(simulator), clock), simulator };
}

/** Everything in the account, each with this entry. */
export async function discovered(
  { source }: Pick<SourceUnderTest, 'source'>,
  entry: SelectedApplication['entry'],
): Promise<readonly SelectedApplication[]> {
  const { applications, error } = await source.discover([entry.selector], [], neverAborted);
  if (error !== undefined) throw error;
  return applications.map((application) => ({ application, entry }));
}

/** What became of polls that were due together. */
export interface Polled {
  readonly outcomes: ReadonlyMap<string, PollOutcome>;
  /** The calls of each stage, of all batches together. */
  readonly stages: readonly number[];
}

/** Runs batches to their ends, stage by stage, all calls of a stage at a time. */
export async function runBatches(
  batches: readonly Batch[],
  wallMs: number,
  clock: Pick<FakeClock, 'advance'>,
): Promise<Polled> {
  const outcomes = new Map<string, PollOutcome>();
  const stages: number[] = [];
  for (const batch of batches) {
    let index = 0;
    for (let stage = batch.nextStage(); stage !== undefined; stage = batch.nextStage()) {
      const { calls } = stage;
      const running: Promise<unknown>[] = [];
      for (let call = calls.next(); call.done !== true; call = calls.next()) {
        running.push(call.value({ signal: neverAborted, wallMs }));
      }
      stages[index] = (stages[index] ?? 0) + running.length;
      index += 1;
      await ended(running, clock);
    }
    for (const question of batch.questions) {
      outcomes.set(question.selected.application.id, batch.outcomeOf(question));
    }
  }
  return { outcomes, stages };
}

/** A large answer is used in a turn of its own, which the clock begins. */
async function ended(
  running: readonly Promise<unknown>[],
  clock: Pick<FakeClock, 'advance'>,
): Promise<void> {
  const state = { isOver: false };
  const all = Promise.all(running).finally(() => {
    state.isOver = true;
  });
  while (!state.isOver) await clock.advance(0);
  await all;
}

/** Polls these applications together. */
export async function polled(
  { source, clock }: Pick<SourceUnderTest, 'source' | 'clock'>,
  applications: readonly SelectedApplication[],
  overrides: Partial<Question> = {},
): Promise<Polled> {
  const questions = applications.map((selected) => aQuestion(selected, overrides));
  return runBatches(source.batches(questions, []), clock.wallMs(), clock);
}

/** The calls that polls of these applications cost. */
export function costOf(source: Source, applications: readonly SelectedApplication[]): number {
  return Object.values(source.costs.polls(applications)).reduce((sum, calls) => sum + calls, 0);
}
