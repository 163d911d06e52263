import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { PollOutcome } from '../model/poll-outcome.ts';
import type { PolledSeries } from '../model/polled-series.ts';
import {
  asksForApplication,
  hostSelectorOf,
  hostsToPoll,
  wantedHostNames,
} from '../model/selected-application.ts';
import type { Batch, Call, CallContext, Question, Stage } from '../model/source.ts';
import { asApiError } from '../newrelic/as-api-error.ts';
import type { CallGroups, SeriesGroup } from './call-groups.ts';
import { PollAnswers } from './poll-answers.ts';
import { PollQueries } from './poll-queries.ts';
import type { RestClient } from './rest-client.ts';

/** The calls of the client that a poll makes. */
export type PollClient = Pick<RestClient, 'hostNames' | 'applicationMetrics' | 'hostMetrics'>;

export interface RestBatchDependencies {
  readonly client: PollClient;
  readonly clock: Clock;
  /** Which calls bring the values of these series. */
  readonly callGroupsOf: (series: readonly PolledSeries[]) => CallGroups;
}

/** Names are a convenience: values that have arrived wait for them no longer than this. */
const namesGraceMs = 10_000;

/**
 * One application and the hosts that its entry chooses, with a call for each of them, or a few if one does
 * not suffice, all for the same window. If hosts are chosen by names that are not known yet, a stage for the names comes
 * first.
 */
export function createRestBatch<Asked extends Question>(
  question: Asked,
  dependencies: RestBatchDependencies,
): Batch<Asked> {
  return new RestBatch(question, dependencies);
}

class RestBatch<Asked extends Question> implements Batch<Asked> {
  readonly questions: readonly [Asked];
  readonly key: string;
  readonly #question: Asked;
  readonly #dependencies: RestBatchDependencies;
  readonly #answers: PollAnswers;
  /** Whether the hosts to poll are chosen by their names. */
  readonly #isByName: boolean;
  #stage: 'none' | 'names' | 'values' = 'none';
  #hostIds: readonly string[];
  #parts = 0;
  #isGivenUp = false;
  readonly #queries: PollQueries;
  #namesAbort: AbortController | undefined;
  #cancelNamesGrace: (() => void) | undefined;
  /** Calls for values that have not ended, plus one while there are more to begin. */
  #valuesLeft = 1;

  constructor(question: Asked, dependencies: RestBatchDependencies) {
    this.#question = question;
    this.#dependencies = dependencies;
    const { selected } = question;
    this.questions = [question];
    const { poll, series } = selected.entry;
    this.#answers = new PollAnswers(series);
    this.#queries = new PollQueries(dependencies.callGroupsOf(series), poll);
    this.key = selected.application.id;
    this.#isByName = hostSelectorOf(selected) !== undefined;
    this.#hostIds = hostsToPoll(selected);
  }

  nextStage(): Stage | undefined {
    const { askHostNames } = this.#question;
    if (this.#stage === 'values') return undefined;
    if (this.#stage === 'none' && askHostNames && this.#isByName) {
      this.#stage = 'names';
      return { size: 1, calls: this.#nameCalls() };
    }
    if (this.#stage === 'names' && !this.#hasQuestions()) return undefined;
    this.#stage = 'values';
    return this.#valueStage();
  }

  giveUp(error: ApiError): void {
    this.#isGivenUp = true;
    this.#answers.givenUp(error);
    // Names that still arrive replace the error.
    if (this.#stage === 'names') this.#answers.hostNamesFailed(error);
  }

  outcomeOf({ selected, isListed }: Asked): PollOutcome {
    const hostIds = this.#hostIds.filter(isListed);
    const asked = { application: asksForApplication(selected), hostIds, isByName: this.#isByName };
    return this.#answers.outcome(asked, this.#parts);
  }

  /** Whether there is anything to ask for after the look-up of names. */
  #hasQuestions(): boolean {
    const { selected } = this.#question;
    const isNothingAsked = this.#hostIds.length === 0 && !asksForApplication(selected);
    return !isNothingAsked && !this.#isGivenUp && !this.#answers.isFinal();
  }

  #valueStage(): Stage {
    const { selected, askHostNames } = this.#question;
    const { applications, hosts } = this.#queries.groups;
    const isAsked = asksForApplication(selected);
    this.#parts = (isAsked ? 1 : 0) + this.#hostIds.length;
    const calls = (isAsked ? applications.length : 0) + this.#hostIds.length * hosts.length;
    const isWithNames = askHostNames && !this.#isByName;
    return { size: calls + (isWithNames ? 1 : 0), calls: this.#valueCalls(isWithNames) };
  }

  *#nameCalls(): Generator<Call, undefined> {
    yield async (context) => {
      const isAnswered = await this.#names(context);
      const { selected, hostNames } = this.#question;
      this.#answers.concludeFromNames(selected);
      this.#hostIds = hostsToPoll(this.#answers.namedHosts(selected, hostNames));
      return isAnswered;
    };
    return undefined;
  }

  *#valueCalls(isWithNames: boolean): Generator<Call, undefined> {
    if (isWithNames) yield async (context) => this.#namesBesideValues(context);
    for (const call of this.#callsForValues()) {
      yield call;
      if (this.#answers.isFinal()) break;
    }
    this.#valueEnded();
    return undefined;
  }

  *#callsForValues(): Generator<Call, undefined> {
    const { selected, isListed } = this.#question;
    const { applications, hosts } = this.#queries.groups;
    if (asksForApplication(selected)) {
      for (const group of applications) yield this.#applicationValue(group);
    }
    for (const hostId of this.#hostIds) {
      if (!isListed(hostId)) this.#answers.hostIsGone(hostId);
      else for (const group of hosts) yield this.#hostValue(hostId, group);
    }
    return undefined;
  }

  #applicationValue(group: SeriesGroup): Call {
    const { client } = this.#dependencies;
    const { id } = this.#question.selected.application;
    return this.#value(
      async (context) => {
        const query = this.#queries.at(context.wallMs, 'applications', group);
        this.#answers.application(await client.applicationMetrics(id, query, context), query);
      },
      (error) => this.#answers.applicationFailed(error),
    );
  }

  #hostValue(hostId: string, group: SeriesGroup): Call {
    const { client } = this.#dependencies;
    const { id } = this.#question.selected.application;
    return this.#value(
      async (context) => {
        const query = this.#queries.at(context.wallMs, 'hosts', group);
        this.#answers.host(hostId, await client.hostMetrics(id, hostId, query, context), query);
      },
      (error) => this.#answers.hostFailed(hostId, error),
    );
  }

  #value(ask: (context: CallContext) => Promise<void>, failed: (error: ApiError) => void): Call {
    this.#valuesLeft += 1;
    return async (context) => {
      const isAnswered = await answered(async () => ask(context), failed);
      this.#valueEnded(context.signal);
      return isAnswered;
    };
  }

  async #names(context: Pick<CallContext, 'signal' | 'turn'>): Promise<boolean> {
    const { client } = this.#dependencies;
    const { selected } = this.#question;
    const { id } = selected.application;
    // The deadline of the poll says nothing about the names: the next poll asks for them again.
    const isLate = (): boolean => this.#isGivenUp && !this.#isByName;
    return answered(
      async () => {
        const names = await client.hostNames(id, context, wantedHostNames(selected));
        if (!isLate()) this.#answers.hostNames(names);
      },
      (error) => {
        if (!isLate()) this.#answers.hostNamesFailed(error);
      },
    );
  }

  /** Aborts the look-up of names if it takes much longer than the values. */
  async #namesBesideValues({ signal, turn }: CallContext): Promise<boolean> {
    const abort = new AbortController();
    this.#namesAbort = abort;
    const onAbort = (): void => {
      abort.abort(signal.reason);
      this.#cancelNamesGrace?.();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await this.#names({ signal: abort.signal, turn });
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#namesAbort = undefined;
      this.#cancelNamesGrace?.();
    }
  }

  #valueEnded(signal?: AbortSignal): void {
    this.#valuesLeft -= 1;
    const namesAbort = this.#namesAbort;
    if (this.#valuesLeft > 0 || namesAbort === undefined || signal?.aborted === true) return;
    this.#cancelNamesGrace = this.#dependencies.clock.after(namesGraceMs, () => {
      namesAbort.abort(
        new ApiError('timeout', 'the list of host names took much longer than the values'),
      );
    });
  }
}

/**
 * Resolves to whether the vendor answered: with what was asked for, or with an error of its own.
 */
async function answered(
  ask: () => Promise<void>,
  failed: (error: ApiError) => void,
): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    const known = asApiError(error);
    failed(known);
    return known.status !== undefined;
  }
}
