import { minuteMs } from '../../src/model/time.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { type Member, startMember } from './account-member.ts';
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
import { createFleetChanger, namedHosts } from './fleet-changes.ts';
import { type AskVendor, leftOut, type Trap } from './lone-answers.ts';
import { setupsAfter, setupsWithout } from './setups-after.ts';
import { Troubles } from './vendor-troubles.ts';
import type { WireObserver } from './vendor-wire.ts';
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
  /** Daemons that share the accounts. Default: 1. */
  readonly shards?: number;
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
  const files = new Map(keyFiles.map((path, at) => [path as string, beginning.keys[at] ?? '']));
  const clock = createFakeClock();
  let vendorOffsetMs = clock.wallMs() - clock.monotonicMs();
  let dateOffsetMs = 0;
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
    isOwn: () => true,
    report,
  };
  const { pageSize, trap, shards: total = 1 } = beginning;
  const troubles = new Troubles({
    nowMs: world.nowMs,
    applicationIds: () => fleet.applications().map(({ id }) => `${id}`),
  });
  const together = new BudgetRules({
    ...world,
    report: (rule, detail) => {
      // All else each of them has to keep alone.
      if (rule === 'budget') report(rule, `all shards: ${detail}`);
    },
  });
  const observers: readonly WireObserver[] =
    total === 1
      ? []
      : [
          {
            sent: (call) => together.sent(call),
            answered: () => undefined,
            ended: (call) => together.ended(call),
          },
        ];
  setups = beginning.accounts;
  for (const [path, key] of files) together.keyFile(path, key);
  const members: Member[] = [];
  for (let ordinal = 0; ordinal < total; ordinal += 1) {
    const member = await startMember({
      shard: { ordinal, total },
      world,
      clock,
      files,
      simulator,
      troubles,
      dateMs: () => vendorWallMs() + dateOffsetMs,
      pageSize,
      trap,
      observers,
    });
    members.push(member);
  }
  const newKey = (path: string, key: string): void => {
    together.keyFile(path, key);
    for (const member of members) member.keyFile(path, key);
  };

  const check = (): void => {
    const vendor = {
      isDisturbed: troubles.isAny() || troubles.wasHit(),
      slownessMs: troubles.slownessMs(),
    };
    together.configured();
    for (const member of members) member.check(vendor);
  };
  const disturbed = (): void => {
    for (const { renewal, daemon } of members) renewal.disturbed(daemon.status());
  };

  const advance = async (ms: number): Promise<void> => {
    for (let leftMs = ms; leftMs > 0 && problems.length === 0; leftMs -= chunkMs) {
      await clock.advance(Math.min(leftMs, chunkMs));
      check();
    }
  };

  const reload = async (next: readonly AccountSetup[]): Promise<void> => {
    if (next === setups) return;
    for (const { name, source } of setups) {
      const stays = next.some((setup) => setup.name === name && setup.source === source);
      if (!stays) for (const { pages } of members) pages.accountRemoved(name);
    }
    earlierSetups = setups;
    setups = next;
    const isDisturbing = !isGentle(earlierSetups, next);
    together.configured();
    for (const member of members) member.configured();
    if (isDisturbing) disturbed();
    for (const member of members) await applyTo(member, next);
    if (isDisturbing) disturbed();
    earlierSetups = [];
  };

  const applyTo = async ({ daemon }: Member, next: readonly AccountSetup[]): Promise<void> => {
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
  };

  /** Waits for a moment at which nothing is under way, for a minute at most. */
  const settleDown = async (): Promise<void> => {
    const sentSoFar = (): number =>
      members
        .flatMap(({ renewal }) => [...renewal.counted().values()])
        .reduce((sum, one) => sum + one, 0);
    const budgets = members.flatMap(({ daemon }) =>
      daemon.status().map((status) => status.budgetRequestsPerMinute),
    );
    // The calls of a small budget are far apart.
    const neededSeconds = Math.max(12, 130 / Math.min(...budgets));
    let quietSeconds = 0;
    for (let second = 0; second < 60 && quietSeconds < neededSeconds; second += 1) {
      const before = sentSoFar();
      await clock.advance(1000);
      const isQuiet =
        sentSoFar() === before &&
        members.every(({ budget }) =>
          setups.every((setup) => budget.inFlight(setup.name) === 0 && !budget.isHeldUp(setup)),
        );
      quietSeconds = isQuiet ? quietSeconds + 1 : 0;
    }
    check();
  };

  /** Polls that begin before the first answer after the sleep cannot know how long it was. */
  const excuseWindows = (): void => {
    const listed = fleet.applications().map(({ id }) => `${id}`);
    for (const { name } of setups) {
      for (const { values, windows } of members) {
        const shown = values.snapshotsOf(name).map(({ application }) => application.id);
        windows.excuse(name, [...listed, ...shown]);
      }
    }
  };

  const calm = (): void => {
    troubles.clear();
    if (dateOffsetMs !== 0) setVendorDate(0);
  };
  const setVendorDate = (offsetMs: number): void => {
    dateOffsetMs = offsetMs;
    for (const { windows, budget } of members) {
      windows.vendorDate(offsetMs);
      budget.vendorDateChanged();
    }
  };
  const clocksChanged = (): void => {
    for (const { windows } of members) windows.changed();
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
    switch_source: async ({ account, seconds, times }) => {
      for (let time = 0; time < times && problems.length === 0; time += 1) {
        const before = setups;
        await reload(setupsAfter(setups, { do: 'reload', account, set: { source: 'nerdgraph' } }));
        await advance(seconds * 1000);
        await reload(before);
        await advance(seconds * 1000);
      }
    },
    rotate: ({ keyFile, to, revoke }) => {
      const before = files.get(keyFile);
      if (revoke && before !== undefined && before !== to) troubles.revoke(before);
      troubles.reinstate(to);
      files.set(keyFile, to);
      newKey(keyFile, to);
    },
    throttle: ({ key, hint, calls: count }) => troubles.refuse(key, hint, count),
    other_user: ({ key, minutes }) =>
      troubles.refuse(key, { says: 'reset', seconds: 30 }, 40, minutes * minuteMs),
    trouble: ({ trouble, scope, minutes }) => troubles.add(trouble, scope, minutes * minuteMs),
    names_trouble: ({ fault, minutes }) => {
      troubles.breakNames(fault, minutes * minuteMs);
      if (fault !== 'left_out') return;
      for (const { renewal } of members) renewal.namesLeftOut(minutes * minuteMs);
    },
    list_trouble: ({ fault, minutes }) => troubles.breakLists(fault, minutes * minuteMs),
    clock_step: ({ seconds }) => {
      clocksChanged();
      clock.jumpWall(seconds * 1000);
    },
    suspend: async ({ minutes }) => {
      await settleDown();
      excuseWindows();
      clocksChanged();
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
      const isNoticed = members.every(({ daemon }) => {
        const { metricCalls = '' } = daemon.status().find((one) => one.name === name) ?? {};
        return metricCalls.includes('at a time');
      });
      if (beginning.trap === 'now_and_then' && !isNoticed) continue;
      for (const snapshot of members.flatMap(({ values }) => values.snapshotsOf(name))) {
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
    for (const { values, renewal } of members) {
      for (const id of removedIds) values.removed(id);
      for (const id of renamedIds) values.renamed(id);
      renewal.fleetChanged();
    }
  };

  const stop = async (): Promise<void> => {
    for (const member of members) await member.stop();
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
      for (const member of members) await member.checkPages();
    },
    finish: async () => {
      calm();
      const namesKnownMs = Math.max(...members.map(({ renewal }) => renewal.namesKnownMs()));
      await advance(Math.max(settlingMs, namesKnownMs - world.nowMs()));
      const longestMs = Math.max(
        ...members.flatMap(({ daemon }) =>
          daemon
            .status()
            .map(({ configuredIntervalSeconds, stretch }) => configuredIntervalSeconds * stretch),
        ),
      );
      await advance(2 * longestMs * 1000);
      if (problems.length > 0) return;
      const before = members.map(({ renewal }) => renewal.counted());
      await advance(measuredMinutes * minuteMs);
      for (const [ordinal, { daemon, renewal, pages }] of members.entries()) {
        renewal.checkWhole(daemon.status(), await pages.check(daemon));
        renewal.checkDemand(before[ordinal] ?? new Map(), measuredMinutes, daemon.status());
      }
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
