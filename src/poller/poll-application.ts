import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { AppReading, Throughput, ThroughputAnswer } from '../model/reading.ts';
import type { SelectedApplication } from '../model/selector.ts';
import type { Source } from '../model/source.ts';
import { windowAt } from '../model/window.ts';
import { hostsToPoll, isWorthPolling } from './demand.ts';
import type { Call, Dispatcher } from './dispatcher.ts';

/** What one poll of one application brought. */
export interface PollOutcome {
  /** All that arrived, for one window; `undefined` when nothing did. */
  readonly reading: AppReading | undefined;
  /** Why something that was asked for did not arrive; the first of the failures. */
  readonly error: ApiError | undefined;
  /** What did not arrive: host ids, or `applicationScope` for the application itself. */
  readonly failed: ReadonlySet<string>;
  /** The calls that the poll set out to make, host names not counted. */
  readonly plannedCalls: number;
  /** The vendor answered that it has no such application. */
  readonly gone: boolean;
  /** The vendor refused the key: the rest of the poll was given up. */
  readonly refused: boolean;
  /** New host names, when they were asked for. */
  readonly hostNames: ReadonlyMap<string, string> | undefined;
}

/** Stands for the application itself among the host ids of `PollOutcome.failed`. */
export const applicationScope = 'application';

export interface PollRequest {
  readonly selected: SelectedApplication;
  readonly dueMs: number;
  /** From then on its calls need not keep an even distance to each other. */
  readonly overdueMs: number;
  readonly spanMs: number;
  readonly askHostNames: boolean;
}

export interface PollDependencies {
  readonly source: Source;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
}

/** Gathers the answers of one poll while they arrive. */
interface Gathered {
  application: Throughput | undefined;
  readonly hosts: Map<string, Throughput>;
  windowEndMs: number | undefined;
  error: ApiError | undefined;
  readonly failed: Set<string>;
  gone: boolean;
  refused: boolean;
  hostNames: ReadonlyMap<string, string> | undefined;
}

/**
 * Asks for one application and all of its hosts, every call for the same window, which is fixed
 * when the first call gets its turn. Rejects only with the signal's reason.
 */
export async function pollApplication(
  request: PollRequest,
  dependencies: PollDependencies,
  signal: AbortSignal,
): Promise<PollOutcome> {
  const gathered: Gathered = {
    application: undefined,
    hosts: new Map(),
    windowEndMs: undefined,
    error: undefined,
    failed: new Set(),
    gone: false,
    refused: false,
    hostNames: undefined,
  };
  if (isWorthPolling(request.selected)) {
    const job = {
      calls: callsOf(request, dependencies, gathered, signal),
      size: 1 + hostsToPoll(request.selected).length,
      dueMs: request.dueMs,
      overdueMs: request.overdueMs,
      spanMs: request.spanMs,
    };
    await dependencies.dispatcher.run(job, signal);
    signal.throwIfAborted();
  } else {
    gathered.application = new Map();
  }
  return outcomeOf(request.selected, gathered);
}

function* callsOf(
  { selected, askHostNames }: PollRequest,
  { source, clock }: PollDependencies,
  gathered: Gathered,
  signal: AbortSignal,
): Generator<Call, undefined> {
  const { application, entry } = selected;
  const query = {
    window: windowAt(clock.wallMs(), entry.poll.window, entry.poll.delayMs),
    transactions: entry.transactions,
    raw: entry.poll.raw,
  };
  const isOver = (): boolean => gathered.gone || gathered.refused || signal.aborted;

  if (askHostNames) {
    yield async () => {
      const names = await source.hostNames(application.id, signal).catch(ignoreFailure);
      gathered.hostNames = names;
    };
  }
  yield async () => {
    try {
      const answer = await source.applicationThroughput(application.id, query, signal);
      gathered.application = answer.throughput;
      noteWindowEnd(gathered, answer, query.window?.toMs);
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'not_found') gathered.gone = true;
      else noteFailure(gathered, applicationScope, error);
    }
  };
  for (const hostId of hostsToPoll(selected)) {
    if (isOver()) return undefined;
    yield async () => {
      try {
        const answer = await source.hostThroughput(application.id, hostId, query, signal);
        gathered.hosts.set(hostId, answer.throughput);
        noteWindowEnd(gathered, answer, query.window?.toMs);
      } catch (error) {
        const isGone = error instanceof ApiError && error.reason === 'not_found';
        if (!isGone) noteFailure(gathered, hostId, error);
      }
    };
  }
  return undefined;
}

/** Names are a convenience: without them a host is shown by its id, and the poll goes on. */
function ignoreFailure(): undefined {
  return undefined;
}

/** With the vendor's own window, calls of one poll may end a minute apart: the oldest end is true. */
function noteWindowEnd(
  gathered: Gathered,
  answer: ThroughputAnswer,
  askedEndMs: number | undefined,
): void {
  const endMs = askedEndMs ?? answer.windowEndMs;
  if (endMs === undefined) return;
  gathered.windowEndMs = Math.min(gathered.windowEndMs ?? endMs, endMs);
}

function noteFailure(gathered: Gathered, scope: string, error: unknown): void {
  gathered.failed.add(scope);
  const known =
    error instanceof ApiError
      ? error
      : new ApiError('client', 'the call failed for a reason of our own', { cause: error });
  gathered.error ??= known;
  if (known.status === 401) gathered.refused = true;
}

/** Hosts stand in the order of the discovery, so that two polls render alike. */
function outcomeOf(selected: SelectedApplication, gathered: Gathered): PollOutcome {
  const { application, hosts } = gathered;
  const planned = hostsToPoll(selected);
  const inOrder = planned.flatMap((id): [string, Throughput][] => {
    const throughput = hosts.get(id);
    return throughput === undefined ? [] : [[id, throughput]];
  });
  const isEmpty = application === undefined && hosts.size === 0;
  return {
    reading: isEmpty
      ? undefined
      : {
          windowEndMs: gathered.windowEndMs,
          application: application ?? new Map(),
          hosts: new Map(inOrder),
        },
    error: gathered.error,
    failed: gathered.failed,
    plannedCalls: 1 + planned.length,
    gone: gathered.gone,
    refused: gathered.refused,
    hostNames: gathered.hostNames,
  };
}
