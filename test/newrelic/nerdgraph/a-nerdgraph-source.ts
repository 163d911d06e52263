import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import type { ApplicationQuestion, Question, Source } from '../../../src/model/source.ts';
import type { Operation } from '../../../src/model/telemetry.ts';
import type { ApiRequest, Transport } from '../../../src/newrelic/calls/transport.ts';
import { VendorClock } from '../../../src/newrelic/calls/vendor-clock.ts';
import { statusOf } from '../../../src/newrelic/failures.ts';
import { createNerdGraphSource } from '../../../src/newrelic/nerdgraph/nerdgraph-source.ts';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.ts';
import { demoApiKey, type SimulatorOptions } from '../../../src/simulator/simulator-options.ts';
import { aQuestion } from '../../support/builders.ts';
import { aJob, type CallsAtOnce, callsAtOnce } from '../../support/calls-at-once.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger } from '../../support/fake-logger.ts';
import { inMemoryTransport } from '../../support/in-memory-vendor.ts';
import { neverAborted } from '../calls/fakes.ts';
import { accountId } from './answers.ts';

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
  { timeoutMs = 30_000, ...options }: CallsAtOnce & { readonly timeoutMs?: number } = {},
): SourceUnderTest {
  const requests: ApiRequest[] = [];
  const unexpected: string[] = [];
  const failures: string[] = [];
  const logger = createFakeLogger();
  const vendorClock = new VendorClock(clock);
  const calls = callsAtOnce({ clock, ...options });
  const source = createNerdGraphSource(
    { account: 'production', accountId, timeoutMs: () => timeoutMs },
    {
      send: async (request, signal) => {
        requests.push(request);
        const answer = await send(request, signal);
        vendorClock.answered(answer.headers);
        return answer;
      },
      observer: {
        invalidSample: (reason) => failures.push(`sample ${reason}`),
        failed: (operation, reason) => failures.push(`${operation} ${reason}`),
        unexpected: (kind, count) => {
          for (let left = count; left > 0; left -= 1) unexpected.push(kind);
        },
      },
      calls,
      logger,
      clock,
      vendorClock,
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
export function aSimulatedSource(
  options: SimulatorOptions = {},
  clock: FakeClock = createFakeClock(),
): SimulatedSource {
  const simulator = createSimulator({ ingestDelayMs: 0, ...options }, { clock });
  return { ...aNerdGraphSource(transportTo(simulator), clock), simulator };
}

/** Everything in the account, each with this entry. */
export async function discovered(
  { source }: Pick<SourceUnderTest, 'source'>,
  entry: SelectedApplication['entry'],
): Promise<readonly SelectedApplication[]> {
  const { applications, error } = await source.discover(
    { selectors: [entry.selector] },
    [],
    neverAborted,
  );
  if (error !== undefined) throw error;
  return applications.map((application) => ({ application, entry }));
}

/** What became of polls that were due together. */
export interface PolledTogether {
  readonly outcomes: ReadonlyMap<string, PollOutcome>;
  /** How many there were, of all groups together. */
  readonly calls: number;
}

/** Polls groups to their ends, one after the other, all calls of one at a time. */
export async function pollGroups(
  source: Pick<Source, 'poll'>,
  groups: readonly (readonly Question[])[],
  { clock, windowsAtMs = clock.wallMs() }: { clock: FakeClock; windowsAtMs?: number },
): Promise<ReadonlyMap<string, PollOutcome>> {
  const outcomes = new Map<string, PollOutcome>();
  const options = { job: aJob, signal: neverAborted, windowsAtMs };
  for (const group of groups) {
    const all = (async () => {
      for await (const one of source.poll(() => group, options)) {
        if (one.kind !== 'application') continue;
        outcomes.set(one.question.selected.application.id, one.outcome);
      }
    })();
    await ended([all], clock);
  }
  return outcomes;
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
  { source, clock, requests }: Pick<SourceUnderTest, 'source' | 'clock' | 'requests'>,
  applications: readonly SelectedApplication[],
  overrides: Partial<ApplicationQuestion> = {},
): Promise<PolledTogether> {
  const questions = applications.map((selected) => aQuestion(selected, overrides));
  const before = requests.length;
  const outcomes = await pollGroups(source, source.groups(questions, []), { clock });
  return { outcomes, calls: requests.length - before };
}

/** The calls that polls of these applications cost. */
export function costOf(
  { cost }: Pick<Source, 'cost'>,
  applications: readonly SelectedApplication[],
): number {
  const calls = cost(applications.map((selected) => ({ kind: 'application', selected })));
  return Object.values(calls).reduce((sum, one) => sum + one, 0);
}
