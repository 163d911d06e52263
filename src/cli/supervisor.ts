import { setMaxListeners } from 'node:events';
import type { AppEntry, Config } from '../model/config.ts';
import type { AccountStatus } from '../model/telemetry.ts';
import {
  type AccountRuntime,
  type AccountRuntimeDependencies,
  createAccountRuntime,
} from './account-runtime.ts';
import { type PreparedAccount, prepareAccount } from './prepare-account.ts';
import { isSamePrepared } from './same-prepared.ts';

/** Keeps the accounts of the configuration in force running. */
export interface Supervisor {
  status(): readonly AccountStatus[];
  /**
   * Puts another configuration into force, or changes nothing and rejects with a `CommandError`.
   * Accounts that are the same in both go on undisturbed; changed ones keep their budget, their values
   * and their polls under way. Calls must not overlap.
   */
  apply(config: Config): Promise<void>;
  /** Polls until the signal is aborted; rejects only on a fault of our own. */
  run(signal: AbortSignal): Promise<void>;
  /** One poll of everything; whether all that was asked for arrived. */
  runOnce(signal: AbortSignal): Promise<boolean>;
  /** Why polling has come to a halt that only a fault of our own explains; `undefined` if it has not. */
  stalled(): string | undefined;
  close(): Promise<void>;
}

interface RunningAccount {
  readonly runtime: AccountRuntime;
  readonly abort: AbortController;
  /** Settles when the poller has ended; `undefined` as long as it was not started. */
  done: Promise<void> | undefined;
}

export function createSupervisor(dependencies: AccountRuntimeDependencies): Supervisor {
  return new AccountSupervisor(dependencies);
}

class AccountSupervisor implements Supervisor {
  readonly #dependencies: AccountRuntimeDependencies;
  #accounts: readonly RunningAccount[] = [];
  /** Present while `run` is under way: how a poller that fails ends it. */
  #fail: ((error: unknown) => void) | undefined;

  constructor(dependencies: AccountRuntimeDependencies) {
    this.#dependencies = dependencies;
  }

  status(): readonly AccountStatus[] {
    return this.#accounts.map(({ runtime }) => runtime.status());
  }

  stalled(): string | undefined {
    for (const { runtime } of this.#accounts) {
      const reason = runtime.stalled();
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  async apply(config: Config): Promise<void> {
    // First all that can fail, then all that changes something.
    const prepared = await Promise.all(this.#prepare(config));
    const outgoing = this.#accounts.filter(
      (running) => !prepared.some((one) => this.#runningFor(one) === running),
    );
    await Promise.all(outgoing.map(stop));
    this.#forget(outgoing, prepared);
    const accounts: RunningAccount[] = [];
    for (const one of prepared) {
      const running = this.#runningFor(one);
      accounts.push(running ?? (await this.#create(one)));
      const isChanged =
        running !== undefined &&
        !(await isSamePrepared(running.runtime.prepared, one, this.#dependencies.machine));
      if (isChanged) await running.runtime.update(one);
    }
    this.#accounts = accounts;
    for (const running of accounts) this.#start(running);
    // Only now: an account that only has another name keeps its share of the key meanwhile.
    await Promise.all(outgoing.map(async ({ runtime }) => runtime.close()));
  }

  async run(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#fail = reject;
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted) resolve();
      else for (const running of this.#accounts) this.#start(running);
    });
    this.#fail = undefined;
    await Promise.all(this.#accounts.map(stop));
    for (const { runtime } of this.#accounts) runtime.leave();
  }

  async runOnce(signal: AbortSignal): Promise<boolean> {
    setMaxListeners(0, signal);
    const results = await Promise.all(
      this.#accounts.map(async ({ runtime }) => runtime.runOnce(signal)),
    );
    return results.every((succeeded) => succeeded);
  }

  async close(): Promise<void> {
    await Promise.all(this.#accounts.map(async ({ runtime }) => runtime.close()));
  }

  #prepare({ accounts, apps }: Config): readonly Promise<PreparedAccount>[] {
    const entries = new Map<string, AppEntry[]>();
    for (const entry of apps) {
      const others = entries.get(entry.account);
      if (others === undefined) entries.set(entry.account, [entry]);
      else others.push(entry);
    }
    const { machine, logger } = this.#dependencies;
    return accounts.flatMap((account) => {
      const own = entries.get(account.name);
      if (own === undefined) return [];
      const running = this.#accounts.find(({ runtime }) => nameOf(runtime) === account.name);
      const previous = running?.runtime.prepared;
      return [prepareAccount(account, own, { machine, logger, previous })];
    });
  }

  /** The account that goes on with other settings: one at another address is another one. */
  #runningFor({ account }: PreparedAccount): RunningAccount | undefined {
    return this.#accounts.find(
      ({ runtime }) =>
        nameOf(runtime) === account.name && runtime.prepared.account.baseUrl === account.baseUrl,
    );
  }

  async #create(prepared: PreparedAccount): Promise<RunningAccount> {
    const runtime = await createAccountRuntime(prepared, this.#dependencies);
    const abort = new AbortController();
    setMaxListeners(0, abort.signal);
    return { runtime, abort, done: undefined };
  }

  #start(running: RunningAccount): void {
    if (this.#fail === undefined || running.done !== undefined) return;
    running.done = running.runtime.run(running.abort.signal).catch((error: unknown) => {
      this.#fail?.(error);
    });
  }

  /** Accounts that are stopped vanish at once, with all their series. */
  #forget(outgoing: readonly RunningAccount[], next: readonly PreparedAccount[]): void {
    const { sink, metrics } = this.#dependencies;
    const names = new Set(next.map(({ account }) => account.name));
    for (const { runtime } of outgoing) {
      const name = nameOf(runtime);
      sink.removeAccount(name);
      if (!names.has(name)) metrics.removeAccount(name);
    }
  }
}

function nameOf({ prepared }: AccountRuntime): string {
  return prepared.account.name;
}

async function stop({ abort, done }: RunningAccount): Promise<void> {
  abort.abort(new Error('the account is stopped'));
  await done;
}
