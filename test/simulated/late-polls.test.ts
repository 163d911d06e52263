import { describe, expect } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { answered, type Fault, faulty, linesOf } from '../support/query-daemon.ts';
import { aRunningDaemon, type RunningDaemon } from '../support/running-daemon.ts';
import { eachAfter } from '../support/slow.ts';

const stepMs = 5000;
/** A daemon looks at everything at least so often. */
const lookMs = 10_000;
const intervalMs = minuteMs;
const staleMs = 15 * minuteMs;
const values =
  /^newrelic_application(?:_host)?_(?:requests_per_minute|window_end\w*|response_time\w*)\{/u;

interface Scene {
  readonly api: string;
  readonly budget: number;
  /** Whether lists are refused as well. */
  readonly areListsRefused: boolean;
}

/** Of one application, on the monotonic clock. */
interface Seen {
  readonly lastSuccessMs: number;
  /** When `newrelic_application_poll_success` was first 0. */
  failedMs: number;
  /** When it was first seen without a value of its own or of its hosts. */
  goneMs: number;
}

async function started({ api, budget }: Scene, fault: Fault): Promise<RunningDaemon> {
  const text = `
accounts: [{ name: one, api_key_env: KEY_A, ${api} requests_per_minute: ${budget} }]
poll: { metrics: [throughput, response_time] }
apps: [{ match: . }]`;
  const { config } = await parseConfig(text, { fileName: 'c.yaml', directory: '/' });
  const applications = Array.from({ length: 12 }, (_, at) => {
    return { id: 101 + at, name: `app-${at}`, kind: 'both' as const, hosts: 2 };
  });
  return aRunningDaemon(config, { fleet: { applications }, ...faulty(fault) });
}

function idsOf(lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => /app_id="(\d+)"/u.exec(line)?.[1] ?? []));
}

/** In the metrics, and on the page and in the JSON. */
async function reasonsOf(bench: RunningDaemon): Promise<readonly (string | undefined)[]> {
  const lines = await linesOf(bench, /^newrelic_application_poll_failure_info/u);
  const failures = bench.daemon.applications().flatMap(({ failure }) => failure ?? []);
  return [
    ...lines.map((line) => /reason="(\w+)"/u.exec(line)?.[1]),
    ...failures.map(({ reason }) => reason),
  ];
}

/** Each of so many has one line, or is counted in one. */
function expectDropped({ logger }: RunningDaemon, count: number): void {
  const dropped = logger.lines.filter(({ message }) => message === 'values dropped');
  const counts = dropped.map(
    ({ fields }) => Number(fields['count'] ?? 1) + Number(fields['suppressed'] ?? 0),
  );
  expect(counts.reduce((sum, one) => sum + one, 0)).toBe(count);
  expect(new Set(dropped.map(({ fields }) => fields['reason']))).toEqual(new Set(['throttled']));
}

describe('4.3 11.2 polls that are refused with 429 for ever', () => {
  const nerdgraph = 'source: nerdgraph, account_id: 1234567,';
  eachAfter(1, [
    { what: 'REST', api: '', budget: 800, areListsRefused: true },
    { what: 'REST, lists go on', api: '', budget: 800, areListsRefused: false },
    { what: 'REST, stretched', api: '', budget: 20, areListsRefused: true },
    { what: 'NerdGraph', api: nerdgraph, budget: 800, areListsRefused: true },
    { what: 'NerdGraph, lists go on', api: nerdgraph, budget: 800, areListsRefused: false },
    { what: 'NerdGraph, stretched', api: nerdgraph, budget: 2, areListsRefused: true },
  ])('fail when they are late, and their values go after stale_after: $what', async (scene) => {
    const fault: Fault = { answer: () => undefined };
    const bench = await started(scene, fault);
    const { clock } = bench.platform;
    await clock.advance(12 * minuteMs);
    const { stretch = NaN } = bench.daemon.status()[0] ?? {};
    const plannedMs = stretch * intervalMs;
    fault.answer = ({ operation }) =>
      scene.areListsRefused || operation !== 'list_applications' ? answered({}, 429) : undefined;
    const toMonotonicMs = clock.monotonicMs() - clock.wallMs();
    const seen = new Map<string, Seen>();
    // Polls that were under way have ended.
    await clock.advance(stepMs);
    for (const { id, lastSuccessMs = NaN } of bench.daemon.applications()) {
      const lastMs = lastSuccessMs + toMonotonicMs;
      seen.set(id, { lastSuccessMs: lastMs, failedMs: Infinity, goneMs: Infinity });
    }
    const untilMs = clock.monotonicMs() + 3 * plannedMs + staleMs + 2 * minuteMs;
    const reasons = new Set<string | undefined>();
    while (clock.monotonicMs() < untilMs) {
      await clock.advance(stepMs);
      const nowMs = clock.monotonicMs();
      const failing = idsOf(await linesOf(bench, /^newrelic_application_poll_success\{.* 0$/u));
      const shown = idsOf(await linesOf(bench, values));
      for (const [id, one] of seen) {
        if (failing.has(id)) one.failedMs = Math.min(one.failedMs, nowMs);
        if (!shown.has(id)) one.goneMs = Math.min(one.goneMs, nowMs);
      }
      for (const reason of await reasonsOf(bench)) reasons.add(reason);
    }

    // A poll is due an interval after the last one, a little early where that spreads them.
    const [earliest, latest] = [0.5 * plannedMs, plannedMs + lookMs + stepMs];
    const isBetween = (ms: number, after: number): boolean =>
      ms >= after + earliest && ms <= after + latest;
    expect(seen.size).toBe(12);
    for (const { lastSuccessMs, failedMs, goneMs } of seen.values()) {
      expect(isBetween(failedMs - lastSuccessMs, 2 * plannedMs)).toBe(true);
      expect(isBetween(goneMs - lastSuccessMs, 2 * plannedMs + staleMs)).toBe(true);
      expect(goneMs - lastSuccessMs).toBeGreaterThanOrEqual(staleMs);
    }
    expect([...reasons]).toEqual(['throttled']);
    expectDropped(bench, 12);
    // Lists that are refused for so long are late, too.
    const up = `newrelic_up{account="one"} ${scene.areListsRefused ? 0 : 1}`;
    expect(await linesOf(bench, /^newrelic_up/u)).toEqual([up]);
  });
});
