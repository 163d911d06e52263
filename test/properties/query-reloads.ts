import fc from 'fast-check';
import { createDaemon, type Daemon } from '../../src/daemon/accounts.ts';
import type { Platform } from '../../src/daemon/platform.ts';
import { minuteMs, secondMs } from '../../src/model/time.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { createPageRules } from './query-page-rules.ts';
import {
  applicationName,
  applicationsOf,
  asksAlike,
  type Change,
  changed,
  changes,
  configOf,
  keys,
  type Setup,
  setups,
} from './query-setups.ts';
import { createQueryVendor, type Trouble, troubles } from './query-vendor.ts';

/** After these nothing of a trouble is left, and all has been polled twice, however rarely. */
const calmMs = 16 * minuteMs;

export type Step =
  | { readonly do: 'advance'; readonly seconds: number }
  | { readonly do: 'reload'; readonly to: Setup }
  | { readonly do: 'change'; readonly change: Change }
  /** Again and again, faster than anything is answered. */
  | { readonly do: 'flap'; readonly to: Setup; readonly seconds: number; readonly times: number }
  | { readonly do: 'trouble'; readonly trouble: Trouble; readonly seconds: number }
  /** Another key in the file; New Relic refuses the old one at once, or never. */
  | { readonly do: 'rotate'; readonly revoke: boolean };

export interface Beginning {
  readonly applications: number;
  readonly latencyMs: number;
  readonly setup: Setup;
}

const beginnings: fc.Arbitrary<Beginning> = fc.record({
  applications: fc.constantFrom(0, 3, 3, 40, 40, 200),
  latencyMs: fc.constantFrom(50, 2000, 7000),
  setup: setups,
});

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reload' as const), to: setups }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('change' as const), change: changes }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      seconds: fc.constantFrom(1, 3, 10, 45, 130, 400),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('flap' as const),
      to: setups,
      seconds: fc.constantFrom(1, 4),
      times: fc.constantFrom(2, 5),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('trouble' as const),
      trouble: troubles,
      seconds: fc.constantFrom(5, 70, 400),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rotate' as const), revoke: fc.boolean() }) },
);

interface Bench {
  readonly problems: readonly string[];
  perform(step: Step): Promise<void>;
  /** Nothing goes wrong from now on: all that is configured must be shown. */
  finish(): Promise<void>;
  stop(): Promise<void>;
}

async function createBench({ applications, latencyMs, setup }: Beginning): Promise<Bench> {
  const problems: string[] = [];
  const report = (problem: string): void => {
    if (problems.length < 5) problems.push(problem);
  };
  const fake = createFakePlatform();
  const { clock } = fake;
  const simulator = createSimulator(
    {
      apiKeys: keys,
      quotaPerMinute: 1_000_000,
      ingestDelayMs: 0,
      journalLimit: 1,
      fleet: {
        applications: applicationsOf(applications).map((id) => ({
          id: Number(id),
          name: applicationName(id),
          kind: 'web' as const,
          hosts: 1,
        })),
      },
    },
    { clock },
  );
  let active = setup;
  /** While a reload is under way: those that it leads to. */
  let coming: Setup | undefined = setup;
  let keyIndex = 0;
  const vendor = createQueryVendor(inMemoryTransport(simulator), {
    clock,
    latencyMs,
    setups: () => (coming === undefined ? [active] : [active, coming]),
    report,
  });
  const platform: Platform = {
    ...fake,
    readFile: async () => new TextEncoder().encode(keys[keyIndex]),
    openTransport: async () => vendor.wire,
  };
  const logger = createFakeLogger();
  const daemon = await createDaemon(configOf(setup), { platform, logger });
  coming = undefined;
  const running = daemon
    .run(fake.stopSignal)
    .catch((error: unknown) => report(`it ended: ${String(error)}`));
  const rules = createPageRules(daemon, { clock, fleet: applicationsOf(applications), report });

  const apply = async (next: Setup): Promise<void> => {
    const shown = await rules.shown();
    coming = next;
    if (asksAlike(active, next)) vendor.listsStay(true);
    await applied(daemon, next, async () => clock.advance(0), report);
    vendor.listsStay(false);
    const before = active;
    active = next;
    coming = undefined;
    // No time has passed.
    await rules.check(active);
    await rules.checkKept(shown, before, active);
  };
  const advance = async (ms: number): Promise<void> => {
    // What a reload leaves behind shows soon; what takes longer stays.
    const chunkMs = Math.max(5 * secondMs, ms / 10);
    for (let leftMs = ms; leftMs > 0 && problems.length === 0; leftMs -= chunkMs) {
      await clock.advance(Math.min(leftMs, chunkMs));
      await rules.check(active);
    }
  };
  return {
    problems,
    perform: async (step) => {
      if (step.do === 'advance') await advance(step.seconds * secondMs);
      else if (step.do === 'reload') await apply(step.to);
      else if (step.do === 'change') await apply(changed(active, step.change));
      else if (step.do === 'trouble') vendor.trouble(step.trouble, step.seconds * secondMs);
      else if (step.do === 'rotate') {
        if (step.revoke) vendor.revoke(keys[keyIndex] ?? '');
        keyIndex = (keyIndex + 1) % keys.length;
        vendor.reinstate(keys[keyIndex] ?? '');
      } else {
        const before = active;
        for (let time = 0; time < step.times && problems.length === 0; time += 1) {
          await apply(time % 2 === 0 ? step.to : before);
          await advance(step.seconds * secondMs);
        }
      }
    },
    finish: async () => {
      vendor.calm();
      await advance(calmMs);
      if (problems.length === 0) await rules.checkWhole(active);
    },
    stop: async () => {
      fake.stop();
      await clock.advance(0);
      await running;
      await daemon.close();
      if (clock.pendingTimers() > 0) report(`${clock.pendingTimers()} timers are left`);
    },
  };
}

async function applied(
  daemon: Daemon,
  next: Setup,
  turn: () => Promise<void>,
  report: (problem: string) => void,
): Promise<void> {
  const applying = { isOver: false };
  const apply = async (): Promise<void> => {
    try {
      await daemon.apply(configOf(next));
    } catch (error) {
      report(`the reload failed: ${String(error)}`);
    } finally {
      applying.isOver = true;
    }
  };
  const ended = apply();
  for (let turns = 0; turns < 200 && !applying.isOver; turns += 1) await turn();
  if (applying.isOver) await ended;
  else report('the reload does not end');
}

async function problemOf(
  beginning: Beginning,
  course: readonly Step[],
): Promise<string | undefined> {
  const bench = await createBench(beginning);
  for (const step of course) {
    await bench.perform(step);
    if (bench.problems.length > 0) break;
  }
  if (bench.problems.length === 0) await bench.finish();
  await bench.stop();
  return bench.problems.length === 0 ? undefined : bench.problems.join('\n');
}

/** Tries so many courses of reloads: the report on the shortest that breaks a rule, if any does. */
export async function reportOfReloads(runs: number, seed: number): Promise<string | undefined> {
  const details = await fc.check(
    fc.asyncProperty(
      beginnings,
      fc.array(steps, { minLength: 3, maxLength: 14 }),
      async (beginning, course) => {
        const problem = await problemOf(beginning, course);
        if (problem !== undefined) throw new Error(problem);
      },
    ),
    {
      numRuns: runs,
      seed,
      path: process.env['FC_PATH'] ?? '',
      includeErrorInReport: true,
      endOnFailure: process.env['FC_SHRINK'] === 'no',
    },
  );
  return fc.defaultReportMessage(details);
}
