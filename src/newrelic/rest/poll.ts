import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import { type ApiError, asApiError, type FailureReason } from '../../model/api-error.ts';
import type { Permit } from '../../model/permit.ts';
import {
  applicationScope,
  hostsScope,
  nothingToAskOutcome,
  type PollOutcome,
} from '../../model/poll-outcome.ts';
import type { Values } from '../../model/polled-series.ts';
import {
  asksForApplication,
  hostSelectorOf,
  hostsToPoll,
  wantedHostNames,
  withNamedHosts,
  withNewHosts,
} from '../../model/selected-application.ts';
import type {
  ApplicationQuestion,
  HostNames,
  Polled,
  PollOptions,
  RequestContext,
  Source,
} from '../../model/source.ts';
import { windowAt } from '../../model/window.ts';
import type { AccountCalls } from '../calls/account-calls.ts';
import type { VendorTime } from '../calls/vendor-clock.ts';
import type { CallGroupsOf, SeriesGroup, WholeAnswers } from './call-groups.ts';
import type { KnownHosts } from './host-names.ts';
import type { MetricAnswer, MetricQuery } from './metric-payload.ts';

/** After this many calls in a row without an answer, the rest of the poll would get none either. */
const maxUnanswered = 12;
const unanswered = new Set<FailureReason>(['dns', 'connect', 'tls', 'timeout', 'throttled']);

/** The REST API v2 for one account. */
export interface RestClient {
  readonly discover: Source['discover'];
  /** @param wanted names that one host may have: other hosts may be left out */
  hostNames(id: string, context: RequestContext, wanted?: readonly string[]): Promise<HostNames>;
  /** Rejects with an `ApiError` or with the signal's reason. */
  metrics(
    applicationId: string,
    hostId: string | undefined,
    query: MetricQuery,
    context: RequestContext,
  ): Promise<MetricAnswer>;
}

/** What all polls of an account share. */
export interface RestPoll {
  readonly client: RestClient;
  readonly calls: AccountCalls;
  readonly vendorClock: VendorTime;
  readonly callGroupsOf: CallGroupsOf;
  readonly wholeAnswers: WholeAnswers;
  readonly knownHosts: KnownHosts;
}

/**
 * Asks about one application and the hosts that its entry chooses, with one call or a few for each of them,
 * all for the same window. If hosts are chosen by names that are not known yet, the names come first. Yields as
 * `Source.poll` does.
 */
export async function* pollApplication(
  question: ApplicationQuestion,
  how: PollOptions,
  context: RestPoll,
): AsyncGenerator<Polled, undefined> {
  const poll = new ApplicationPoll(question, how, context);
  await poll.ask();
  if (!how.signal.aborted) yield { kind: 'application', question, outcome: poll.outcome() };
  return undefined;
}

/** The calls of one poll, and what they have shown so far. A scope is a host id, or `applicationScope`. */
class ApplicationPoll {
  readonly #question: ApplicationQuestion;
  readonly #how: PollOptions;
  readonly #context: RestPoll;
  /** Ends the waiting of calls that would only fail in the same way. */
  readonly #over = new AbortController();
  readonly #waiting: AbortSignal;
  /** Whether the hosts to poll are chosen by their names. */
  readonly #isByName: boolean;
  readonly #asksNames: boolean;
  /** What has arrived as a whole, by scope. */
  readonly #parts = new Map<string, Values>();
  /** What each of its calls has brought, by scope. */
  readonly #pieces = new Map<string, ReadonlyMap<SeriesGroup, Values>>();
  readonly #goneHosts = new Set<string>();
  #hostIds: readonly string[];
  #windowsAtMs: number | undefined;
  #windowEndMs: number | undefined;
  #error: ApiError | undefined;
  #isGone = false;
  #isUnauthorized = false;
  /** Calls in a row that got no answer at all. */
  #unanswered = 0;
  #namesError: ApiError | undefined;
  /** The hosts of the application, if the names of some have shown more than the discovery. */
  #allHostIds: readonly string[] | undefined;

  constructor(question: ApplicationQuestion, how: PollOptions, context: RestPoll) {
    this.#question = question;
    this.#how = how;
    this.#context = context;
    this.#windowsAtMs = how.windowsAtMs;
    this.#waiting = AbortSignal.any([how.signal, this.#over.signal]);
    setMaxListeners(0, this.#waiting);
    const { selected } = question;
    const { knownHosts } = context;
    this.#isByName = hostSelectorOf(selected) !== undefined;
    this.#asksNames = knownHosts.shouldAsk(selected);
    this.#hostIds = hostsToPoll(withNamedHosts(selected, knownHosts.namesOf(selected)));
  }

  async ask(): Promise<void> {
    const names = async (): Promise<void> => this.#call(async (call) => this.#askNames(call));
    if (this.#asksNames && this.#isByName) await names();
    const scopes = this.#scopes();
    if (scopes.length === 0) return;
    const values = scopes.flatMap((scope) =>
      this.#groupsOf(scope).map(
        (group) => async () =>
          this.#call(async (call) => this.#askValues(scope, group, call), scope),
      ),
    );
    const isWithNames = this.#asksNames && !this.#isByName;
    const all = isWithNames ? [names, ...values] : values;
    await pLimit(this.#context.calls.concurrency).map(all, async (call) => call());
  }

  /**
   * What was to be asked for and did not arrive has failed, even what was not tried. Hosts are in the order of
   * the discovery, so that two polls render alike.
   */
  outcome(): PollOutcome {
    const { knownHosts } = this.#context;
    const { selected } = this.#question;
    const hosts = knownHosts.namesOf(selected);
    const scopes = this.#scopes();
    if (!this.#asksNames && scopes.length === 0) return { ...nothingToAskOutcome, hosts };
    knownHosts.polled(selected, this.#parts);
    const missing = scopes.filter(
      (scope) => !this.#parts.has(scope) && !this.#goneHosts.has(scope),
    );
    const failed = this.#namesError === undefined ? missing : [hostsScope, ...missing];
    return {
      reading: this.#reading(scopes),
      error: this.#error,
      failed: new Set(this.#isGone ? [] : failed),
      partCount: scopes.length,
      gone: this.#isGone,
      unauthorized: this.#isUnauthorized,
      hostIds: this.#allHostIds,
      hosts,
    };
  }

  /** `undefined` if nothing has arrived. */
  #reading(scopes: readonly string[]): PollOutcome['reading'] {
    const arrived = new Map(
      scopes.flatMap((scope) => {
        const values = this.#parts.get(scope);
        return values === undefined ? [] : [[scope, values]];
      }),
    );
    if (arrived.size === 0) return undefined;
    const application = arrived.get(applicationScope) ?? [];
    arrived.delete(applicationScope);
    const { series } = this.#question.selected.entry;
    return { windowEndMs: this.#windowEndMs, series, application, hosts: arrived };
  }

  /** What is to be asked for, as far as that is known. */
  #scopes(): readonly string[] {
    const isAsked = asksForApplication(this.#question.selected);
    return isAsked ? [applicationScope, ...this.#hostIds] : this.#hostIds;
  }

  /** Whether the rest of the poll is skipped: it would only fail in the same way. */
  #isFinal(): boolean {
    return this.#isGone || this.#isUnauthorized || this.#unanswered >= maxUnanswered;
  }

  /**
   * Makes one call when its turn has come, unless that is pointless by then.
   *
   * @param scope what fails if the call may never leave; `undefined` for names
   */
  async #call(make: (context: RequestContext) => Promise<void>, scope?: string): Promise<void> {
    const { calls } = this.#context;
    const { job, signal } = this.#how;
    if (this.#isFinal() || signal.aborted) return;
    let permit: Permit | undefined;
    try {
      permit = await calls.take(job, this.#waiting);
      if (this.#isFinal()) return;
      await make({ job, permit, signal, mayRetry: this.#question.hasFailed !== true });
    } catch (error) {
      if (signal.aborted || this.#over.signal.aborted) return;
      if (scope === undefined)
        this.#named({ names: new Map(), error: asApiError(error), calls: 0 });
      else this.#partFailed(scope, asApiError(error));
    } finally {
      permit?.release('unsent');
      if (this.#isFinal()) this.#over.abort();
    }
  }

  #groupsOf(scope: string): readonly SeriesGroup[] {
    const { series } = this.#question.selected.entry;
    const { applications, hosts } = this.#context.callGroupsOf(series);
    return scope === applicationScope ? applications : hosts;
  }

  async #askNames(call: RequestContext): Promise<void> {
    const { selected } = this.#question;
    const wanted = wantedHostNames(selected);
    this.#named(await this.#context.client.hostNames(selected.application.id, call, wanted));
  }

  /**
   * A poll that needs the names draws conclusions: which hosts to ask for, and whether it can go on. If the
   * application itself is polled, its own answer says whether it is gone.
   */
  #named(found: HostNames): void {
    const { knownHosts } = this.#context;
    const selected = withNewHosts(this.#question.selected, found.names);
    knownHosts.found(selected, found);
    if (!this.#isByName) return;
    const { error } = found;
    this.#namesError = error;
    this.#error ??= error;
    if (error?.reason === 'not_found' && !asksForApplication(selected)) this.#isGone = true;
    if (error?.status === 401) this.#isUnauthorized = true;
    this.#hostIds = hostsToPoll(withNamedHosts(selected, knownHosts.namesOf(selected)));
    if (selected !== this.#question.selected) this.#allHostIds = selected.application.hostIds;
  }

  async #askValues(scope: string, group: SeriesGroup, call: RequestContext): Promise<void> {
    const { client, vendorClock, wholeAnswers } = this.#context;
    const { application, entry } = this.#question.selected;
    const { window: wanted, delayMs, raw } = entry.poll;
    const hostId = scope === applicationScope ? undefined : scope;
    // Names may have waited for long, such as for the end of a pause.
    this.#windowsAtMs ??= vendorClock.wallMs();
    const window = windowAt(this.#windowsAtMs, wanted, delayMs);
    const answer = await wholeAnswers.ask(group, async (series) =>
      client.metrics(application.id, hostId, { series, window, raw }, call),
    );
    this.#arrived(scope, group, answer.values, window?.toMs ?? answer.windowEndMs);
  }

  /**
   * The values are a part when the last of the calls for them has brought its own. The vendor's own windows may
   * end a minute apart within a poll: the earliest end holds for all.
   */
  #arrived(scope: string, group: SeriesGroup, values: Values, endMs: number | undefined): void {
    this.#unanswered = 0;
    if (endMs !== undefined) this.#windowEndMs = Math.min(this.#windowEndMs ?? endMs, endMs);
    const pieces = new Map(this.#pieces.get(scope)).set(group, values);
    this.#pieces.set(scope, pieces);
    if (pieces.size < this.#groupsOf(scope).length) return;
    const bySeries = new Map(
      Array.from(pieces).flatMap(([{ series }, some]) => series.map((one, at) => [one, some[at]])),
    );
    const { series: all } = this.#question.selected.entry;
    const part = all.map((one) => bySeries.get(one));
    this.#parts.set(scope, part);
  }

  #partFailed(scope: string, error: ApiError): void {
    if (error.reason === 'not_found') {
      if (scope === applicationScope) this.#isGone = true;
      else this.#goneHosts.add(scope);
      return;
    }
    this.#error ??= error;
    if (error.status === 401) this.#isUnauthorized = true;
    this.#unanswered = unanswered.has(error.reason) ? this.#unanswered + 1 : 0;
  }
}
