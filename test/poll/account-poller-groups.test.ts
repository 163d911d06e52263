import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nothingToAskOutcome } from '../../src/model/poll-outcome.ts';
import type { Question, Source } from '../../src/model/source.ts';
import { aSilentSource } from '../support/a-context.ts';
import { anAccount, anApplication, anEntry } from '../support/builders.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { aBenchOf } from '../support/poller-bench.ts';
import { found } from '../support/table-bench.ts';

/** How long a call takes. */
type Lasts = number;

interface GroupPlan {
  /** Of each application: how long its values are held. */
  readonly staleAfterMs: readonly number[];
  /** The calls of each stage. */
  readonly stages: readonly (readonly Lasts[])[];
}

interface MadeCall {
  readonly group: number;
  readonly stage: number;
  readonly beganMs: number;
  readonly endedMs: number;
}

async function lasting(clock: FakeClock, lasts: Lasts, aborted: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const cancel = clock.after(lasts, resolve);
    aborted.addEventListener('abort', () => {
      cancel();
      resolve();
    });
  });
}

const nameOf = (question: Question): string =>
  question.kind === 'application' ? question.selected.application.id : '';
const groupOf = (question: Question): number => Number(nameOf(question).split('-')[0]);

/** What belongs to the same plan is asked for together, stage by stage. */
function planned(
  plans: readonly GroupPlan[],
  ids: readonly string[],
  clock: FakeClock,
): { readonly source: Source; readonly made: ReadonlySet<MadeCall> } {
  const made = new Set<MadeCall>();
  const makeCall = async (
    { group, stage }: Pick<MadeCall, 'group' | 'stage'>,
    lasts: Lasts,
    signal: AbortSignal,
  ): Promise<void> => {
    const beganMs = clock.monotonicMs();
    await lasting(clock, lasts, signal);
    made.add({ group, stage, beganMs, endedMs: clock.monotonicMs() });
  };
  const source = aSilentSource({
    discover: async () => found(...ids.map((id) => anApplication({ id }))),
    groups: (due) =>
      plans
        .map((_, group) => due.filter((one) => groupOf(one) === group))
        .filter(({ length }) => length > 0),
    async *poll(asked, { signal }) {
      const [first] = asked();
      const group = first === undefined ? 0 : groupOf(first);
      for (const [stage, all] of (plans[group]?.stages ?? []).entries()) {
        await Promise.all(all.map(async (lasts) => makeCall({ group, stage }, lasts, signal)));
        if (signal.aborted) return;
      }
      for (const question of asked()) {
        if (question.kind === 'application') {
          yield { kind: 'application', question, outcome: nothingToAskOutcome };
        }
      }
    },
  });
  return { source, made };
}

/** Every stage begins after the one before has ended. */
function expectOrder(made: readonly MadeCall[]): void {
  for (const { stage, beganMs } of made) {
    const before = made.filter((one) => one.stage < stage);
    expect(Math.max(-1, ...before.map(({ endedMs }) => endedMs))).toBeLessThanOrEqual(beganMs);
  }
}

describe('any groups', () => {
  const lasts = fc.integer({ min: 0, max: 90_000 });
  const plan: fc.Arbitrary<GroupPlan> = fc.record({
    staleAfterMs: fc.array(fc.integer({ min: 1000, max: 120_000 }), {
      minLength: 1,
      maxLength: 50,
    }),
    stages: fc.array(fc.array(lasts, { maxLength: 4 }), { maxLength: 4 }),
  });
  const drop = fc.record({
    group: fc.nat(3),
    number: fc.nat(50),
    afterMs: fc.integer({ min: 0, max: 30_000 }),
  });

  it('report one outcome for each application that is wanted, and leave no timer', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(plan, { minLength: 1, maxLength: 4 }),
        fc.array(drop, { maxLength: 40 }),
        async (plans, drops) => {
          const clock = createFakeClock();
          // A poll with a short interval may take as long as its values are held.
          const entries = plans.flatMap(({ staleAfterMs }, group) =>
            staleAfterMs.map((one, number) =>
              anEntry({
                selector: { kind: 'id', id: `${group}-${number}` },
                poll: { intervalMs: 1000, staleAfterMs: one },
              }),
            ),
          );
          const ids = entries.map(({ selector }) => (selector.kind === 'id' ? selector.id : ''));
          const { source, made } = planned(plans, ids, clock);
          const account = { requestsPerMinute: 1_000_000, concurrency: 10_000 };
          const { poller, sink } = aBenchOf(source, clock, entries, account);
          const outcomesOf = (id: string): number =>
            sink.published.filter(
              ({ application, pollSucceeded }) =>
                application.id === id && pollSucceeded !== undefined,
            ).length;
          const dropped = new Set<string>();

          const polled = poller.runOnce(new AbortController().signal);
          await clock.advance(0);
          for (const { group, number, afterMs } of drops) {
            await clock.advance(afterMs);
            const id = `${group}-${number}`;
            if (outcomesOf(id) > 0) continue;
            dropped.add(id);
            const left = entries.filter((_, index) => !dropped.has(ids[index] ?? ''));
            await poller.reconfigure({ account: anAccount(), entries: left });
          }
          // All stages, one after the other.
          await clock.advance(4 * 90_000);
          await polled;

          expect(ids.map(outcomesOf)).toEqual(ids.map((id) => (dropped.has(id) ? 0 : 1)));
          for (const group of plans.keys()) {
            expectOrder([...made].filter((call) => call.group === group));
          }
          expect(clock.pendingTimers()).toBe(0);
        },
      ),
      { numRuns: 150 },
    );
  });
});
