import { type ApiError, asApiError } from '../../model/api-error.ts';
import { applicationScope, type PollOutcome } from '../../model/poll-outcome.ts';
import {
  asksForApplication,
  hostSelectorOf,
  hostsToPoll,
  wantedHostNames,
} from '../../model/selected-application.ts';
import type { Batch, Call, CallContext, Question, Stage } from '../../model/source.ts';
import { windowAt } from '../../model/window.ts';
import type { CallGroupsOf, SeriesGroup } from './call-groups.ts';
import { PollAnswers } from './poll-answers.ts';
import type { RestClient } from './rest-client.ts';
import type { WholeAnswers } from './whole-answers.ts';

export interface RestBatchDependencies {
  readonly client: Pick<RestClient, 'hostNames' | 'metrics'>;
  readonly callGroupsOf: CallGroupsOf;
  readonly wholeAnswers: WholeAnswers;
}

/**
 * One application and the hosts that its entry chooses, with a call for each of them, or a few if one does
 * not suffice, all for the same window. If hosts are chosen by names that are not known yet, a stage for the names comes
 * first. If the answers leave a doubt whether they are whole, a stage that finds it out may come last.
 */
export class RestBatch<Asked extends Question> implements Batch<Asked> {
  readonly questions: readonly [Asked];
  readonly key: string;
  readonly #question: Asked;
  readonly #dependencies: RestBatchDependencies;
  readonly #answers: PollAnswers;
  /** Whether the hosts to poll are chosen by their names. */
  readonly #isByName: boolean;
  #stage: 'none' | 'names' | 'values' | 'trial' = 'none';
  #hostIds: readonly string[];
  #parts = 0;
  #isGivenUp = false;
  /** What this poll assumes of answers for several metrics. */
  readonly #areWhole: boolean;
  /** Called when the trial has ended. */
  #concludeTrial = (): void => undefined;

  constructor(question: Asked, dependencies: RestBatchDependencies) {
    this.#question = question;
    this.#dependencies = dependencies;
    const { selected } = question;
    this.questions = [question];
    this.#answers = new PollAnswers(selected.entry.series);
    this.#areWhole = dependencies.wholeAnswers.areWhole;
    this.key = selected.application.id;
    this.#isByName = hostSelectorOf(selected) !== undefined;
    this.#hostIds = hostsToPoll(selected);
  }

  nextStage(): Stage | undefined {
    const { askHostNames } = this.#question;
    if (this.#stage === 'values') return this.#trialStage();
    if (this.#stage === 'trial') {
      this.#concludeTrial();
      return undefined;
    }
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
    if (this.#stage !== 'trial') this.#answers.givenUp(error);
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
    const isAsked = asksForApplication(selected);
    this.#parts = (isAsked ? 1 : 0) + this.#hostIds.length;
    const ofApplication = isAsked ? this.#groupsOf(applicationScope, this.#areWhole).length : 0;
    const ofHost = this.#groupsOf('any', this.#areWhole).length;
    const calls = ofApplication + this.#hostIds.length * ofHost;
    const isWithNames = askHostNames && !this.#isByName;
    return { size: calls + (isWithNames ? 1 : 0), calls: this.#valueCalls(isWithNames) };
  }

  *#nameCalls(): Generator<Call, undefined> {
    yield async (context) => {
      await this.#names(context);
      const { selected, hostNames } = this.#question;
      this.#answers.concludeFromNames(selected);
      this.#hostIds = hostsToPoll(this.#answers.namedHosts(selected, hostNames));
    };
    return undefined;
  }

  *#valueCalls(isWithNames: boolean): Generator<Call, undefined> {
    if (isWithNames) yield async (context) => this.#names(context);
    for (const call of this.#callsForValues()) {
      yield call;
      if (this.#answers.isFinal()) break;
    }
    return undefined;
  }

  *#callsForValues(): Generator<Call, undefined> {
    const { selected, isListed } = this.#question;
    if (asksForApplication(selected)) yield* this.#valuesOf(applicationScope);
    for (const hostId of this.#hostIds) {
      if (isListed(hostId)) yield* this.#valuesOf(hostId);
      else this.#answers.hostIsGone(hostId);
    }
    return undefined;
  }

  /** @param scope a host id, or `applicationScope` */
  *#valuesOf(scope: string): Generator<Call, undefined> {
    for (const group of this.#groupsOf(scope, this.#areWhole)) {
      yield async (context) =>
        handlingFailure(
          async () => this.#ask(scope, group, context, this.#answers),
          (error) => this.#answers.partFailed(scope, error),
        );
    }
    return undefined;
  }

  /** One part is asked for in the other way as well, if that shows something new. */
  #trialStage(): Stage | undefined {
    const { wholeAnswers } = this.#dependencies;
    const areWhole = this.#areWhole;
    const { parts } = this.#answers;
    const callsOf = (one: string): readonly SeriesGroup[] => this.#groupsOf(one, true);
    const scope = this.#hasQuestions() ? wholeAnswers.tryOne(areWhole, parts, callsOf) : undefined;
    if (scope === undefined) return undefined;
    this.#stage = 'trial';
    const answers = new PollAnswers(this.#question.selected.entry.series);
    this.#concludeTrial = () => {
      const [before, since] = [parts.get(scope), answers.parts.get(scope)];
      if (before === undefined || since === undefined) return;
      const [together, apart] = areWhole ? [before, since] : [since, before];
      // Asked for apart, nothing is left out.
      this.#answers.replace(scope, apart);
      wholeAnswers.tried({ calls: callsOf(scope), together, apart });
    };
    const groups = this.#groupsOf(scope, !areWhole);
    // That it fails is no failure of the poll.
    const calls = groups.map(
      (group): Call =>
        async (context) =>
          handlingFailure(async () => this.#ask(scope, group, context, answers)),
    );
    return { size: calls.length, calls: calls.values() };
  }

  #groupsOf(scope: string, areWhole: boolean): readonly SeriesGroup[] {
    const { series } = this.#question.selected.entry;
    const { applications, hosts } = this.#dependencies.callGroupsOf(series, areWhole);
    return scope === applicationScope ? applications : hosts;
  }

  async #ask(
    scope: string,
    group: SeriesGroup,
    context: CallContext,
    answers: PollAnswers,
  ): Promise<void> {
    const { application, entry } = this.#question.selected;
    const { window, delayMs, raw } = entry.poll;
    const query = { ...group, window: windowAt(context.wallMs, window, delayMs), raw };
    const hostId = scope === applicationScope ? undefined : scope;
    const { client } = this.#dependencies;
    answers.arrived(scope, await client.metrics(application.id, hostId, query, context), query);
  }

  async #names(context: CallContext): Promise<void> {
    const { client } = this.#dependencies;
    const { selected } = this.#question;
    const { id } = selected.application;
    // The deadline of the poll says nothing about the names: the next poll asks for them again.
    const isLate = (): boolean => this.#isGivenUp && !this.#isByName;
    await handlingFailure(
      async () => {
        const names = await client.hostNames(id, context, wantedHostNames(selected));
        if (!isLate()) this.#answers.hostNames(names);
      },
      (error) => {
        if (!isLate()) this.#answers.hostNamesFailed(error);
      },
    );
  }
}

/** Hands over the error that a call ends with. A call that fails has ended all the same. */
async function handlingFailure(
  ask: () => Promise<void>,
  failed: (error: ApiError) => void = () => undefined,
): Promise<void> {
  try {
    await ask();
  } catch (error) {
    failed(asApiError(error));
  }
}
