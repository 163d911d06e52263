import { createDaemon } from '../../src/daemon/daemon.ts';
import type { Platform } from '../../src/daemon/platform.ts';
import type { AccountStatus } from '../../src/model/telemetry.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { type AccountSetup, configOf, keyFiles, keyValues } from './account-setup.ts';
import {
  type Handlers,
  handle,
  isAccountStep,
  isFleetStep,
  type Step,
  type WorldStep,
} from './account-steps.ts';
import { BudgetRules } from './budget-rules.ts';
import { CallRules } from './call-rules.ts';
import { createFleetChanger, namedHosts } from './fleet-changes.ts';
import { type AskVendor, leftOut, type Trap } from './lone-answers.ts';
import { PageRules } from './page-rules.ts';
import { RenewalRules } from './renewal-rules.ts';
import { setupsAfter, setupsWithout } from './setups-after.ts';
import { StatusRules } from './status-rules.ts';
import { ValueRules } from './value-rules.ts';
import { Troubles } from './vendor-troubles.ts';
import { createVendorWire, type WireObserver } from './vendor-wire.ts';
import { WindowRules } from './window-rules.ts';
import type { World } from './world.ts';

/** How a run begins. */
export interface Beginning {
  readonly accounts: readonly AccountSetup[];
  /** The keys in the files. */
  readonly keys: readonly [string, string];
  /** Applications and hosts on one page of the vendor's lists. */
  readonly pageSize: number;
  readonly removedHost: 'not_found' | 'empty';
  readonly trap: Trap;
}

/** The whole daemon above the socket, on simulated time, and all rules that it has to keep. */
export interface AccountBench {
  /** What was not as it must be, so far. */
  readonly problems: readonly string[];
  /** Simulated time since the start. */
  nowMs(): number;
  perform(step: Step): Promise<void>;
  /** Nothing goes wrong from now on; checks that everything becomes whole, and stops the daemon. */
  finish(): Promise<void>;
  /** Stops the daemon. */
  stop(): Promise<void>;
}

const minuteMs = 60_000;
const chunkMs = 20_000;
const hostCounts = [2, 1, 11, 0, 2] as const;
/** After these nothing of a trouble is left: the pause, the recovery, and what is remembered. */
const settlingMs = 11 * minuteMs;
const measuredMinutes = 5;

export async function createAccountBench(beginning: Beginning): Promise<AccountBench> {
  const problems: string[] = [];
  const report = (rule: string, detail: string): void => {
    if (problems.length < 5) problems.push(`${rule}: ${detail}`);
  };
  const pages = new PageRules(report);
  const files = new Map(keyFiles.map((path, at) => [path as string, beginning.keys[at] ?? '']));
  const fakePlatform = createFakePlatform();
  const { clock } = fakePlatform;
  let vendorOffsetMs = clock.wallMs() - clock.monotonicMs();
  const vendorWallMs = (): number => clock.monotonicMs() + vendorOffsetMs;
  const simulator = createSimulator(
    {
      apiKeys: keyValues,
      quotaPerMinute: 1_000_000,
      ingestDelayMs: 0,
      pageSize: beginning.pageSize,
      removedHost: beginning.removedHost,
      journalLimit: 1,
      fleet: {
        applications: hostCounts.map((hosts, at) => ({
          id: 101 + at,
          name: `${at % 2 === 0 ? 'odd' : 'even'} ${101 + at}`,
          kind: at === 1 ? 'web' : 'both',
          hosts: namedHosts(hosts),
        })),
      },
    },
    { clock: { ...clock, wallMs: vendorWallMs } },
  );
  const { fleet } = simulator;
  let setups: readonly AccountSetup[] = [];
  let earlierSetups: readonly AccountSetup[] = [];
  const world: World = {
    nowMs: () => clock.monotonicMs(),
    vendorWallMs,
    ownWallMs: () => clock.wallMs(),
    setups: () => setups,
    earlierSetups: () => earlierSetups,
    fleet,
    report,
  };
  const budget = new BudgetRules(world);
  const told = new StatusRules(world);
  const windows = new WindowRules(world);
  const { pageSize } = beginning;
  const values = new ValueRules(world);
  const calls = new CallRules(world, { values });
  const renewal = new RenewalRules(world, { budget, values, pageSize });
  const troubles = new Troubles({
    nowMs: world.nowMs,
    applicationIds: () => fleet.applications().map(({ id }) => `${id}`),
  });
  const observer: WireObserver = {
    sent: (call) => {
      // The values last: the others want to know what was before.
      for (const rules of [budget, windows, calls, renewal, values]) rules.sent(call);
    },
    answered: (call, response, isGenuine) => {
      budget.answered(call, response);
      windows.answered(call);
      calls.answered(call, response, isGenuine);
      values.answered(call, response, isGenuine);
    },
    ended: (call) => {
      budget.ended(call);
      calls.ended(call);
    },
  };
  const platform: Platform = {
    ...fakePlatform,
    stderr: { write: (text) => pages.text(text, 'the log'), on: () => undefined },
    readFile: async (path) => new TextEncoder().encode(files.get(path) ?? ''),
    openTransport: createVendorWire({
      clock,
      simulator,
      troubles,
      observer,
      dateMs: () => vendorWallMs() + windows.dateOffsetMs(),
      trap: beginning.trap,
    }),
  };

  setups = beginning.accounts;
  for (const [path, key] of files) budget.keyFile(path, key);
  const logger = await createLogger({ logLevel: 'debug', logFormat: 'json' }, platform);
  const daemon = await createDaemon(configOf(setups), {
    platform,
    logger,
    watch: (sink) => values.watch(sink),
  });
  let hasStopped = false;
  const run = async (): Promise<void> => {
    try {
      await daemon.run(platform.stopSignal);
      if (!hasStopped) report('supervisor', 'has ended');
    } catch (error) {
      report('supervisor', String(error));
    }
  };
  const running = run();
  const stretchOf = (status: readonly AccountStatus[], account: string): number => {
    const own = status.find(({ name }) => name === account);
    const setup = setups.find(({ name }) => name === account);
    if (own === undefined || setup === undefined) return 1;
    return Math.max(1, (own.pollIntervalSeconds * 1000) / setup.intervalMs);
  };

  const check = (): void => {
    const status = daemon.status();
    if (troubles.isAny() || troubles.wasHit()) renewal.disturbed(status);
    budget.configured();
    budget.checkLimits(
      new Map(status.map(({ name, budgetRequestsPerMinute }) => [name, budgetRequestsPerMinute])),
    );
    values.check((account) => stretchOf(status, account));
    renewal.check(status);
    renewal.checkSlow(troubles.slownessMs(), status);
    calls.check(status);
    const stalled = daemon.stalled();
    if (stalled !== undefined) report('stalled', stalled);
  };

  const advance = async (ms: number): Promise<void> => {
    for (let leftMs = ms; leftMs > 0 && problems.length === 0; leftMs -= chunkMs) {
      await clock.advance(Math.min(leftMs, chunkMs));
      check();
    }
  };

  const reload = async (next: readonly AccountSetup[]): Promise<void> => {
    if (next === setups) return;
    for (const { name } of setups) {
      if (!next.some((setup) => setup.name === name)) pages.accountRemoved(name);
    }
    earlierSetups = setups;
    setups = next;
    budget.configured();
    values.configured();
    calls.configured();
    windows.changed();
    if (!isGentle(earlierSetups, next)) renewal.disturbed(daemon.status());
    const applying = { isOver: false };
    const apply = async (): Promise<void> => {
      try {
        await daemon.apply(configOf(next));
      } catch (error) {
        report('reload', String(error));
      } finally {
        applying.isOver = true;
      }
    };
    const applied = apply();
    for (let turn = 0; turn < 100 && !applying.isOver; turn += 1) await clock.advance(1);
    if (applying.isOver) await applied;
    else report('reload', 'does not end');
    if (!isGentle(earlierSetups, next)) renewal.disturbed(daemon.status());
    earlierSetups = [];
  };

  /** Waits for a moment at which nothing is under way; excuses what is, if there is none. */
  const settleDown = async (): Promise<void> => {
    const sentSoFar = (): number =>
      [...renewal.counted().values()].reduce((sum, one) => sum + one, 0);
    const budgets = daemon.status().map((status) => status.budgetRequestsPerMinute);
    // The calls of a small budget are far apart.
    const neededSeconds = Math.max(12, 130 / Math.min(...budgets));
    let quietSeconds = 0;
    for (let second = 0; second < 60 && quietSeconds < neededSeconds; second += 1) {
      const before = sentSoFar();
      await clock.advance(1000);
      const isQuiet =
        sentSoFar() === before &&
        setups.every((setup) => budget.inFlight(setup.name) === 0 && !budget.isHeldUp(setup));
      quietSeconds = isQuiet ? quietSeconds + 1 : 0;
    }
    check();
    if (quietSeconds >= neededSeconds) return;
    const listed = fleet.applications().map(({ id }) => `${id}`);
    for (const { name } of setups) {
      const shown = values.snapshotsOf(name).map(({ application }) => application.id);
      windows.excuse(name, [...listed, ...shown]);
    }
  };

  const calm = (): void => {
    troubles.clear();
    if (windows.dateOffsetMs() !== 0) setVendorDate(0);
  };
  const setVendorDate = (offsetMs: number): void => {
    windows.vendorDate(offsetMs);
    budget.vendorDateChanged();
  };

  const worldHandlers: Handlers<WorldStep, Promise<void> | void> = {
    advance: ({ seconds }) => advance(seconds * 1000),
    calm: ({ minutes }) => {
      calm();
      return advance(minutes * minuteMs);
    },
    reload_often: async ({ account, what, seconds, times }) => {
      for (let time = 0; time < times && problems.length === 0; time += 1) {
        const set = what === 'label' ? { label: `${time}` } : { windowMs: (5 + time) * minuteMs };
        await reload(setupsAfter(setups, { do: 'reload', account, set }));
        await advance(seconds * 1000);
      }
    },
    slow_spell: async ({ ms, minutes }) => {
      troubles.clear();
      troubles.add({ kind: 'slow', ms }, { of: 'everything' }, minutes * minuteMs);
      await advance(minutes * minuteMs);
    },
    out_and_in: async ({ account, seconds }) => {
      const before = setups;
      await reload(setupsWithout(setups, account));
      await advance(seconds * 1000);
      await reload(before);
    },
    rotate: ({ keyFile, to, revoke }) => {
      const before = files.get(keyFile);
      if (revoke && before !== undefined && before !== to) troubles.revoke(before);
      troubles.reinstate(to);
      files.set(keyFile, to);
      calls.configured();
      budget.keyFile(keyFile, to);
    },
    throttle: ({ key, hint, calls: count }) => troubles.refuse(key, hint, count),
    other_user: ({ key, minutes }) =>
      troubles.refuse(key, { says: 'reset', seconds: 30 }, 40, minutes * minuteMs),
    trouble: ({ trouble, scope, minutes }) => troubles.add(trouble, scope, minutes * minuteMs),
    names_trouble: ({ fault, minutes }) => {
      troubles.breakNames(fault, minutes * minuteMs);
      if (fault === 'left_out') renewal.namesLeftOut(minutes * minuteMs);
    },
    list_trouble: ({ fault, minutes }) => troubles.breakLists(fault, minutes * minuteMs),
    clock_step: ({ seconds }) => {
      windows.changed();
      clock.jumpWall(seconds * 1000);
    },
    suspend: async ({ minutes }) => {
      await settleDown();
      windows.changed();
      vendorOffsetMs += minutes * minuteMs;
      clock.jumpWall(minutes * minuteMs);
    },
    vendor_date: ({ seconds }) => setVendorDate(seconds * 1000),
  };

  const vendor = inMemoryTransport(simulator);
  const ask: AskVendor = async (target) =>
    vendor.send(
      { operation: 'list_applications', target },
      { 'Api-Key': keyValues[0] },
      new AbortController().signal,
    );
  const checkLeftOut = async (): Promise<void> => {
    for (const { name, windowMs } of setups) {
      // What is left out of a few answers only may be absent, as long as nobody has noticed.
      const { metricCalls = '' } = daemon.status().find((one) => one.name === name) ?? {};
      if (beginning.trap === 'now_and_then' && !metricCalls.includes('at a time')) continue;
      for (const snapshot of values.snapshotsOf(name)) {
        const left = await leftOut(snapshot, { windowMs, ask });
        if (left.length > 0) report('left out', `${name}: ${left.join()}`);
      }
    }
  };

  const changeFleet = createFleetChanger(fleet);
  const act = async (step: Step): Promise<void> => {
    if (isAccountStep(step)) {
      await reload(setupsAfter(setups, step));
      return;
    }
    if (!isFleetStep(step)) {
      await handle(worldHandlers, step);
      return;
    }
    const { removedIds, renamedIds } = changeFleet(step);
    for (const id of removedIds) values.removed(id);
    for (const id of renamedIds) values.renamed(id);
    renewal.fleetChanged();
  };

  const stop = async (): Promise<void> => {
    hasStopped = true;
    fakePlatform.stop();
    await clock.advance(0);
    await running;
    await daemon.close();
    await clock.advance(0);
    const timers = clock.pendingTimers();
    if (timers > 0) report('timers', `${timers} are left`);
  };

  return {
    problems,
    nowMs: world.nowMs,
    perform: async (step) => {
      await act(step);
      check();
      told.check(daemon, await pages.check(daemon));
    },
    finish: async () => {
      calm();
      await advance(Math.max(settlingMs, renewal.namesKnownMs() - world.nowMs()));
      const longestMs = Math.max(
        ...daemon.status().map(({ pollIntervalSeconds }) => pollIntervalSeconds),
      );
      await advance(2 * longestMs * 1000);
      if (problems.length > 0) return;
      const before = renewal.counted();
      await advance(measuredMinutes * minuteMs);
      renewal.checkWhole(daemon.status(), await pages.check(daemon));
      renewal.checkDemand(before, measuredMinutes, daemon.status());
      await checkLeftOut();
    },
    stop,
  };
}

/** Whether only labels differ, which is no reason to poll anything later. */
function isGentle(before: readonly AccountSetup[], after: readonly AccountSetup[]): boolean {
  const plain = (setups: readonly AccountSetup[]): string =>
    JSON.stringify(setups.map((setup) => ({ ...setup, label: '' })));
  return plain(before) === plain(after);
}
