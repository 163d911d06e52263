import type { Daemon } from '../../src/daemon/accounts.ts';
import type { AccountDetails, AccountState, ApplicationStatus } from '../../src/model/status.ts';
import { isApplicationShown } from './account-setup.ts';
import type { ReadPage } from './page-rules.ts';
import { setupOf, type World } from './world.ts';

/** What the status says agrees with the page, and with itself. */
export class StatusRules {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  check(daemon: Daemon, page: ReadPage): void {
    const applications = daemon.applications();
    const succeeded = page.values('newrelic_application_poll_success');
    const windowEnds = page.values('newrelic_application_window_end_timestamp_seconds');
    for (const one of applications) {
      const key = `${one.account} ${one.id}`;
      this.#checkState(one);
      this.#checkValues(one);
      const setup = setupOf(this.#world, one.account);
      if (setup !== undefined && isApplicationShown(setup)) {
        this.#comparePage(one, succeeded.get(key), windowEnds.get(key));
      }
    }
    for (const account of daemon.status()) {
      this.#checkAccount(
        account,
        applications.filter((one) => one.account === account.name),
      );
    }
  }

  #comparePage(
    one: ApplicationStatus,
    succeeded: number | undefined,
    windowEnd: number | undefined,
  ): void {
    const { state, reading } = one;
    const shown = { up: 1, silent: 1, failing: 0, dropped: 0, waiting: undefined, gone: undefined };
    if (succeeded !== shown[state]) {
      this.#report(one, `is ${state}, and the page says ${String(succeeded)}`);
    }
    const shownMs = windowEnd === undefined ? undefined : Math.round(windowEnd * 1000);
    if (reading?.windowEndMs !== shownMs) {
      this.#report(
        one,
        `the window ends at ${String(reading?.windowEndMs)}, not ${String(shownMs)}`,
      );
    }
  }

  #checkState(one: ApplicationStatus): void {
    const { state, failure } = one;
    const isDown = state === 'failing' || state === 'dropped' || state === 'gone';
    if (isDown !== (failure !== undefined)) {
      this.#report(one, `is ${state} for the reason ${failure?.reason}`);
    }
    if (failure?.message === '') this.#report(one, 'fails without a message');
    if (state === 'up' && one.failedHostIds.size > 0) this.#report(one, 'is up with failed hosts');
    const hostIds = new Set(one.hostIds);
    if ([...one.failedHostIds].some((id) => !hostIds.has(id))) {
      this.#report(one, 'has failed hosts that are not polled');
    }
    this.#checkLastPoll(one);
  }

  /** One whose first poll is late fails before any has ended. */
  #checkLastPoll(one: ApplicationStatus): void {
    const { state, failure, lastPollMs } = one;
    const isLate = state === 'failing' && failure?.reason === 'throttled';
    const isRight = lastPollMs === undefined ? state === 'waiting' || isLate : state !== 'waiting';
    if (!isRight)
      this.#report(one, `is ${state}, and its last poll ended at ${String(lastPollMs)}`);
  }

  #checkValues(one: ApplicationStatus): void {
    const { state, reading, isHeld, dropMs } = one;
    const ownMs = this.#world.ownWallMs();
    if (isHeld && (state !== 'failing' || reading === undefined)) {
      this.#report(one, `holds values and is ${state}`);
    }
    if ((isHeld || state === 'dropped') !== (dropMs !== undefined)) {
      this.#report(one, `is ${state}, holds: ${isHeld}, drops at ${String(dropMs)}`);
    }
    if (state === 'dropped' && (reading !== undefined || (dropMs ?? 0) > ownMs + 1)) {
      this.#report(one, 'is dropped and has values, or will be');
    }
  }

  #checkAccount(account: AccountDetails, own: readonly ApplicationStatus[]): void {
    const { report } = this.#world;
    const failing = own.filter(({ state }) => state === 'failing' || state === 'dropped').length;
    if (account.failing.length !== failing || account.applications !== own.length) {
      report('status', `${account.name}: ${account.failing.length} fail, not ${failing}`);
    }
    const expected = stateOf(account);
    if (account.state !== expected) report('status', `${account.name}: is ${account.state}`);
    if ((account.stateSinceMs === undefined) !== (account.state === 'starting')) {
      report('status', `${account.name}: has been ${account.state} since ${account.stateSinceMs}`);
    }
    if ((account.stateSinceMs ?? 0) > this.#world.ownWallMs() + 1) {
      report('status', `${account.name}: will be ${account.state}`);
    }
    const used = account.requestsLastMinute;
    if (!Number.isInteger(used) || used < 0) report('status', `${account.name}: ${used} calls`);
  }

  #report({ account, id }: ApplicationStatus, detail: string): void {
    this.#world.report('status', `${account} ${id}: ${detail}`);
  }
}

function stateOf(account: AccountDetails): AccountState {
  const { up, failing, missingSelectors, missingMetrics, key } = account;
  if (up === undefined) return 'starting';
  if (!up) return 'down';
  const leftOut = Object.values(account.leftOut ?? {}).reduce((sum, count) => sum + count, 0);
  const missing = missingSelectors.length + missingMetrics.length + leftOut;
  const isSlowed = account.refusals !== undefined || account.stretch > 1.1;
  const isWrong = failing.length + missing > 0 || key.problem !== undefined || isSlowed;
  return isWrong ? 'degraded' : 'up';
}
