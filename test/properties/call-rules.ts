import type { AccountDetails } from '../../src/model/status.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { ApiResponse } from '../../src/newrelic/calls/transport.ts';
import {
  type AccountSetup,
  discoveryIntervalMs,
  isApplicationShown,
  isChosen,
  lateAfterMs,
} from './account-setup.ts';
import type { BudgetRules } from './budget-rules.ts';
import type { ValueRules } from './value-rules.ts';
import type { WireCall, WireObserver } from './vendor-wire.ts';
import { setupOf, type World } from './world.ts';

const countedMs = 10 * minuteMs;
const longestWaitMs = 6 * minuteMs;
/** A discovery that begins earlier than this after the one before has another reason than the time. */
const earlyMs = discoveryIntervalMs - 5000;

interface Discoveries {
  lastMs: number;
  /** Whether something explains that the next one comes early. */
  isExplained: boolean;
  readonly earlyMs: number[];
  readonly refusedMs: number[];
}

/** No call is made that nobody needs. */
export class CallRules implements WireObserver {
  readonly #world: World;
  readonly #budget: BudgetRules;
  readonly #values: ValueRules;
  readonly #discoveries = new Map<string, Discoveries>();
  readonly #status = new Map<string, number>();
  readonly #stretch = new Map<string, number>();
  readonly #askedAlone = new Set<string>();
  /** Ids that were missing for want of a host, and are still, whatever a reload has changed since. */
  #hostless: ReadonlySet<string> = new Set();
  readonly #unanswered = new Set<WireCall>();

  constructor(
    world: World,
    { budget, values }: { readonly budget: BudgetRules; readonly values: ValueRules },
  ) {
    this.#world = world;
    this.#budget = budget;
    this.#values = values;
  }

  /** A reload, or a new key: everything is looked for anew. */
  configured(): void {
    for (const one of this.#discoveries.values()) one.isExplained = true;
  }

  sent(call: WireCall): void {
    const { account, metric, ids, operation } = call;
    this.#unanswered.add(call);
    if (metric !== undefined) this.#checkNeeded(account, metric.applicationId, metric.hostId);
    const [id] = ids;
    if (ids.length === 1 && id !== undefined) this.#askedAlone.add(`${account} ${id}`);
    const isFirst =
      operation === 'list_applications' && call.page === 1 && !this.#values.isDiscovering(account);
    if (isFirst) this.#discoveryBegins(account);
  }

  answered(call: WireCall, { status }: ApiResponse, isGenuine: boolean): void {
    const { account, operation, metric } = call;
    this.#unanswered.delete(call);
    const one = this.#discoveriesOf(account);
    if (operation === 'list_applications' && (status !== 200 || !isGenuine)) one.isExplained = true;
    if (metric === undefined) return;
    const name = `${account} ${metric.applicationId}`;
    const isNewlyRefused = status === 401 && this.#status.get(name) !== 401;
    this.#status.set(name, status);
    if (isNewlyRefused) one.refusedMs.push(this.#world.nowMs());
  }

  ended(call: WireCall): void {
    const isFailed = this.#unanswered.delete(call) && call.operation === 'list_applications';
    if (isFailed) this.#discoveriesOf(call.account).isExplained = true;
  }

  /** An id is not called missing before the vendor was asked for it alone. */
  check(status: readonly AccountDetails[]): void {
    const hostless = new Set<string>();
    for (const { name, missingSelectors, stretch } of status) {
      this.#stretch.set(name, stretch);
      for (const selector of missingSelectors) {
        const id = /^id=(\d+)$/u.exec(selector)?.[1];
        const key = `${name} ${id}`;
        if (id === undefined || this.#askedAlone.has(key)) continue;
        if (this.#hostless.has(key) || this.#isHostless(name, id)) hostless.add(key);
        else this.#world.report('missing', `${name}: ${selector} is called missing unasked`);
      }
    }
    this.#hostless = hostless;
  }

  /** Whether the application is there, and may show nothing for want of a host. */
  #isHostless(account: string, id: string): boolean {
    const setup = setupOf(this.#world, account);
    const isThere = this.#values
      .snapshotsOf(account)
      .some(({ application }) => application.id === id);
    return setup?.hosts === 'self' && !isApplicationShown(setup) && isThere;
  }

  #checkNeeded(account: string, applicationId: string, hostId: string): void {
    const { report } = this.#world;
    if (!this.#world.isOwn(applicationId)) {
      report('shard', `${account}: asks for ${applicationId}, which another one polls`);
    }
    if (this.#values.isKnownGone(account, applicationId)) {
      report('call', `${account}: asks for ${applicationId}, which is gone`);
    }
    const setups = [...this.#world.setups(), ...this.#world.earlierSetups()].filter(
      ({ name }) => name === account,
    );
    const hosts = this.#world.fleet.application(Number(applicationId))?.hosts;
    const hostName = hosts?.get(Number(hostId))?.name;
    const isAsked =
      hostId === ''
        ? setups.some(isApplicationShown)
        : hostName === undefined || setups.some((setup) => isChosen(setup, hostName));
    if (!isAsked && setups.length > 0) {
      report('call', `${account}: asks for ${applicationId} ${hostName}, which is not chosen`);
    }
    if (this.#values.isKnownGone(account, hostId, this.#waitMsOf(account, setups.at(0)))) {
      report('call', `${account}: asks for the host ${hostId}, which is gone`);
    }
  }

  /** Polls that have set out may wait for the end of pauses, and for their turn after them. */
  #waitMsOf(account: string, setup: AccountSetup | undefined): number {
    if (setup === undefined) return longestWaitMs;
    const stretch = this.#stretch.get(account) ?? 1;
    const waitMs = Math.max(longestWaitMs, lateAfterMs(setup, stretch));
    const isHeldUp = this.#world.nowMs() < this.#budget.throttledMs(setup) + waitMs;
    return isHeldUp ? Number.POSITIVE_INFINITY : waitMs;
  }

  #discoveryBegins(account: string): void {
    const nowMs = this.#world.nowMs();
    const one = this.#discoveriesOf(account);
    if (!one.isExplained && nowMs < one.lastMs + earlyMs) one.earlyMs.push(nowMs);
    const early = one.earlyMs.filter((atMs) => atMs > nowMs - countedMs).length;
    const refused = one.refusedMs.filter((atMs) => atMs > nowMs - countedMs - minuteMs).length;
    if (early > refused + 1) {
      this.#world.report(
        'discovery',
        `${account}: ${early} too early in 10 min, ${refused} refused`,
      );
    }
    one.lastMs = nowMs;
    one.isExplained = false;
  }

  #discoveriesOf(account: string): Discoveries {
    const known = this.#discoveries.get(account) ?? {
      lastMs: -Infinity,
      isExplained: true,
      earlyMs: [],
      refusedMs: [],
    };
    this.#discoveries.set(account, known);
    return known;
  }
}
