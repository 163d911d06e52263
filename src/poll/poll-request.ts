import { setMaxListeners } from 'node:events';
import { ApiError } from '../model/api-error.ts';
import type { Job } from '../model/permit.ts';
import {
  applicationScope,
  hostsScope,
  nothingToAskOutcome,
  type PollOutcome,
  queryOutcomeOf,
} from '../model/poll-outcome.ts';
import {
  asksForApplication,
  hostChoiceOf,
  hostsToPoll,
  isWorthPolling,
} from '../model/selected-application.ts';
import type { ApplicationQuestion, Polled, Question, Source } from '../model/source.ts';
import { totalCalls } from './account-plan.ts';
import { askedOf, brings } from './question.ts';
import type { PollTimes } from './schedule.ts';
import type { States } from './states.ts';

/** One subject whose poll is due: what to ask for, and when; monotonic. */
export type PollRequest = Question & PollTimes & { readonly id: string; readonly queuedMs: number };

/** What to ask about a subject now; `undefined` if it is no longer there. */
export function pollRequest(id: string, states: States, nowMs: number): PollRequest | undefined {
  const state = states.get(id);
  if (state === undefined) return undefined;
  const times = { ...states.timesOf(state), queuedMs: nowMs };
  if (state.kind === 'query') return { kind: 'query', id, query: state.query, ...times };
  return { kind: 'application', id, selected: state.selected, ...times };
}

/** Whether it brings what is wanted of its subject now. */
export function isStillAsked(request: PollRequest, states: States): boolean {
  const state = states.get(request.id);
  return state !== undefined && brings(askedOf(request), askedOf(state));
}

/**
 * What is known about a poll that is not tried, because there is nothing to ask for or the vendor refuses
 * the key; `undefined` if it must be asked.
 */
export function knownOutcomeOf(
  request: Question,
  refusal: ApiError | undefined,
  listsHosts: boolean,
): Polled | undefined {
  if (request.kind === 'query') {
    const refused = refusal && { ...queryOutcomeOf(refusal), unauthorized: true };
    return refused && { kind: 'query', question: request, outcome: refused };
  }
  const outcome = knownAppOutcomeOf(request, refusal, listsHosts);
  return outcome && { kind: 'application', question: request, outcome };
}

function knownAppOutcomeOf(
  { selected }: ApplicationQuestion,
  refusal: ApiError | undefined,
  listsHosts: boolean,
): PollOutcome | undefined {
  const choice = hostChoiceOf(selected.entry);
  // Only the source knows whether there are any that are chosen by their names.
  const isListed = listsHosts && choice === true;
  const asksForHosts = isListed ? hostsToPoll(selected).length > 0 : choice !== false;
  const asks = asksForApplication(selected) || asksForHosts;
  // Hosts are wanted, and nobody has said so far which there are.
  const areHostsUnknown = isListed && selected.application.hostIds === undefined;
  if (!(asks || areHostsUnknown) || !isWorthPolling(selected)) return nothingToAskOutcome;
  const nothing = { ...nothingToAskOutcome, reading: undefined };
  if (refusal !== undefined) {
    return {
      ...nothing,
      error: refusal,
      failed: new Set([applicationScope]),
      unauthorized: true,
    };
  }
  return asks ? undefined : { ...nothing, error: unlistedError, failed: new Set([hostsScope]) };
}

/** Why the hosts of an application are missing if the list of applications does not name them. */
const unlistedError = new ApiError(
  'server',
  'it is not known which hosts the application has: the list of applications does not name them.',
);

/**
 * What is polled together. The poll begins when its first call may leave; until then it only waits. The earliest
 * times of its subjects are the times of the poll.
 */
export class GroupPoll {
  /** Its place in the order of the account's calls. */
  readonly job: Job;
  readonly #wanted: Map<Question, PollRequest>;
  readonly #stop = new AbortController();
  /** Whether its first call may leave, or has left. */
  hasBegun = false;

  constructor(asked: readonly PollRequest[], source: Source) {
    this.job = {
      key: asked[0]?.id ?? '',
      size: totalCalls(source.cost(asked)),
      dueMs: Math.min(...asked.map(({ dueMs }) => dueMs)),
      periodMs: Math.min(...asked.map(({ periodMs }) => periodMs)),
    };
    this.#wanted = new Map(asked.map((request) => [request, request]));
    setMaxListeners(0, this.signal);
  }

  /** Aborted when nothing of it is wanted any longer. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** What is asked for, and whose outcome is still wanted. */
  get wanted(): readonly PollRequest[] {
    return [...this.#wanted.values()];
  }

  add(request: PollRequest): void {
    this.#wanted.set(request, request);
  }

  /** Its outcome is known. Returns what was asked, if that is still wanted. */
  reported(question: Question): PollRequest | undefined {
    const request = this.#wanted.get(question);
    this.#wanted.delete(question);
    return request;
  }

  /** Its outcome is no longer wanted. When none is, the calls are aborted with this reason. */
  drop(request: PollRequest, reason: Error): void {
    this.#wanted.delete(request);
    if (this.#wanted.size === 0) this.abort(reason);
  }

  abort(reason: Error): void {
    this.#stop.abort(reason);
  }
}
