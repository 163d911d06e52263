import { ApiError, type FailureReason } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { Throughput, ThroughputAnswer } from '../model/reading.ts';
import type { SelectedApplication } from '../model/selector.ts';
import type { Source } from '../model/source.ts';
import { windowAt } from '../model/window.ts';
import { hostsToPoll, isWorthPolling } from './demand.ts';
import type { Call, Dispatcher } from './dispatcher.ts';
import { applicationScope, type PollOutcome } from './poll-outcome.ts';
import { withinDeadline } from './within-deadline.ts';

export interface PollRequest {
  readonly selected: SelectedApplication;
  readonly dueMs: number;
  /** From then on its calls need not keep an even distance to each other. */
  readonly overdueMs: number;
  readonly spanMs: number;
  /** What has not arrived by then, counted from the start of the poll, has failed. */
  readonly deadlineMs: number;
  readonly askHostNames: boolean;
}

export interface PollDependencies {
  readonly source: Source;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  /** Wall time at the vendor. Without it: that of the clock. */
  readonly vendorWallMs?: (() => number) | undefined;
}

/** Gathers the answers of one poll while they arrive. */
interface Gathered {
  application: Throughput | undefined;
  readonly hosts: Map<string, Throughput>;
  windowEndMs: number | undefined;
  error: ApiError | undefined;
  readonly failed: Set<string>;
  readonly goneHosts: Set<string>;
  gone: boolean;
  refused: boolean;
  /** Calls in a row that got no answer at all. */
  unanswered: number;
  hostNames: ReadonlyMap<string, string> | undefined;
  hostNamesError: ApiError | undefined;
}

/** So many calls in a row without an answer, and the rest of the poll would get none either. */
const maxUnanswered = 12;
const unanswered: ReadonlySet<FailureReason> = new Set<FailureReason>([
  'dns',
  'connect',
  'tls',
  'timeout',
  'throttled',
]);

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
    goneHosts: new Set(),
    gone: false,
    refused: false,
    unanswered: 0,
    hostNames: undefined,
    hostNamesError: undefined,
  };
  if (isWorthPolling(request.selected)) {
    const limits = { what: 'the poll', deadlineMs: request.deadlineMs };
    await withinDeadline(limits, dependencies.clock, signal, async (pollSignal) => {
      const job = {
        key: request.selected.application.id,
        calls: callsOf(request, dependencies, gathered, pollSignal),
        size: 1 + hostsToPoll(request.selected).length,
        dueMs: request.dueMs,
        overdueMs: request.overdueMs,
        spanMs: request.spanMs,
      };
      await dependencies.dispatcher.run(job, pollSignal);
      if (pollSignal.aborted) noteRest(request.selected, gathered, pollSignal.reason);
    });
    signal.throwIfAborted();
    if (isGivenUp(gathered)) noteRest(request.selected, gathered, gathered.error);
  } else {
    gathered.application = new Map();
  }
  return outcomeOf(request.selected, gathered);
}

function* callsOf(
  { selected, askHostNames }: PollRequest,
  { source, clock, vendorWallMs = () => clock.wallMs() }: PollDependencies,
  gathered: Gathered,
  signal: AbortSignal,
): Generator<Call, undefined> {
  const { application, entry } = selected;
  const query = {
    window: windowAt(vendorWallMs(), entry.poll.window, entry.poll.delayMs),
    transactions: entry.transactions,
    raw: entry.poll.raw,
  };
  const isOver = (): boolean => gathered.gone || isGivenUp(gathered) || signal.aborted;

  if (askHostNames) {
    yield async (onWire) => {
      onWire(false);
      try {
        const { names, error } = await source.hostNames(application.id, signal);
        gathered.hostNames = names;
        gathered.hostNamesError = error;
      } catch (error) {
        gathered.hostNamesError = asApiError(error);
      }
    };
  }
  yield async (onWire) => {
    try {
      onWire(false);
      const answer = await source.applicationThroughput(application.id, query, signal, onWire);
      gathered.application = answer.throughput;
      gathered.unanswered = 0;
      noteWindowEnd(gathered, answer, query.window?.toMs);
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'not_found') gathered.gone = true;
      else noteFailure(gathered, applicationScope, error);
    }
  };
  for (const hostId of hostsToPoll(selected)) {
    if (isOver()) return undefined;
    yield async (onWire) => {
      try {
        onWire(false);
        const { id } = application;
        const answer = await source.hostThroughput(id, hostId, query, signal, onWire);
        gathered.hosts.set(hostId, answer.throughput);
        gathered.unanswered = 0;
        noteWindowEnd(gathered, answer, query.window?.toMs);
      } catch (error) {
        const isGone = error instanceof ApiError && error.reason === 'not_found';
        if (isGone) gathered.goneHosts.add(hostId);
        else noteFailure(gathered, hostId, error);
      }
    };
  }
  return undefined;
}

/** The rest of the poll is not tried: it would only repeat what was just seen. */
function isGivenUp(gathered: Gathered): boolean {
  return gathered.refused || gathered.unanswered >= maxUnanswered;
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
  const known = asApiError(error);
  gathered.failed.add(scope);
  gathered.error ??= known;
  if (known.status === 401) gathered.refused = true;
  gathered.unanswered = unanswered.has(known.reason) ? gathered.unanswered + 1 : 0;
}

/** What was not even tried has failed as well, unless there is nothing to ask for. */
function noteRest(selected: SelectedApplication, gathered: Gathered, error: unknown): void {
  if (gathered.gone) return;
  gathered.error ??= asApiError(error);
  if (gathered.application === undefined) gathered.failed.add(applicationScope);
  for (const hostId of hostsToPoll(selected)) {
    if (!gathered.hosts.has(hostId) && !gathered.goneHosts.has(hostId)) gathered.failed.add(hostId);
  }
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError('client', 'the call failed for a reason of our own', { cause: error });
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
    hostNamesError: gathered.hostNamesError,
  };
}
