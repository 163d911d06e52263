import type { AppReading } from '../../src/model/snapshot.ts';
import type { AccountDetails } from '../../src/model/status.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { SimulatedApplication } from '../../src/simulator/simulated-application.ts';
import {
  type AccountSetup,
  discoveryIntervalMs,
  isApplicationShown,
  isByName,
  isChosen,
  isWanted,
  metricsOf,
  selectorOf,
  settledAfterMs,
} from './account-setup.ts';
import type { BudgetRules } from './budget-rules.ts';
import { metricLists } from './metric-lists.ts';
import type { ReadPage } from './page-rules.ts';
import type { ValueRules } from './value-rules.ts';
import type { WireCall } from './vendor-wire.ts';
import type { World } from './world.ts';

/** No application waits longer than this, relative to what the capacity allows. */
const patience = 1.2;
/** Accounts that share a key do not know of each other when their calls are due. */
const sharedPatience = 2;
/** What a poll may take beside its interval: the first look, pages, answers, batches. */
const leewayMs = 20_000;
const recoveryMs = 5 * minuteMs;
const usualLatencyMs = 100;
const longestWaitForNamesMs = 130 * minuteMs;

/** So many answers tell how slow the vendor is. */
const learningCalls = 120;

/** Since when the vendor is that slow. */
interface Slowness {
  readonly latencyMs: number | undefined;
  readonly setup: AccountSetup;
  /** Calls until then. */
  readonly sent: number;
}

export interface RenewalRulesDependencies {
  readonly budget: BudgetRules;
  readonly values: ValueRules;
  readonly pageSize: number;
}

/** Values are renewed in time when nothing disturbs, and then everything becomes whole again. */
export class RenewalRules {
  readonly #world: World;
  readonly #dependencies: RenewalRulesDependencies;
  /** Until when polls may be held up, by account. */
  readonly #disturbedMs = new Map<string, number>();
  readonly #changedMs = new Map<string, number>();
  readonly #sent = new Map<string, number>();
  readonly #slow = new Map<string, Slowness>();
  /** What was last said of the calls that metrics take, by account. */
  readonly #metricCalls = new Map<string, string | undefined>();
  /** When names first did not come, and by when the last of them are asked for again. */
  #namesMissing: { readonly sinceMs: number; readonly untilMs: number } | undefined;

  constructor(world: World, dependencies: RenewalRulesDependencies) {
    this.#world = world;
    this.#dependencies = dependencies;
  }

  sent({ account }: WireCall): void {
    this.#sent.set(account, this.#callsOf(account) + 1);
  }

  /** Something goes wrong for all accounts, or a reload has changed them. */
  disturbed(status: readonly AccountDetails[]): void {
    for (const setup of this.#world.setups()) this.#disturb(setup, stretchOf(setup, status));
  }

  /** Applications or hosts have come or gone. */
  fleetChanged(): void {
    for (const { name } of this.#world.setups()) this.#changedMs.set(name, this.#world.nowMs());
  }

  /** Names of some hosts do not come. The longer they do not, the later they are asked for again. */
  namesLeftOut(lastingMs: number): void {
    const nowMs = this.#world.nowMs();
    const sinceMs = this.#namesMissing?.sinceMs ?? nowMs;
    const waitMs = Math.min(
      longestWaitForNamesMs,
      12 * minuteMs + 2 * (nowMs + lastingMs - sinceMs),
    );
    this.#namesMissing = { sinceMs, untilMs: nowMs + lastingMs + waitMs };
  }

  /** When every name is known at the latest. */
  namesKnownMs(): number {
    const isNamed = this.#world.setups().some(isByName);
    return isNamed ? (this.#namesMissing?.untilMs ?? 0) : 0;
  }

  check(status: readonly AccountDetails[]): void {
    for (const setup of this.#world.setups()) {
      const { budget } = this.#dependencies;
      const stretch = stretchOf(setup, status);
      const metricCalls = status.find(({ name }) => name === setup.name)?.metricCalls;
      // Polls begin to take more calls, or fewer: those before have ended sooner after their first call.
      if (this.#metricCalls.get(setup.name) !== metricCalls) this.#disturb(setup, stretch);
      this.#metricCalls.set(setup.name, metricCalls);
      if (
        this.#world.nowMs() < budget.throttledMs(setup) + recoveryMs ||
        budget.keyOf(setup) === undefined
      ) {
        this.#disturb(setup, stretch);
      }
      this.#checkAccount(setup, status);
    }
  }

  /** Intervals follow what the connections carry, once enough answers have told how slow they are. */
  checkSlow(latencyMs: number | undefined, status: readonly AccountDetails[]): void {
    for (const setup of this.#world.setups()) {
      const own = status.find(({ name }) => name === setup.name);
      const sent = this.#callsOf(setup.name);
      const known = this.#slow.get(setup.name);
      if (latencyMs === undefined || known?.latencyMs !== latencyMs || known.setup !== setup) {
        this.#slow.set(setup.name, { latencyMs, setup, sent });
      } else if (own !== undefined && sent - known.sent >= learningCalls) {
        const { polls } = this.#demandOf(setup, own);
        const carried = (setup.concurrency * minuteMs) / latencyMs;
        const stretch = stretchOf(setup, status);
        // Hosts that are chosen by names are not polled before these are known.
        const isKnown = !isByName(setup) || this.#world.nowMs() >= this.namesKnownMs();
        if (!this.#isSeen(setup) || !isKnown || stretch >= (0.6 * polls) / carried) continue;
        this.#world.report(
          'stretch',
          `${setup.name}: stretched by ${stretch} only, ${polls} calls for polls, ${carried} are carried`,
        );
      }
    }
  }

  /** After minutes without a disturbance nothing is missing any more. */
  checkWhole(status: readonly AccountDetails[], page: ReadPage): void {
    const { report } = this.#world;
    const success = page.values('newrelic_application_poll_success');
    const up = page.values('newrelic_up');
    for (const setup of this.#world.setups()) {
      const { name } = setup;
      const wanted = this.#wanted(setup);
      const shown = this.#dependencies.values.snapshotsOf(name);
      for (const { id } of wanted) {
        const snapshot = shown.find(({ application }) => application.id === `${id}`);
        const isGood = isApplicationShown(setup)
          ? success.get(`${name} ${id}`) === 1
          : snapshot?.pollSucceeded === true;
        if (!isGood) report('whole', `${name} ${id}: poll_success is not 1`);
        this.#checkReading(setup, id, snapshot?.reading);
      }
      if (shown.length > wanted.length)
        report('whole', `${name}: shows ${shown.length} of ${wanted.length}`);
      if (up.get(name) !== 1) report('whole', `${name}: newrelic_up is not 1`);
      const own = status.find((one) => one.name === name);
      if (own !== undefined) this.#checkStatus(setup, own);
    }
  }

  #checkReading(setup: AccountSetup, id: number, reading: AppReading | undefined): void {
    const { report } = this.#world;
    const hosts = this.#hostsOf(setup, id).length;
    if (reading === undefined && (isApplicationShown(setup) || hosts > 0)) {
      report('whole', `${setup.name} ${id}: no values`);
    }
    if ((reading?.hosts.size ?? 0) !== hosts) {
      report('whole', `${setup.name} ${id}: ${reading?.hosts.size} of ${hosts} hosts`);
    }
  }

  /** Calls that the account has sent since its start. */
  #callsOf(account: string): number {
    return this.#sent.get(account) ?? 0;
  }

  /** The calls so far, to be compared with those later. */
  counted(): ReadonlyMap<string, number> {
    return new Map(this.#sent);
  }

  /** As many calls were made as the demand says. */
  checkDemand(
    before: ReadonlyMap<string, number>,
    minutes: number,
    status: readonly AccountDetails[],
  ): void {
    for (const setup of this.#world.setups()) {
      const own = status.find(({ name }) => name === setup.name);
      if (own === undefined || stretchOf(setup, status) > 1) continue;
      const calls = this.#callsOf(setup.name) - (before.get(setup.name) ?? 0);
      const expected = (own.demandRequestsPerMinute ?? 0) * minutes;
      const granules = this.#wanted(setup).map((one) => this.#callsOfPoll(setup, own, one));
      const lookUps = idLookUpsOf(setup) + this.#lookUpsOf(setup);
      const tolerance = 0.05 * expected + 3 + Math.max(0, ...granules) + lookUps;
      if (Math.abs(calls - expected) <= tolerance) continue;
      this.#world.report('demand', `${setup.name}: ${calls} calls, ${expected} expected`);
    }
  }

  #checkStatus(setup: AccountSetup, status: AccountDetails): void {
    const { report } = this.#world;
    const { polls, discovery } = this.#demandOf(setup, status);
    const demand = polls + discovery;
    const shown = status.demandRequestsPerMinute ?? 0;
    // Once an hour ids that are absent are asked for again.
    const least = setup.wants === 'ids' ? demand - 1 : demand;
    const lookUps = idLookUpsOf(setup) + this.#lookUpsOf(setup);
    if (shown < 0.97 * least - 0.1 || shown > 1.1 * demand + 1 + lookUps) {
      report('demand', `${setup.name}: ${shown} is shown, ${demand} is needed`);
    }
    this.#checkMissing(setup, status);
    const { stretch } = status;
    const load = loadOf(polls, Math.max(demand, shown), this.#capacityOf(setup, status));
    if (this.#wanted(setup).length === 0) return;
    if (stretch > Math.max(1, 1.1 * load) || (load <= 0.9 && stretch !== 1)) {
      report('stretch', `${setup.name}: intervals are stretched by ${stretch}, load ${load}`);
    }
    if (load > 1 && stretch < 0.9 * load) {
      report('stretch', `${setup.name}: intervals are stretched by ${stretch} only, load ${load}`);
    }
  }

  #checkMissing(setup: AccountSetup, { missingSelectors }: AccountDetails): void {
    for (const { id, name } of this.#wanted(setup)) {
      const hasSomething = isApplicationShown(setup) || this.#hostsOf(setup, id).length > 0;
      const isMissing = missingSelectors.includes(selectorOf(setup, `${id}`, name));
      if (!hasSomething || !isMissing) continue;
      this.#world.report('missing', `${setup.name}: ${missingSelectors.join()} is there: ${id}`);
    }
  }

  #checkAccount(setup: AccountSetup, status: readonly AccountDetails[]): void {
    const { values } = this.#dependencies;
    const own = status.find(({ name }) => name === setup.name);
    const nowMs = this.#world.nowMs();
    if (own === undefined || !this.#isSeen(setup)) {
      this.#disturb(setup, stretchOf(setup, status));
      return;
    }
    const boundMs = this.#boundMsOf(setup, own);
    const capacity = this.#capacityOf(setup, own);
    const calmMs = this.#disturbedMs.get(setup.name) ?? 0;
    if (isByName(setup) && nowMs < this.namesKnownMs()) return;
    for (const one of this.#wanted(setup)) {
      const { id } = one;
      // Without anything to ask for there is nothing to renew.
      if (!isApplicationShown(setup) && this.#hostsOf(setup, id).length === 0) continue;
      const renewedMs = values.renewedMs(setup.name, `${id}`) ?? -Infinity;
      const ageMs = nowMs - Math.max(calmMs, renewedMs);
      // First polls may go at once, with what the budget left unused: the second ones go at the even pace.
      const isSecond = values.isRenewedOnce(setup.name, `${id}`);
      const calls = isSecond ? this.#callsOfPoll(setup, own, one) : 0;
      const mostMs = boundMs + (calls * minuteMs) / capacity;
      if (ageMs <= mostMs) continue;
      this.#world.report(
        'renewal',
        `${setup.name} ${id}: not renewed for ${ageMs / 1000} s, at most ${mostMs / 1000} s`,
      );
    }
  }

  #boundMsOf(setup: AccountSetup, status: AccountDetails): number {
    const { polls, discovery } = this.#demandOf(setup, status);
    const capacity = this.#capacityOf(setup, status);
    const isShared = this.#dependencies.budget.isShared(setup);
    // The demand that is shown counts what was lately asked beside: names and retries.
    const demand = Math.max(polls + discovery, status.demandRequestsPerMinute ?? 0);
    const isAsked = setup.hostNames || isByName(setup);
    const names = isAsked ? this.#wanted(setup).length + this.#lookUpsOf(setup) : 0;
    const load = Math.max(1, loadOf(polls, demand, capacity));
    const stretchedMs = (isShared ? sharedPatience : patience) * load * setup.intervalMs;
    const paceMs = minuteMs / capacity;
    return stretchedMs + (1 + names + idLookUpsOf(setup)) * paceMs + leewayMs;
  }

  /** Whether a discovery has seen what the fleet is now. */
  #isSeen({ name }: AccountSetup): boolean {
    const changedMs = this.#changedMs.get(name) ?? -Infinity;
    return this.#dependencies.values.discoveredMs(name) > changedMs;
  }

  /** Polls that are under way now may still take some time. */
  #disturb(setup: AccountSetup, stretch: number): void {
    const untilMs = this.#world.nowMs() + settledAfterMs(setup, stretch);
    const known = this.#disturbedMs.get(setup.name) ?? 0;
    this.#disturbedMs.set(setup.name, Math.max(known, untilMs));
  }

  #wanted(setup: AccountSetup): readonly SimulatedApplication[] {
    return this.#world.fleet
      .applications()
      .filter(({ id, name }) => isWanted(setup, `${id}`, name) && this.#world.isOwn(`${id}`));
  }

  #hostsOf(setup: AccountSetup, applicationId: number): readonly unknown[] {
    const application = this.#world.fleet.application(applicationId);
    if (application === undefined) return [];
    const chosen = this.#world.fleet
      .listedHosts(application)
      .filter(({ name }) => isChosen(setup, name));
    if (setup.hosts !== 'self') return chosen;
    // Once one is found that has values, another one of its name is not looked for.
    const shown = this.#dependencies.values
      .snapshotsOf(setup.name)
      .find((snapshot) => snapshot.application.id === `${applicationId}`);
    const known = chosen.filter(({ id }) => shown?.reading?.hosts.has(`${id}`) === true);
    return known.length > 0 ? known : chosen;
  }

  /** Calls that it takes at most to look up the hosts of all applications by their names. */
  #lookUpsOf(setup: AccountSetup): number {
    if (!isByName(setup)) return 0;
    return this.#wanted(setup).reduce((sum, application) => {
      const hosts = this.#world.fleet.listedHosts(application).length;
      return sum + 1 + Math.ceil(hosts / this.#dependencies.pageSize);
    }, 0);
  }

  #demandOf(
    setup: AccountSetup,
    status: AccountDetails,
  ): { readonly polls: number; readonly discovery: number } {
    const calls = this.#wanted(setup).reduce(
      (sum, one) => sum + this.#callsOfPoll(setup, status, one),
      0,
    );
    const applications = this.#world.fleet.applications().length;
    const pages =
      setup.wants === 'ids'
        ? 2
        : Math.max(1, Math.ceil(applications / this.#dependencies.pageSize));
    const discovery = (pages * minuteMs) / discoveryIntervalMs;
    return { polls: (calls * minuteMs) / setup.intervalMs, discovery };
  }

  /** Calls for an application and its hosts. */
  #callsOfPoll(
    setup: AccountSetup,
    status: AccountDetails,
    { id, name }: Pick<SimulatedApplication, 'id' | 'name'>,
  ): number {
    const { application, host } = callsOf(setup, name, status);
    return (isApplicationShown(setup) ? application : 0) + this.#hostsOf(setup, id).length * host;
  }

  #capacityOf({ concurrency }: AccountSetup, status: AccountDetails): number {
    const carried = (0.9 * concurrency * minuteMs) / usualLatencyMs;
    return Math.min(status.budgetRequestsPerMinute, carried);
  }
}

/** Calls that go before polls once an hour, for ids that are absent. */
function idLookUpsOf({ wants }: AccountSetup): number {
  return wants === 'ids' ? 10 : 0;
}

/** Only polls can be stretched: they have what the rest leaves, and always a tenth. */
function loadOf(polls: number, demand: number, capacity: number): number {
  return polls / Math.max(capacity / 10, capacity - (demand - polls));
}

/** How many calls it takes for an application, and for a host. */
function callsOf(
  setup: AccountSetup,
  name: string,
  { metricCalls = '' }: AccountDetails,
): { readonly application: number; readonly host: number } {
  const { calls, apart } = metricLists[metricsOf(setup, name)];
  return metricCalls.includes('at a time') ? apart : { application: calls, host: calls };
}

function stretchOf(setup: AccountSetup, status: readonly AccountDetails[]): number {
  return status.find(({ name }) => name === setup.name)?.stretch ?? 1;
}
