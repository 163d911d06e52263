import type { ServerResponse } from 'node:http';
import type { AccountConfig, AppEntry } from '../../src/model/config.ts';
import { isOfQuery } from '../../src/model/snapshot.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { ApplicationSpec } from '../../src/simulator/fleet-options.ts';
import type { JournalEntry } from '../../src/simulator/journal.ts';
import type { Intercept } from '../../src/simulator/simulator-options.ts';
import { anEntry } from '../support/builders.ts';
import { accountOne, aRunningDaemon } from '../support/running-daemon.ts';

/** The same account through either API, with a budget that is too small for the giant. */
export interface Through {
  readonly name: string;
  readonly account: Partial<AccountConfig>;
  /** How long a discovery takes, whose calls go before all others. */
  readonly discoveryMs: number;
  /** How long the others may wait, in intervals, when all that hung are answered again. */
  readonly recovery: number;
  /** Whether a request asks for values of one of these applications. */
  readonly asksFor: (request: JournalEntry, ids: ReadonlySet<number>) => boolean;
}

export const rest: Through = {
  name: 'REST',
  account: { requestsPerMinute: 990 },
  discoveryMs: 0,
  recovery: 1.15,
  asksFor: ({ path, applicationId }, ids) =>
    path.includes('/metrics/') && ids.has(Number(applicationId)),
};
export const nerdGraph: Through = {
  name: 'NerdGraph',
  account: {
    source: { kind: 'nerdgraph', accountId: 1_234_567 },
    requestsPerMinute: 11,
    concurrency: 5,
  },
  discoveryMs: 15_000,
  // What had failed twice is not retried but polled again: of eleven calls a minute that takes eight.
  recovery: 1.25,
  asksFor: ({ graphql }, ids) =>
    (graphql?.asks ?? []).some(({ text }) => {
      const [, list = ''] = /appId IN \(([\d,]+)\)/u.exec(text) ?? [];
      return list.split(',').some((id) => ids.has(Number(id)));
    }),
};
export const both: readonly Through[] = [rest, nerdGraph];

export interface Scene {
  readonly through: Through;
  readonly applications: readonly ApplicationSpec[];
  readonly entries: readonly AppEntry[];
  readonly minutes: number;
  /** Applications whose metric calls are never answered. */
  readonly hanging?: ReadonlySet<number>;
  /** When that begins. Default: at the start. */
  readonly hangAfterMs?: number;
  /** What becomes of those calls instead; nothing is answered by default. */
  readonly spoil?: (response: ServerResponse, monotonicMs: number) => ReturnType<Intercept>;
  /** When they are answered again; never, if left out. */
  readonly recoverAfterMs?: number;
  /** What was before is not looked at. */
  readonly fromMs?: number;
}

export interface Seen {
  /** For each application: the longest time between two publications of new values. */
  readonly longestGapMs: ReadonlyMap<string, number>;
  readonly stretch: number;
  readonly violations: number;
  readonly mostInFlight: number;
  readonly mostInAnyMinute: number;
  readonly demandPerMinute: number;
}

/** Runs a whole account on simulated time and watches when the values of each application are new. */
export async function seenOf(scene: Scene): Promise<Seen> {
  const fromMs = scene.fromMs ?? 0;
  const lastMs = new Map<string, number>();
  const successes = new Map<string, number>();
  const longestGapMs = new Map<string, number>();
  const note = (id: string, nowMs: number): void => {
    if (nowMs < fromMs) return;
    const gapMs = nowMs - Math.max(fromMs, lastMs.get(id) ?? fromMs);
    longestGapMs.set(id, Math.max(longestGapMs.get(id) ?? 0, gapMs));
    lastMs.set(id, nowMs);
  };
  const running = await aRunningDaemon(
    {
      accounts: [accountOne({ name: 'production', ...scene.through.account })],
      apps: scene.entries,
    },
    {
      latencyMs: [80, 400],
      quotaPhaseMs: 23_000,
      fleet: { applications: scene.applications, traffic: 'flat' },
      intercept: (request, response) => {
        const hangs =
          scene.hanging !== undefined &&
          request.monotonicMs >= (scene.hangAfterMs ?? 0) &&
          request.monotonicMs < (scene.recoverAfterMs ?? Number.POSITIVE_INFINITY) &&
          scene.through.asksFor(request, scene.hanging);
        if (!hangs) return 'pass';
        return scene.spoil?.(response, request.monotonicMs) ?? 'handled';
      },
      watch: (sink) => ({
        publish: (snapshot) => {
          if (isOfQuery(snapshot)) return;
          // A discovery publishes again what a poll has brought. All polls of a silent one bring the same.
          const { lastSuccessMs } = snapshot;
          const { id } = snapshot.application;
          if (lastSuccessMs !== undefined && successes.get(id) !== lastSuccessMs) {
            successes.set(id, lastSuccessMs);
            note(id, running.platform.clock.monotonicMs());
          }
          sink.publish(snapshot);
        },
      }),
    },
  );

  const { platform, daemon, simulator } = running;
  const { clock } = platform;
  await clock.advance(scene.minutes * minuteMs);
  const [status] = daemon.status();
  for (const { id } of simulator.fleet.applications()) {
    if (!(scene.hanging?.has(id) ?? false)) note(`${id}`, clock.monotonicMs());
  }
  return {
    longestGapMs,
    stretch: status?.stretch ?? 0,
    violations: simulator.violations(),
    mostInFlight: simulator.journal.maxInFlight(),
    mostInAnyMinute: simulator.journal.maxInAnyWindow(minuteMs),
    demandPerMinute: status?.demandRequestsPerMinute ?? 0,
  };
}

/** Ids `first`, `first + 1`, and so on; all of them report, so that each poll brings new values. */
export function applicationsOf(count: number, hosts: number, first: number): ApplicationSpec[] {
  return Array.from({ length: count }, (_, index) => ({
    id: first + index,
    name: `application ${first + index}`,
    hosts,
    kind: 'both',
  }));
}

export function entryOf(pattern: RegExp, intervalMs: number, delayMs = 180_000): AppEntry {
  return anEntry({ selector: { kind: 'match', pattern }, poll: { intervalMs, delayMs } });
}

export function longestOf({ longestGapMs }: Seen, first: number, count: number): number {
  return Math.max(
    ...Array.from(
      { length: count },
      (_, index) => longestGapMs.get(`${first + index}`) ?? Infinity,
    ),
  );
}

// Applications that share queries hang together: with NerdGraph those that hang have queries of their own.
export const apart: readonly AppEntry[] = [
  entryOf(/ 5\d\d\d$/u, minuteMs, 240_000),
  entryOf(/ 1\d\d\d$/u, minuteMs),
];
