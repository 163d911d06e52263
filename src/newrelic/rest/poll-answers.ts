import type { ApiError, FailureReason } from '../../model/api-error.ts';
import { applicationScope, hostsScope, type PollOutcome } from '../../model/poll-outcome.ts';
import type { PolledSeries, Values } from '../../model/polled-series.ts';
import {
  asksForApplication,
  type SelectedApplication,
  withNamedHosts,
  withNewHosts,
} from '../../model/selected-application.ts';
import type { AppReading } from '../../model/snapshot.ts';
import type { HostNames } from '../../model/source.ts';
import type { SeriesGroup } from './call-groups.ts';
import type { MetricAnswer, MetricQuery } from './metric-payload.ts';

/** After this many calls in a row without an answer, the rest of the poll would get none either. */
const maxUnanswered = 12;
const unansweredReasons: ReadonlySet<FailureReason> = new Set<FailureReason>([
  'dns',
  'connect',
  'tls',
  'timeout',
  'throttled',
]);

/** One of the calls that ask for the values of an application, or of a host. */
export interface GroupQuery extends MetricQuery, Pick<SeriesGroup, 'places' | 'calls'> {}

/** The values that have arrived of what is asked for in several calls. */
interface PartialValues {
  readonly values: Values;
  readonly callsLeft: number;
}

/** What a poll was meant to ask for. */
interface Asked {
  readonly application: boolean;
  /** Only those that are still listed. */
  readonly hostIds: readonly string[];
  /** Whether the hosts are chosen by their names. */
  readonly isByName: boolean;
}

const noNames = { hostNames: undefined, hostNamesError: undefined, extraCalls: 0 };

export class PollAnswers {
  readonly #series: readonly PolledSeries[];
  /** What has not arrived in all of its calls, by scope. */
  readonly #partial = new Map<string, PartialValues>();
  readonly #parts = new Map<string, Values>();
  #windowEndMs: number | undefined;
  #error: ApiError | undefined;
  readonly #failed = new Set<string>();
  readonly #goneHosts = new Set<string>();
  #isGone = false;
  #isUnauthorized = false;
  /** Calls in a row that got no answer at all. */
  #unanswered = 0;
  #names: Pick<PollOutcome, 'hostNames' | 'hostNamesError' | 'extraCalls'> = noNames;

  constructor(series: readonly PolledSeries[]) {
    this.#series = series;
  }

  /** Whether the rest of the poll is skipped: it would only fail in the same way. */
  isFinal(): boolean {
    return this.#isGone || this.#isUnauthorized || this.#unanswered >= maxUnanswered;
  }

  /** What has arrived as a whole: by host id, and by `applicationScope`. */
  get parts(): ReadonlyMap<string, Values> {
    return this.#parts;
  }

  /** @param scope a host id, or `applicationScope` */
  arrived(scope: string, answer: MetricAnswer, query: GroupQuery): void {
    const values = this.#whole(scope, answer, query);
    if (values !== undefined) this.#parts.set(scope, values);
  }

  replace(scope: string, values: Values): void {
    this.#parts.set(scope, values);
  }

  partFailed(scope: string, error: ApiError): void {
    const isThere = error.reason !== 'not_found';
    if (isThere) this.#failure(scope, error);
    else if (scope === applicationScope) this.#isGone = true;
    else this.hostIsGone(scope);
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
  outcome({ application: isAsked, hostIds, isByName }: Asked, partCount: number): PollOutcome {
    const failed = new Set(this.#failed);
    const hosts = new Map<string, Values>();
    const namesError = isByName ? this.#names.hostNamesError : undefined;
    if (isAsked && !this.#parts.has(applicationScope)) failed.add(applicationScope);
    if (namesError !== undefined) failed.add(hostsScope);
    for (const hostId of hostIds) {
      const values = this.#parts.get(hostId);
      if (values !== undefined) hosts.set(hostId, values);
      else if (!this.#goneHosts.has(hostId)) failed.add(hostId);
    }
    return {
      reading: this.#reading(hosts),
      error: this.#error ?? namesError,
      failed: this.#isGone ? new Set() : failed,
      partCount,
      gone: this.#isGone,
      unauthorized: this.#isUnauthorized,
      ...this.#names,
    };
  }

  /** `undefined` if nothing has arrived. */
  #reading(hosts: ReadonlyMap<string, Values>): AppReading | undefined {
    const application = this.#parts.get(applicationScope) ?? [];
    if (!this.#parts.has(applicationScope) && hosts.size === 0) return undefined;
    return { windowEndMs: this.#windowEndMs, series: this.#series, application, hosts };
  }

  /**
   * All values, as soon as the last of the calls for them has brought its own: a part must not pass for
   * the whole. With the vendor's own window, the windows of one poll may end a minute apart: the earliest
   * end holds for all.
   */
  #whole(
    scope: string,
    { values, windowEndMs }: MetricAnswer,
    { window, places, calls }: GroupQuery,
  ): Values | undefined {
    this.#unanswered = 0;
    const endMs = window?.toMs ?? windowEndMs;
    if (endMs !== undefined) this.#windowEndMs = Math.min(this.#windowEndMs ?? endMs, endMs);
    if (places === undefined) return values;
    const none = { values: this.#series.map(() => undefined), callsLeft: calls };
    const known = this.#partial.get(scope) ?? none;
    const arrived = new Map(places.map((place, index) => [place, values[index]]));
    const all = known.values.map((value, place) => arrived.get(place) ?? value);
    if (known.callsLeft > 1) {
      this.#partial.set(scope, { values: all, callsLeft: known.callsLeft - 1 });
      return undefined;
    }
    this.#partial.delete(scope);
    return all;
  }

  #failure(scope: string, error: ApiError): void {
    this.#failed.add(scope);
    this.#error ??= error;
    if (error.status === 401) this.#isUnauthorized = true;
    this.#unanswered = unansweredReasons.has(error.reason) ? this.#unanswered + 1 : 0;
  }
}
