import { isWorthPolling } from '../../src/model/selected-application.ts';
import type { Polled, PollOptions, Question, Source } from '../../src/model/source.ts';
import { aJob, callsAtOnce } from './calls-at-once.ts';
import { type FakeSource, inTurn, restSourceOf } from './fake-source.ts';

/** Applications that one call answers for. */
const batchSize = 200;

export interface FakeBatchSource extends FakeSource {
  /** The ids of the applications that each call for values asked for, in order. */
  readonly sentBatches: (readonly string[])[];
}

/**
 * An API that answers for many applications and all their hosts in one call, names included, as
 * NerdGraph does. The answers are those that the fake was told. Applications share a batch if they are
 * asked for the same window and transactions.
 */
export function inBatches(fake: FakeSource): FakeBatchSource {
  const sentBatches: (readonly string[])[] = [];
  const inside = restSourceOf(fake.client, callsAtOnce(), fake.clock);
  const source: Pick<Source, 'sharesCalls' | 'cost' | 'groups' | 'discover' | 'poll'> = {
    discover: async (...wanted) => inside.discover(...wanted),
    sharesCalls: true,
    cost: (subjects) => {
      const polled = subjects.filter(
        (one) => one.kind === 'application' && isWorthPolling(one.selected),
      );
      return { ...fake.cost([]), application_metrics: groupsOf(polled).length };
    },
    groups: groupsOf,
    async *poll(asked, options) {
      const { job, signal } = options;
      const permit = await fake.accountCalls.take(job, signal);
      const questions = asked();
      sentBatches.push(questions.flatMap(idsOf));
      yield* await inTurn({ permit, signal }, async () => askedInOne(inside, questions, options));
    },
  };
  const lists = (): number => fake.calls.filter((call) => call === 'list').length;
  return { ...fake, ...source, sentBatches, sent: () => lists() + sentBatches.length };
}

/** What the REST API would be asked in many calls, in a single one. */
async function askedInOne(
  inside: Source,
  questions: readonly Question[],
  { signal }: PollOptions,
): Promise<readonly Polled[]> {
  const all = questions.map(async (question) => {
    const polled: Polled[] = [];
    const options = { job: aJob, signal };
    for await (const one of inside.poll(() => [question], options)) polled.push(one);
    return polled;
  });
  return (await Promise.all(all)).flat();
}

/** What is asked for alike, as much of it together as one call takes. What is early only joins in. */
function groupsOf<Item extends Question>(
  due: readonly Item[],
  early: readonly Item[] = [],
): readonly (readonly Item[])[] {
  const groups: Item[][] = [];
  const unfilled = new Map<string, Item[]>();
  for (const [index, item] of [...due, ...early].entries()) {
    const kind = kindOf(item);
    const group = unfilled.get(kind) ?? [];
    if (group.length === 0 && index >= due.length) continue;
    if (group.length === 0) groups.push(group);
    group.push(item);
    unfilled.set(kind, group.length < batchSize ? group : []);
  }
  return groups;
}

function kindOf(subject: Question): string {
  if (subject.kind === 'query') return JSON.stringify(subject.query.name);
  const { poll, transactions } = subject.selected.entry;
  return JSON.stringify([poll.window, poll.delayMs, poll.raw, transactions]);
}

function idsOf(question: Question): readonly string[] {
  return question.kind === 'application' ? [question.selected.application.id] : [];
}
