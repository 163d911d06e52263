import { createDaemon, type Daemon } from '../../src/daemon/accounts.ts';
import type { Platform } from '../../src/daemon/platform.ts';
import type { Shard } from '../../src/model/shard.ts';
import { isOfQuery, type SnapshotSink } from '../../src/model/snapshot.ts';
import type { AccountDetails } from '../../src/model/status.ts';
import { createLogger } from '../../src/publish/logger.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { watchStore } from '../support/watched-store.ts';
import { type AccountSetup, configOf } from './account-setup.ts';
import { BudgetRules } from './budget-rules.ts';
import { CallRules } from './call-rules.ts';
import type { Trap } from './lone-answers.ts';
import { NerdGraphRules } from './nerdgraph-rules.ts';
import { PageRules } from './page-rules.ts';
import { RenewalRules } from './renewal-rules.ts';
import { StatusRules } from './status-rules.ts';
import { ValueRules } from './value-rules.ts';
import type { Troubles } from './vendor-troubles.ts';
import { createVendorWire, type WireCall, type WireObserver } from './vendor-wire.ts';
import { WindowRules } from './window-rules.ts';
import { ofShard, ofSource, type World } from './world.ts';

/** One daemon above the socket, and all rules that it has to keep. */
export interface Member {
  readonly daemon: Daemon;
  /** Of the accounts whose source is REST, as all of these. */
  readonly budget: BudgetRules;
  readonly windows: WindowRules;
  readonly values: ValueRules;
  readonly calls: CallRules;
  readonly renewal: RenewalRules;
  readonly pages: PageRules;
  /** A key file has another key from now on. */
  keyFile(path: string, key: string): void;
  /** The configuration changes. */
  configured(): void;
  /** What has to be so at any time. */
  check(vendor: { readonly isDisturbed: boolean; readonly slownessMs: number | undefined }): void;
  /** What has to be so of pages and status. */
  checkPages(): Promise<void>;
  /** Ends the daemon, as SIGTERM does. */
  stop(): Promise<void>;
}

export interface MemberDependencies {
  readonly shard: Shard;
  /** As all daemons together see it. */
  readonly world: World;
  readonly clock: FakeClock;
  /** The key files, as they are at any time. */
  readonly files: ReadonlyMap<string, string>;
  readonly simulator: Simulator;
  readonly troubles: Troubles;
  /** The vendor's `Date`. */
  readonly dateMs: () => number;
  readonly pageSize: number;
  readonly trap: Trap;
  /** Are told of all calls as well. */
  readonly observers: readonly WireObserver[];
}

export async function startMember(dependencies: MemberDependencies): Promise<Member> {
  const { shard, world, clock, files, pageSize } = dependencies;
  const own = ofShard(world, shard);
  const [rest, nerdGraph] = [ofSource(own, 'rest'), ofSource(own, 'nerdgraph')];
  const pages = new PageRules(own.report);
  const told = new StatusRules(rest);
  const budget = new BudgetRules(rest);
  const queryBudget = new BudgetRules(nerdGraph);
  const windows = new WindowRules(rest);
  const values = new ValueRules(rest);
  const calls = new CallRules(rest, { budget, values });
  const renewal = new RenewalRules(rest, { budget, values, pageSize });
  const queried = new NerdGraphRules(nerdGraph);
  const observer = splitBySource(
    {
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
    },
    queryBudget,
  );
  const keyFile = (path: string, key: string): void => {
    calls.configured();
    budget.keyFile(path, key);
    queryBudget.keyFile(path, key);
  };
  for (const [path, key] of files) keyFile(path, key);
  const fakePlatform = createFakePlatform();
  const platform: Platform = {
    ...fakePlatform,
    clock,
    readFile: async (path) => new TextEncoder().encode(files.get(path) ?? ''),
    stderr: { write: (text) => pages.text(text, 'the log'), on: () => undefined },
    openTransport: createVendorWire({
      ...dependencies,
      shard: shard.ordinal,
      observer: toAll([...dependencies.observers, observer]),
    }),
  };
  const logger = await createLogger({ logLevel: 'debug', logFormat: 'json' }, platform);
  const daemon = await createDaemon(configOf(world.setups()), {
    platform,
    logger,
    shard,
  });
  watchStore(daemon.store, (store) =>
    divided(store, { values: values.watch(store), queried, world: own }),
  );
  let hasStopped = false;
  const running = (async (): Promise<void> => {
    try {
      await daemon.run(platform.stopSignal);
      if (!hasStopped) own.report('daemon', 'has ended');
    } catch (error) {
      own.report('daemon', String(error));
    }
  })();

  return {
    daemon,
    budget,
    windows,
    values,
    calls,
    renewal,
    pages,
    keyFile,
    configured: () => {
      for (const rules of [budget, queryBudget, values, calls]) rules.configured();
      windows.changed();
    },
    check: ({ isDisturbed, slownessMs }) => {
      const status = daemon.status();
      if (isDisturbed) renewal.disturbed(status);
      const limits = new Map(status.map((one) => [one.name, one.budgetRequestsPerMinute] as const));
      for (const rules of [budget, queryBudget]) {
        rules.configured();
        rules.checkLimits(limits);
      }
      values.check((account) => stretchOf(own, status, account));
      renewal.check(status);
      renewal.checkSlow(slownessMs, status);
      calls.check(status.filter(({ name }) => rest.setups().some((one) => one.name === name)));
      const stalled = daemon.stalled();
      if (stalled !== undefined) own.report('stalled', stalled);
    },
    checkPages: async () => told.check(daemon, await pages.check(daemon)),
    stop: async () => {
      hasStopped = true;
      fakePlatform.stop();
      await clock.advance(0);
      await running;
      await daemon.close();
    },
  };
}

function stretchOf(world: World, status: readonly AccountDetails[], account: string): number {
  const own = status.find(({ name }) => name === account);
  const isThere = world.setups().some(({ name }) => name === account);
  return own === undefined || !isThere ? 1 : own.stretch;
}

/** What is published of accounts with one source or the other. While that changes it may be of both. */
function divided(
  sink: SnapshotSink,
  rules: { readonly values: SnapshotSink; readonly queried: NerdGraphRules; readonly world: World },
): SnapshotSink {
  const { values, queried, world } = rules;
  const isAmong = (setups: readonly AccountSetup[], account: string): boolean =>
    setups.some(({ name, source }) => name === account && source === 'nerdgraph');
  const wasQueried = (account: string): boolean => isAmong(world.earlierSetups(), account);
  return {
    ...values,
    publish: (snapshot) => {
      if (isOfQuery(snapshot)) return;
      const { account, application } = snapshot;
      if (!world.isOwn(application.id)) {
        world.report('shard', `${account}: shows ${application.id}, which another one polls`);
      }
      if (!wasQueried(account) && !isAmong(world.setups(), account)) {
        values.publish(snapshot);
        return;
      }
      queried.published(snapshot);
      sink.publish(snapshot);
    },
    removeAccount: (account) => {
      if (wasQueried(account)) sink.removeAccount(account);
      else values.removeAccount(account);
    },
  };
}

function splitBySource(rest: WireObserver, nerdGraph: WireObserver): WireObserver {
  const of = ({ target }: WireCall): WireObserver => (target === '/graphql' ? nerdGraph : rest);
  return {
    sent: (call) => of(call).sent(call),
    answered: (call, response, isGenuine) => of(call).answered(call, response, isGenuine),
    ended: (call) => of(call).ended(call),
  };
}

function toAll(observers: readonly WireObserver[]): WireObserver {
  return {
    sent: (call) => {
      for (const one of observers) one.sent(call);
    },
    answered: (call, response, isGenuine) => {
      for (const one of observers) one.answered(call, response, isGenuine);
    },
    ended: (call) => {
      for (const one of observers) one.ended(call);
    },
  };
}
