import type { ApiError, FailureReason } from '../model/api-error.ts';
import { applicationScope, hostsScope, type PollOutcome } from '../model/poll-outcome.ts';
import type { PolledSeries, Values } from '../model/polled-series.ts';
import {
  asksForApplication,
  type SelectedApplication,
  withNamedHosts,
  withNewHosts,
} from '../model/selected-application.ts';
import type { AppReading } from '../model/snapshot.ts';
import type { HostNames } from '../model/source.ts';
import type { MetricAnswer } from './metric-payload.ts';
import { PartialValues } from './partial-values.ts';
import type { GroupQuery } from './poll-queries.ts';

/** After this many calls in a row without an answer, the rest of the poll would get none either. */
const maxUnanswered = 12;
const unansweredReasons: ReadonlySet<FailureReason> = new Set<FailureReason>([
  'dns',
  'connect',
  'tls',
  'timeout',
  'throttled',
]);

/** What a poll was meant to ask for. */
interface Asked {
  readonly application: boolean;
  /** Only those that are still listed. */
  readonly hostIds: readonly string[];
  /** Whether the hosts are chosen by their names. */
  readonly isByName: boolean;
}

const noNames = { hostNames: undefined, hostNamesError: undefined, extraCalls: 0 };

/** Collects the answers of one poll while they arrive. */
export class PollAnswers {
  readonly #series: readonly PolledSeries[];
  /** What has not arrived in all of its calls, by scope. */
  readonly #partial = new Map<string, PartialValues>();
  #application: Values | undefined;
  readonly #hosts = new Map<string, Values>();
  #windowEndMs: number | undefined;
  #error: ApiError | undefined;
  readonly #failed = new Set<string>();
  readonly #goneHosts = new Set<string>();
  #isGone = false;
  #isUnauthorized = false;
  /** Calls in a row that got no answer at all. */
  #unanswered = 0;
  #names: Pick<PollOutcome, 'hostNames' | 'hostNamesError' | 'extraCalls'> = noNames;
  #extraCalls = 0;

  constructor(series: readonly PolledSeries[]) {
    this.#series = series;
  }

  /** Whether the rest of the poll is skipped: it would only fail in the same way. */
  isFinal(): boolean {
    return this.#isGone || this.#isUnauthorized || this.#unanswered >= maxUnanswered;
  }

  application(answer: MetricAnswer, query: GroupQuery): void {
    this.#application = this.#arrived(applicationScope, answer, query);
  }

  applicationFailed(error: ApiError): void {
    if (error.reason === 'not_found') this.#isGone = true;
    else this.#failure(applicationScope, error);
  }

  host(hostId: string, answer: MetricAnswer, query: GroupQuery): void {
    const values = this.#arrived(hostId, answer, query);
    if (values !== undefined) this.#hosts.set(hostId, values);
  }

  hostFailed(hostId: string, error: ApiError): void {
    if (error.reason === 'not_found') this.hostIsGone(hostId);
    else this.#failure(hostId, error);
  }

  hostIsGone(hostId: string): void {
    this.#goneHosts.add(hostId);
  }

  hostNames({ names, error, calls }: HostNames): void {
    this.#names = {
      hostNames: error !== undefined && names.size === 0 ? undefined : names,
      hostNamesError: error,
      extraCalls: calls,
    };
  }

  hostNamesFailed(error: ApiError): void {
    this.#names = { ...noNames, hostNamesError: error };
  }

  /**
   * Draws conclusions from the look-up of host names, for a poll that needs them. If the
   * application itself is polled, its own answer says whether it is gone.
   */
  concludeFromNames(selected: SelectedApplication): void {
    const { hostNamesError: error } = this.#names;
    if (error?.reason === 'not_found' && !asksForApplication(selected)) this.#isGone = true;
    if (error?.status === 401) this.#isUnauthorized = true;
  }

  /** Notes why the poll does not wait any longer for what has not arrived. */
  givenUp(error: ApiError): void {
    this.#error ??= error;
  }

  /**
   * The application with the hosts that its entry chooses by name, from known and newly arrived
   * names.
   */
  namedHosts(
    selected: SelectedApplication,
    known: ReadonlyMap<string, string>,
  ): SelectedApplication {
    const { hostNames } = this.#names;
    const names = new Map([...known, ...(hostNames ?? [])]);
    return withNamedHosts(withNewHosts(selected, hostNames), names);
  }

  /**
   * The outcome of the poll. Everything that was asked for and did not arrive has failed, even what
   * was not tried. Hosts are in the order of the discovery, so that two polls render alike.
   */
  outcome({ application: isAsked, hostIds, isByName }: Asked, askedParts: number): PollOutcome {
    const failed = new Set(this.#failed);
    const hosts = new Map<string, Values>();
    const namesError = isByName ? this.#names.hostNamesError : undefined;
    if (isAsked && this.#application === undefined) failed.add(applicationScope);
    if (namesError !== undefined) failed.add(hostsScope);
    for (const hostId of hostIds) {
      const values = this.#hosts.get(hostId);
      if (values !== undefined) hosts.set(hostId, values);
      else if (!this.#goneHosts.has(hostId)) failed.add(hostId);
    }
    return {
      reading: this.#reading(hosts),
      error: this.#error ?? namesError,
      failed: this.#isGone ? new Set() : failed,
      askedParts,
      gone: this.#isGone,
      unauthorized: this.#isUnauthorized,
      ...this.#names,
      extraCalls: this.#names.extraCalls + this.#extraCalls,
    };
  }

  /** `undefined` if nothing has arrived. */
  #reading(hosts: ReadonlyMap<string, Values>): AppReading | undefined {
    if (this.#application === undefined && hosts.size === 0) return undefined;
    const application = this.#application ?? [];
    return { windowEndMs: this.#windowEndMs, series: this.#series, application, hosts };
  }

  /**
   * All values, as soon as the last of the calls for them has brought its own: a part must not pass for
   * the whole. With the vendor's own window, the windows of one poll may end a minute apart: the earliest
   * end holds for all.
   */
  #arrived(
    scope: string,
    { values, windowEndMs, extraCalls = 0 }: MetricAnswer,
    { window, places, calls }: GroupQuery,
  ): Values | undefined {
    this.#unanswered = 0;
    this.#extraCalls += extraCalls;
    const endMs = window?.toMs ?? windowEndMs;
    if (endMs !== undefined) this.#windowEndMs = Math.min(this.#windowEndMs ?? endMs, endMs);
    if (places === undefined) return values;
    const partial = this.#partial.get(scope) ?? new PartialValues(this.#series.length, calls);
    this.#partial.set(scope, partial);
    const whole = partial.add(values, places);
    if (whole !== undefined) this.#partial.delete(scope);
    return whole;
  }

  #failure(scope: string, error: ApiError): void {
    this.#failed.add(scope);
    this.#error ??= error;
    if (error.status === 401) this.#isUnauthorized = true;
    this.#unanswered = unansweredReasons.has(error.reason) ? this.#unanswered + 1 : 0;
  }
}
