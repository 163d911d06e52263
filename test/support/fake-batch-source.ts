import { ApiError } from '../../src/model/api-error.ts';
import type { Clock } from '../../src/model/clock.ts';
import type { PollOutcome } from '../../src/model/poll-outcome.ts';
import { isWorthPolling, type SelectedApplication } from '../../src/model/selected-application.ts';
import type { Batch, CallContext, Question, Source, Stage } from '../../src/model/source.ts';
import { createCallGroups } from '../../src/newrelic/rest/call-groups.ts';
import { RestBatch } from '../../src/newrelic/rest/rest-batch.ts';
import { WholeAnswers } from '../../src/newrelic/rest/whole-answers.ts';
import { type FakeSource, inTurn } from './fake-source.ts';

/** Applications that one call answers for. */
const batchSize = 200;

const callGroupsOf = createCallGroups();

export interface FakeBatchSource extends FakeSource {
  /** The ids of the applications that each call for values asked for, in order. */
  readonly sentBatches: (readonly string[])[];
}

/**
 * An API that answers for many applications and all their hosts in one call, names included, as
 * NerdGraph does. The answers are those that the fake was told. Applications share a batch if they are
 * asked for the same window and transactions.
 */
export function inBatches(fake: FakeSource, clock: Clock): FakeBatchSource {
  const sentBatches: (readonly string[])[] = [];
  const source: Pick<Source, 'sharesCalls' | 'costs' | 'batches'> = {
    sharesCalls: true,
    costs: {
      ...fake.costs,
      polls: (applications) => ({
        list_applications: 0,
        list_hosts: 0,
        application_metrics: groupsOf(applications.filter(isWorthPolling), kindOf).length,
        host_metrics: 0,
        query: 0,
      }),
      once: () => 0,
    },
    batches: (due, early) => {
      const groups = groupsOf(due, ({ selected }) => kindOf(selected));
      fillUp(groups, early);
      return groups.map((group) => new FakeBatch(group, { fake, clock, sentBatches }));
    },
  };
  const lists = (): number => fake.calls.filter((call) => call === 'list').length;
  return { ...fake, ...source, sentBatches, sent: () => lists() + sentBatches.length };
}

function kindOf({ entry }: SelectedApplication): string {
  const { window, delayMs, raw } = entry.poll;
  return JSON.stringify([window, delayMs, raw, entry.transactions]);
}

/** Groups of the same kind, as large as one call takes. */
function groupsOf<Item>(items: readonly Item[], kind: (item: Item) => string): Item[][] {
  const groups: Item[][] = [];
  const unfilled = new Map<string, Item[]>();
  for (const item of items) {
    const group = unfilled.get(kind(item)) ?? [];
    if (group.length === 0) groups.push(group);
    group.push(item);
    unfilled.set(kind(item), group.length < batchSize ? group : []);
  }
  return groups;
}

function fillUp<Asked extends Question>(groups: Asked[][], early: readonly Asked[]): void {
  const unfilled = new Map(
    groups
      .filter(({ length }) => length < batchSize)
      .map((group) => [group[0] && kindOf(group[0].selected), group]),
  );
  for (const question of early) {
    const group = unfilled.get(kindOf(question.selected));
    if (group !== undefined && group.length < batchSize) group.push(question);
  }
}

interface FakeBatchDependencies {
  readonly fake: FakeSource;
  readonly clock: Clock;
  readonly sentBatches: (readonly string[])[];
}

/** What the REST API would be asked in many calls, in a single one. */
class FakeBatch<Asked extends Question> implements Batch<Asked> {
  readonly questions: readonly Asked[];
  readonly key: string;
  readonly #sentBatches: (readonly string[])[];
  readonly #parts: ReadonlyMap<Asked, Batch<Asked>>;
  #isAsked = false;

  constructor(questions: readonly Asked[], dependencies: FakeBatchDependencies) {
    const { fake, clock, sentBatches } = dependencies;
    this.questions = questions;
    this.key = idsOf(questions).join();
    this.#sentBatches = sentBatches;
    this.#parts = new Map(
      questions.map((one) => [
        one,
        new RestBatch(one, {
          client: fake.client,
          callGroupsOf,
          wholeAnswers: new WholeAnswers(clock, () => undefined),
        }),
      ]),
    );
  }

  nextStage(): Stage | undefined {
    if (this.#isAsked) return undefined;
    this.#isAsked = true;
    return { size: 1, calls: [async (context: CallContext) => this.#ask(context)].values() };
  }

  giveUp(error: ApiError): void {
    for (const part of this.#parts.values()) part.giveUp(error);
  }

  outcomeOf(question: Asked): PollOutcome {
    const part = this.#parts.get(question);
    if (part === undefined) throw new Error('the application is not in this batch');
    // The names come with the values.
    return { ...part.outcomeOf(question), extraCalls: 0 };
  }

  async #ask(context: CallContext): Promise<void> {
    await inTurn(context, async () => {
      this.#sentBatches.push(idsOf(this.questions));
      // What the parts ask for is in the one answer.
      let isAnswered = false;
      const release = (isAnsweredNow: boolean | undefined): void => {
        isAnswered ||= isAnsweredNow === true;
      };
      const permit = { apiKey: 'inside', throttled: () => undefined, release };
      const inside: CallContext = { ...context, turn: { next: async () => permit } };
      const parts = [...this.#parts.values()];
      await Promise.all(parts.map(async (part) => allStagesOf(part, inside)));
      if (!isAnswered) throw new ApiError('reset', 'no answer at all');
    }).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
    });
  }
}

/** Makes every call of a batch. */
async function allStagesOf(batch: Batch, context: CallContext): Promise<void> {
  for (let stage = batch.nextStage(); stage !== undefined; stage = batch.nextStage()) {
    await Promise.all(
      Array.from({ [Symbol.iterator]: () => stage.calls }, async (call) => call(context)),
    );
  }
}

function idsOf(questions: readonly Question[]): readonly string[] {
  return questions.map(({ selected }) => selected.application.id);
}
