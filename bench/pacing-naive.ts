import { setMaxListeners } from 'node:events';
import { createFakeClock, type FakeClock } from '../test/support/fake-clock.ts';
import { type Ages, createAges } from './age-histogram.ts';
import { type PacingResult, resultOf } from './pacing-result.ts';
import { apiKey, createVendor, type Scene, type Vendor, vendorPerMinute } from './pacing-vendor.ts';

const cycleMs = 60_000;
/** Generous: the exporters that burst have no limit at all, and fail by running out of sockets. */
const inFlight = 50;

interface Stage {
  readonly clock: FakeClock;
  readonly vendor: Vendor;
  readonly hosts: readonly { readonly id: string; readonly target: string }[];
  readonly ages: Ages;
  /** Asks for one host; whether there was a value. */
  readonly ask: (host: Stage['hosts'][number]) => Promise<boolean>;
}

/** A strategy gets everything ready-made: the hosts are known, and each value is shown at once. */
async function run(scene: Scene, strategy: (stage: Stage) => void): Promise<PacingResult> {
  const clock = createFakeClock();
  const vendor = createVendor(scene, clock);
  const period = { fromMs: scene.warmUpMs, toMs: scene.warmUpMs + scene.measuredMs };
  const ages = createAges(scene.hosts, period);
  const hosts = [...vendor.simulator.fleet.applications()].flatMap((application) =>
    [...application.hosts.keys()].map((id) => ({
      id: `${id}`,
      target:
        `/v2/applications/${application.id}/hosts/${id}/metrics/data.json` +
        '?names[]=HttpDispatcher&values[]=requests_per_minute&summarize=true',
    })),
  );
  const seen = new Set<string>();
  let firstSetMs: number | undefined;
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const ask: Stage['ask'] = async ({ id, target }) => {
    const askedMs = clock.monotonicMs();
    const request = { operation: 'host_metrics', target } as const;
    const { status } = await vendor.transport.send(request, { 'api-key': apiKey }, signal);
    if (status !== 200) return false;
    ages.published(id, askedMs, clock.monotonicMs());
    seen.add(id);
    if (seen.size === hosts.length) firstSetMs ??= clock.monotonicMs();
    return true;
  };

  strategy({ clock, vendor, hosts, ages, ask });
  await clock.advance(period.toMs);
  return resultOf(scene, vendor, ages.result(), firstSetMs);
}

/**
 * All calls of a cycle as fast as they go, and what was refused is missing until the next cycle.
 * That is what exporters do that collect in the scrape, with a goroutine for each application and
 * nothing that counts calls, such as jfindley/newrelic_exporter and ContaAzul/newrelic_exporter.
 */
export async function runBurst(scene: Scene): Promise<PacingResult> {
  return run(scene, ({ clock, hosts, ages, ask }) => {
    const cycle = (): void => {
      const left = hosts.values();
      const worker = async (): Promise<void> => {
        for (const host of left) {
          if (!(await ask(host))) ages.missing(host.id, clock.monotonicMs());
        }
      };
      for (let index = 0; index < inFlight; index += 1) void worker();
      clock.after(cycleMs, cycle);
    };
    cycle();
  });
}

/**
 * Round after round through a token bucket that holds the vendor's quota and is filled evenly, as
 * rate limiting libraries do by default (burst = limit). The last value is kept when a call is refused,
 * and its turn comes again in the next round. A round begins when an interval has passed.
 */
export async function runTokenBucket(scene: Scene): Promise<PacingResult> {
  return run(scene, ({ clock, hosts, ask }) => {
    const msPerToken = 60_000 / vendorPerMinute;
    let tokens = vendorPerMinute;
    let filledMs = 0;
    let roundStartMs = 0;
    let next = 0;
    const wake = (): void => {
      const nowMs = clock.monotonicMs();
      tokens = Math.min(vendorPerMinute, tokens + (nowMs - filledMs) / msPerToken);
      filledMs = nowMs;
      while (tokens >= 1 && next < hosts.length) {
        const host = hosts[next];
        if (host !== undefined) void ask(host);
        next += 1;
        tokens -= 1;
      }
      if (next < hosts.length) {
        clock.after(msPerToken, wake);
        return;
      }
      next = 0;
      roundStartMs = Math.max(nowMs, roundStartMs + cycleMs);
      clock.after(roundStartMs - nowMs, wake);
    };
    wake();
  });
}
