import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Application } from '../../src/model/application.ts';
import type { AppEntry } from '../../src/model/config.ts';
import type { Discovery } from '../../src/model/source.ts';
import type { AccountTable } from '../../src/poller/account-table.ts';
import type { PollRequest } from '../../src/poller/batch-poll.ts';
import { anAccount, anApplication, anEntry, throughputSeries } from '../support/builders.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import type { FakeSink } from '../support/fake-sink.ts';
import { webOf } from '../support/fake-source.ts';
import { aTable, failed, found, noError } from '../support/table-bench.ts';

/** Enough for a change to take several turns. */
const count = 2500;

/** A clock whose timers fire one at a time, when the test says so. */
function createTurns(): {
  readonly clock: FakeClock;
  readonly turn: () => Promise<boolean>;
  readonly goTo: (ms: number) => void;
} {
  let nowMs = 0;
  const waiting = new Set<() => void>();
  return {
    clock: {
      ...createFakeClock(),
      monotonicMs: () => nowMs,
      after: (_delayMs, run) => {
        waiting.add(run);
        return () => {
          waiting.delete(run);
        };
      },
    },
    turn: async () => {
      const [next] = waiting;
      if (next !== undefined) waiting.delete(next);
      next?.();
      await settle();
      return next !== undefined;
    },
    goTo: (ms) => {
      nowMs = ms;
    },
  };
}

/** Possible entries of the configuration: each of them wants the stable applications. */
const configurations: readonly (readonly AppEntry[])[] = [
  [anEntry({ labels: { of: 'everything' } })],
  [anEntry({ selector: { kind: 'match', pattern: /^stable/u }, poll: { intervalMs: 30_000 } })],
  [
    anEntry({ selector: { kind: 'match', pattern: /[05]$/u }, labels: { of: 'fives' } }),
    anEntry({ selector: { kind: 'match', pattern: /^stable/u }, hosts: false }),
  ],
];

/** What the vendor lists: half of the applications always; of the others every second, third... */
function listOf(variant: number): readonly Application[] {
  const all = Array.from({ length: count }, (_, id) =>
    anApplication({
      id: `${id}`,
      name: id < count / 2 ? `stable ${id}` : `volatile ${id}`,
      hostIds: [`${id}-${variant}`],
    }),
  );
  return all.filter(({ id }) => Number(id) < count / 2 || Number(id) % (variant + 2) === 0);
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('turn' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('discover' as const),
      variant: fc.nat(2),
      complete: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('configure' as const), variant: fc.nat(2) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('begin' as const), first: fc.nat(count) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Calls the table as an account does, in the order of the steps. */
class Account {
  readonly table: AccountTable;
  readonly sink: FakeSink;
  readonly turn: () => Promise<boolean>;
  readonly goTo: (ms: number) => void;
  readonly pollsEnded = new Map<string, number>();
  readonly polls = new Map<string, PollRequest>();
  #configuration = 0;
  #variant = 0;
  #discovering: AbortController | undefined;
  #configuring = false;

  constructor() {
    const { clock, turn, goTo } = createTurns();
    const bench = aTable({ clock, entries: configurations[0] ?? [] });
    this.table = bench.table;
    this.sink = bench.sink;
    this.turn = turn;
    this.goTo = goTo;
  }

  async take(one: Step): Promise<void> {
    if (one.kind === 'turn') await this.turn();
    else if (one.kind === 'discover') this.discover(one.variant, one.complete);
    else if (one.kind === 'configure') this.configure(one.variant);
    else if (one.kind === 'begin') this.begin(one.first);
    else this.endAll();
  }

  async rest(): Promise<void> {
    await settle();
    while (await this.turn()) await settle();
  }

  discover(variant: number, complete: boolean): void {
    if (this.#discovering !== undefined) return;
    this.#discovering = new AbortController();
    const list = listOf(variant);
    if (complete) this.#variant = variant;
    const discovery = complete ? found(...list) : failed(...list.slice(0, 900));
    void this.#discovered(discovery, this.#discovering.signal);
  }

  configure(variant: number): void {
    if (this.#configuring) return;
    this.#configuring = true;
    this.#configuration = variant;
    this.#discovering?.abort(new Error('other settings'));
    void this.#configured(configurations[variant] ?? []);
  }

  begin(first: number): void {
    for (let id = first; id < first + 20; id += 1) {
      const request = this.polls.has(`${id}`) ? undefined : this.table.begin(`${id}`);
      if (request !== undefined) this.polls.set(`${id}`, request);
    }
  }

  endAll(): void {
    for (const [id, request] of this.polls) {
      const isKnown = this.table.states.has(id);
      if (isKnown) this.pollsEnded.set(id, (this.pollsEnded.get(id) ?? 0) + 1);
      const reading = {
        windowEndMs: 0,
        series: throughputSeries,
        application: webOf(1),
        hosts: new Map(),
      };
      const outcome = { ...noError, reading, failed: new Set<string>(), askedParts: 1 };
      this.table.polled(id, request, { ...outcome, gone: false, unauthorized: false }, 0);
    }
    this.polls.clear();
  }

  /** Begins every poll, in the order in which they are due. */
  drain(): readonly string[] {
    this.goTo(1e9);
    const ids: string[] = [];
    for (let id = this.table.firstDue(); id !== undefined; id = this.table.firstDue()) {
      ids.push(id);
      this.table.begin(id);
    }
    return ids;
  }

  /** What is shown in the end. */
  expected(): readonly {
    readonly id: string;
    readonly hostIds: unknown;
    readonly entry: unknown;
  }[] {
    const entries = configurations[this.#configuration] ?? [];
    return listOf(this.#variant).flatMap(({ id, name, hostIds }) => {
      const entry = entries.find(
        ({ selector }) => selector.kind === 'match' && selector.pattern.test(name),
      );
      return entry === undefined ? [] : [{ id, hostIds, entry }];
    });
  }

  async #discovered(discovery: Discovery, signal: AbortSignal): Promise<void> {
    try {
      this.#abort(await this.table.discovered(discovery, signal));
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#discovering = undefined;
    }
  }

  async #configured(entries: readonly AppEntry[]): Promise<void> {
    const options = { account: anAccount(), entries, discoveryIntervalMs: 60_000 };
    this.#abort(await this.table.reconfigure(options, new AbortController().signal));
    this.#configuring = false;
  }

  #abort(ids: readonly string[]): void {
    for (const id of ids) if (this.polls.delete(id)) this.table.aborted(id);
  }
}

const numerically = (left: { readonly id: string }, right: { readonly id: string }): number =>
  Number(left.id) - Number(right.id);

describe('AccountTable, when changes take several turns', () => {
  it('loses and duplicates nothing, whatever comes between the turns', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const account = new Account();
        account.discover(0, true);
        await account.rest();
        account.begin(0);
        for (const one of steps) await account.take(one);
        await account.rest();
        account.discover(1, true);
        await account.rest();
        account.endAll();
        await account.rest();

        const { table, sink, pollsEnded } = account;
        const states = [...table.states.values()];
        const seen = states.map(({ selected: { application, entry } }) => ({
          id: application.id,
          hostIds: application.hostIds,
          entry,
        }));
        expect(seen.toSorted(numerically)).toEqual(account.expected());
        expect(new Set(sink.apps.keys())).toEqual(new Set(table.states.keys()));
        expect(new Set(states.map(({ phaseIndex }) => phaseIndex)).size).toBe(states.length);
        const stable = states.filter(({ selected }) => selected.application.name.startsWith('s'));
        expect(stable.map((one) => one.pollsEnded)).toEqual(
          stable.map(({ selected }) => pollsEnded.get(selected.application.id) ?? 0),
        );
        // No poll is under way now: each application waits for its turn, once.
        expect(account.drain().toSorted()).toEqual([...table.states.keys()].toSorted());
      }),
      { numRuns: 25 },
    );
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7])(
    'forgets and removes in one turn: a change after %i turns leaves no ghost',
    async (turns) => {
      const account = new Account();
      account.discover(0, true);
      await account.rest();

      account.discover(2, true);
      for (let turn = 0; turn < turns; turn += 1) await account.turn();
      account.configure(0);
      await account.rest();

      const shown = [...account.sink.apps.keys()];
      expect(shown.filter((id) => !account.table.states.has(id))).toEqual([]);
    },
  );

  it.each([0, 1, 2, 3, 4])(
    'gives all applications the new settings, when a reload falls into a discovery after %i turns',
    async (turns) => {
      const account = new Account();
      account.discover(0, true);
      await account.rest();
      account.discover(1, true);
      for (let turn = 0; turn < turns; turn += 1) await account.turn();

      // Of labels: the discovery goes on, since it looks for the same.
      const entries = [anEntry({ labels: { of: 'something else' }, poll: { intervalMs: 5000 } })];
      const reloaded = { isOver: false };
      const options = { account: anAccount(), entries, discoveryIntervalMs: 60_000 };
      const reload = async (): Promise<void> => {
        await account.table.reconfigure(options, new AbortController().signal);
        reloaded.isOver = true;
      };
      void reload();
      await account.rest();

      expect(reloaded.isOver).toBe(true);
      const states = [...account.table.states.values()];
      expect(states).toHaveLength(listOf(1).length);
      expect(new Set(states.map(({ selected }) => selected.entry))).toEqual(new Set(entries));
      const labels = [...account.sink.apps.values()].map((shown) => shown.labels['of']);
      expect(new Set(labels)).toEqual(new Set(['something else']));
    },
  );

  it('is not held up by a discovery that was given up', async () => {
    const account = new Account();
    account.discover(0, true);
    await account.rest();
    account.discover(1, true);

    account.configure(1);
    await account.rest();

    const { table } = account;
    expect(new Set([...table.states.values()].map(({ selected }) => selected.entry))).toEqual(
      new Set(configurations[1]),
    );
  });
});
