import { setMaxListeners } from 'node:events';
import type { Config } from '../model/config.ts';
import type { AccountDetails, ApplicationStatus } from '../model/status.ts';
import type { RawTransport } from '../newrelic/calls/transport.ts';
import { AccountRuntime, type AccountRuntimeDependencies } from './account-runtime.ts';
import { CommandError } from './platform.ts';
import {
  accountsInUse,
  changeTo,
  type PreparedAccount,
  prepareAccounts,
} from './prepare-account.ts';

/** An account whose poller runs, or will run with `run`. */
interface RunningAccount {
  readonly runtime: AccountRuntime;
  readonly abort: AbortController;
  /** Settles when the poller has ended; `undefined` until it is started. */
  done: Promise<void> | undefined;
}

interface Update {
  readonly kind: 'update';
  readonly running: RunningAccount;
  readonly prepared: PreparedAccount;
  /** The connections to use from now on; `undefined` for those that are there. */
  readonly raw: RawTransport | undefined;
  readonly isAskedOtherwise: boolean;
}

/** What becomes of an account of the next configuration; nothing of it is active yet. */
type Step =
  | { readonly kind: 'keep'; readonly running: RunningAccount }
  | Update
  | { readonly kind: 'create'; readonly prepared: PreparedAccount; readonly raw: RawTransport };

/** Runs the accounts of the active configuration. */
export class Supervisor {
  readonly #dependencies: AccountRuntimeDependencies;
  /** By name, in the order of the configuration. */
  #accounts: ReadonlyMap<string, RunningAccount> = new Map();
  /** Present while `run` is under way: a poller that fails ends it with this. */
  #fail: ((error: unknown) => void) | undefined;
  #isOver = false;

  constructor(dependencies: AccountRuntimeDependencies) {
    this.#dependencies = dependencies;
  }

  status(): readonly AccountDetails[] {
    return this.#all().map(({ runtime }) => runtime.status());
  }

  /** All polled applications of all accounts. */
  applications(): readonly ApplicationStatus[] {
    return this.#all().flatMap(({ runtime }) => runtime.poller.applications());
  }

  /** Why polling stands still through a fault of the program; `undefined` while it does not. */
  stalled(): string | undefined {
    const reasons = this.#all().map(({ runtime }) => runtime.poller.stalled());
    return reasons.find((reason) => reason !== undefined);
  }

  /**
   * Puts another configuration into force, or changes nothing and rejects with a `CommandError`.
   * Accounts that are the same in both go on undisturbed; changed ones keep their budget, their values
   * and their polls under way. Calls must not overlap. Also rejects once `run` or `close` has ended the
   * supervisor.
   */
  async apply(config: Config): Promise<void> {
    // Everything that can fail comes first, then everything that changes something.
    const prepared = await prepareAccounts(accountsInUse(config), {
      ...this.#dependencies,
      previousOf: (name) => this.#accounts.get(name)?.runtime.prepared,
    });
    const steps = await this.#stepsTo(prepared);
    const staying = new Set(steps.map((step) => step.kind !== 'create' && step.running));
    const outgoing = this.#all().filter((running) => !staying.has(running));
    // Two pollers of one account would publish the values of both.
    await Promise.all(outgoing.map(stop));
    if (this.#isOver) {
      await closeOpened(steps);
      throw new CommandError(1, 'the exporter is stopping: another configuration comes too late');
    }
    const updates = this.#take(steps, outgoing);
    const closing = Promise.all(outgoing.map(async ({ runtime }) => runtime.close()));
    for (const { running, prepared: next, isAskedOtherwise } of updates) {
      await running.runtime.poller.reconfigure(next, isAskedOtherwise);
    }
    await closing;
  }

  /** Polls until the signal is aborted; rejects only if the program itself is at fault. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => {
        this.#fail = reject;
        signal.addEventListener('abort', () => resolve(), { once: true });
        if (signal.aborted) resolve();
        else for (const running of this.#all()) this.#start(running);
      });
    } finally {
      this.#fail = undefined;
      this.#isOver = true;
      await Promise.all(this.#all().map(stop));
      for (const { runtime } of this.#all()) runtime.leave();
    }
  }

  /** Polls everything once. False if anything that was asked for did not arrive. */
  async runOnce(signal: AbortSignal): Promise<boolean> {
    setMaxListeners(0, signal);
    const results = await Promise.all(
      this.#all().map(async ({ runtime }) => runtime.poller.runOnce(signal)),
    );
    return results.every((succeeded) => succeeded);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#all().map(async ({ runtime }) => runtime.close()));
  }

  #all(): readonly RunningAccount[] {
    return [...this.#accounts.values()];
  }

  /** Opens the new connections; none of them is used yet. */
  async #stepsTo(all: readonly PreparedAccount[]): Promise<readonly Step[]> {
    const steps: Step[] = [];
    try {
      for (const prepared of all) {
        const step = await this.#stepTo(prepared);
        steps.push(step);
        // A CA bundle takes tens of milliseconds: one account in each turn.
        const isCostly = step.kind !== 'keep' && prepared.wire.ca !== undefined;
        if (isCostly && steps.length < all.length) await this.#dependencies.platform.nextTurn();
      }
    } catch (error) {
      await closeOpened(steps);
      throw error;
    }
    return steps;
  }

  async #stepTo(prepared: PreparedAccount): Promise<Step> {
    const { platform } = this.#dependencies;
    const running = this.#accounts.get(prepared.account.name);
    const change = changeTo(prepared, running?.runtime.prepared);
    if (running === undefined || change.kind === 'new') {
      return { kind: 'create', prepared, raw: await platform.openTransport(prepared.wire) };
    }
    if (change.kind === 'none') return { kind: 'keep', running };
    const { isWireOther, isAskedOtherwise } = change;
    const raw = isWireOther ? await platform.openTransport(prepared.wire) : undefined;
    return { kind: 'update', running, prepared, raw, isAskedOtherwise };
  }

  /**
   * Puts all steps into force in one turn, so that no key ever has a larger limit than before or after:
   * accounts join their keys before others leave them, and the smallest limits come first. Returns the
   * updates, since their applications have yet to follow.
   */
  #take(steps: readonly Step[], outgoing: readonly RunningAccount[]): readonly Update[] {
    this.#forget(outgoing, steps);
    this.#accounts = new Map(
      steps.map((step): [string, RunningAccount] => {
        const running = step.kind === 'create' ? this.#create(step) : step.running;
        return [nameOf(running), running];
      }),
    );
    const updates = steps
      .filter((step) => step.kind === 'update')
      .toSorted((left, right) => limitOf(left) - limitOf(right));
    for (const { running, prepared, raw } of updates) running.runtime.update(prepared, raw);
    for (const running of this.#all()) this.#start(running);
    return updates;
  }

  #create({ prepared, raw }: Extract<Step, { kind: 'create' }>): RunningAccount {
    const abort = new AbortController();
    setMaxListeners(0, abort.signal);
    const runtime = new AccountRuntime(prepared, raw, this.#dependencies);
    return { runtime, abort, done: undefined };
  }

  #start(running: RunningAccount): void {
    if (this.#fail === undefined || running.done !== undefined) return;
    running.done = running.runtime.poller.run(running.abort.signal).catch((error: unknown) => {
      this.#fail?.(error);
    });
  }

  /** A stopped account disappears at once, with all its series. */
  #forget(outgoing: readonly RunningAccount[], steps: readonly Step[]): void {
    const { sink, metrics } = this.#dependencies;
    const created = new Set(
      steps.map((step) => step.kind === 'create' && step.prepared.account.name),
    );
    for (const name of outgoing.map(nameOf)) {
      sink.removeAccount(name);
      if (!created.has(name)) metrics.removeAccount(name);
    }
  }
}

function nameOf({ runtime }: RunningAccount): string {
  return runtime.prepared.account.name;
}

function limitOf({ prepared }: { readonly prepared: PreparedAccount }): number {
  return prepared.account.requestsPerMinute;
}

async function closeOpened(steps: readonly Step[]): Promise<void> {
  await Promise.all(steps.map(async (step) => step.kind !== 'keep' && step.raw?.close()));
}

async function stop({ abort, done }: RunningAccount): Promise<void> {
  abort.abort(new Error('the account is stopped'));
  await done;
}
