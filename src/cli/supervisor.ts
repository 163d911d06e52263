import { setMaxListeners } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { AccountConfig, Config } from '../model/config.ts';
import type { AccountStatus } from '../model/telemetry.ts';
import type { AccountHandover } from '../poller/account-handover.ts';
import {
  type AccountRuntime,
  type AccountRuntimeDependencies,
  type PreparedAccount,
  prepareAccount,
} from './account-runtime.ts';

/** Keeps the accounts of the configuration in force running. */
export interface Supervisor {
  status(): readonly AccountStatus[];
  /**
   * Puts another configuration into force, or changes nothing and rejects with a `CommandError`.
   * Accounts that are the same in both go on undisturbed; changed ones keep their budget and values.
   * Calls must not overlap.
   */
  apply(config: Config): Promise<void>;
  /** Polls until the signal is aborted; rejects only on a fault of our own. */
  run(signal: AbortSignal): Promise<void>;
  /** One poll of everything; whether all that was asked for arrived. */
  runOnce(signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}

interface Member {
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
  #members: readonly Member[] = [];
  /** Present while `run` is under way: how a poller that fails ends it. */
  #fail: ((error: unknown) => void) | undefined;

  constructor(dependencies: AccountRuntimeDependencies) {
    this.#dependencies = dependencies;
  }

  status(): readonly AccountStatus[] {
    return this.#members.map(({ runtime }) => runtime.status());
  }

  async apply(config: Config): Promise<void> {
    const wanted = config.accounts
      .map((account) => ({
        account,
        entries: config.apps.filter((entry) => entry.account === account.name),
      }))
      .filter(({ entries }) => entries.length > 0);
    // First all that can fail, then all that changes something.
    const plans = await Promise.all(
      wanted.map(async ({ account, entries }): Promise<Member | PreparedAccount> => {
        const same = this.#members.find(({ runtime }) =>
          isDeepStrictEqual([runtime.account, runtime.entries], [account, entries]),
        );
        return same ?? prepareAccount(account, entries, this.#dependencies);
      }),
    );
    const leaving = this.#members.filter((member) => !plans.includes(member));
    await Promise.all(leaving.map(stopMember));
    // In one turn, so that the keys are never without the limits of these accounts.
    for (const { runtime } of leaving) runtime.leave();
    const members = plans.map((plan, index) =>
      'create' in plan ? this.#admit(plan, wanted[index]?.account, leaving) : plan,
    );
    this.#dismiss(leaving, members);
    this.#members = members;
    for (const member of members) this.#start(member);
    await Promise.all(leaving.map(async ({ runtime }) => runtime.close()));
  }

  async run(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#fail = reject;
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted) resolve();
      else for (const member of this.#members) this.#start(member);
    });
    this.#fail = undefined;
    await Promise.all(this.#members.map(stopMember));
    for (const { runtime } of this.#members) runtime.leave();
  }

  async runOnce(signal: AbortSignal): Promise<boolean> {
    setMaxListeners(0, signal);
    const results = await Promise.all(
      this.#members.map(async ({ runtime }) => runtime.poller.runOnce(signal)),
    );
    return results.every((succeeded) => succeeded);
  }

  async close(): Promise<void> {
    await Promise.all(this.#members.map(async ({ runtime }) => runtime.close()));
  }

  #start(member: Member): void {
    if (this.#fail === undefined || member.done !== undefined) return;
    member.done = member.runtime.poller.run(member.abort.signal).catch((error: unknown) => {
      this.#fail?.(error);
    });
  }

  /** Creates what a plan describes, with the values of the account that it replaces. */
  #admit(
    plan: PreparedAccount,
    account: AccountConfig | undefined,
    leaving: readonly Member[],
  ): Member {
    const runtime = plan.create(handoverOf(account, leaving));
    const abort = new AbortController();
    setMaxListeners(0, abort.signal);
    return { runtime, abort, done: undefined };
  }

  /** Accounts that nobody replaces vanish at once, with all their series. */
  #dismiss(leaving: readonly Member[], members: readonly Member[]): void {
    const names = new Set(members.map(({ runtime }) => runtime.account.name));
    for (const { runtime } of leaving) {
      const { name } = runtime.account;
      if (names.has(name)) continue;
      this.#dependencies.sink.removeAccount(name);
      this.#dependencies.metrics.removeAccount(name);
    }
  }
}

async function stopMember({ abort, done }: Member): Promise<void> {
  abort.abort(new Error('the account is stopped'));
  await done;
}

/** What the account of the same name leaves. */
function handoverOf(
  account: AccountConfig | undefined,
  leaving: readonly Member[],
): AccountHandover | undefined {
  const same = leaving.find(({ runtime }) => runtime.account.name === account?.name);
  return same?.runtime.poller.handover();
}
