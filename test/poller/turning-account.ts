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
export const count = 2500;

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
export const configurations: readonly (readonly AppEntry[])[] = [
  [anEntry({ labels: { of: 'everything' } })],
  [anEntry({ selector: { kind: 'match', pattern: /^stable/u }, poll: { intervalMs: 30_000 } })],
  [
    anEntry({ selector: { kind: 'match', pattern: /[05]$/u }, labels: { of: 'fives' } }),
    anEntry({ selector: { kind: 'match', pattern: /^stable/u }, hosts: false }),
  ],
];

/** What the vendor lists: half of the applications always; of the others every second, third... */
export function listOf(variant: number): readonly Application[] {
  const all = Array.from({ length: count }, (_, id) =>
    anApplication({
      id: `${id}`,
      name: id < count / 2 ? `stable ${id}` : `volatile ${id}`,
      hostIds: [`${id}-${variant}`],
    }),
  );
  return all.filter(({ id }) => Number(id) < count / 2 || Number(id) % (variant + 2) === 0);
}

/** What may happen to an account. */
export type Step =
  | { readonly kind: 'turn' | 'end' }
  | { readonly kind: 'discover'; readonly variant: number; readonly complete: boolean }
  | { readonly kind: 'configure'; readonly variant: number }
  | { readonly kind: 'begin'; readonly first: number };

/** Calls the table as an account does, in the order of the steps. */
export class TurningAccount {
  readonly table: AccountTable;
  readonly sink: FakeSink;
  readonly turn: () => Promise<boolean>;
  readonly goTo: (ms: number) => void;
  readonly pollsEnded: Map<string, number> = new Map();
  readonly polls: Map<string, PollRequest> = new Map();
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
      const outcome = { ...noError, reading, failed: new Set<string>(), partCount: 1 };
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
