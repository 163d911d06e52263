/**
 * P21: the longest turn of the event loop and the CPU time of each phase in the life of one account with
 * very many applications of one host, for several sizes: first polls, steady state, a reload of all
 * labels, a discovery with new names for all, 429 to everything, and the recovery from that. The whole
 * daemon but the sockets, with its store, log and limiter, on a simulated clock, with a vendor that
 * answers after 100 ms and a scrape every 15 s; CPU time of the main thread, with what the watching costs.
 * The budget is a call a minute for each application, so that every phase has work for all of them.
 * Arguments: the sizes, separated by commas, 1000,2000,5000,10000 if left out; rounds, of which the
 * median counts, 1 if left out.
 */
import { createDaemon, type Daemon } from '../src/daemon/daemon.ts';
import type { Platform } from '../src/daemon/platform.ts';
import type { Config } from '../src/model/config.ts';
import { createLogger } from '../src/telemetry/logger.ts';
import type { ApiResponse, RawTransport } from '../src/transport/transport.ts';
import { anAccount, anEntry } from '../test/support/builders.ts';
import { createFakePlatform } from '../test/support/fake-platform.ts';
import { spreadOf } from './median.ts';
import { cpuMs, createTurnClock, createTurns, type TurnClock } from './turns.ts';

const sizes = (process.argv[2] ?? '1000,2000,5000,10000').split(',').map(Number);
const rounds = Number(process.argv[3] ?? '1');
const minuteMs = 60_000;
const scrapeMs = 15_000;
const latencyMs = 100;
const perPage = 200;
const firstId = 1_000_000;
const firstHostId = 5_000_000;

/** What the vendor has and does; the bench changes it between two phases. */
interface VendorState {
  readonly names: string;
  readonly refuses: boolean;
}

function applicationOf(index: number, names: string): object {
  return {
    id: firstId + index,
    name: `${names} ${index}`,
    language: 'java',
    health_status: 'green',
    reporting: true,
    last_reported_at: '2026-09-01T00:00:00+00:00',
    links: { application_instances: [], application_hosts: [firstHostId + index] },
  };
}

function listAnswer(target: URL, count: number, names: string): ApiResponse {
  const page = Number(target.searchParams.get('page') ?? '1');
  const first = (page - 1) * perPage;
  const length = Math.max(0, Math.min(perPage, count - first));
  const applications = Array.from({ length }, (_, at) => applicationOf(first + at, names));
  const link = `<http://vendor/v2/applications.json?page=${page + 1}>; rel="next"`;
  const headers = first + length < count ? { link } : {};
  return { status: 200, headers, body: JSON.stringify({ applications }) };
}

function valuesAnswer(target: URL, nowMs: number): ApiResponse {
  const from = target.searchParams.get('from');
  const to = target.searchParams.get('to');
  const values = { requests_per_minute: 1 + (nowMs % 1000) };
  const metrics = [{ name: 'HttpDispatcher', timeslices: [{ from, to, values }] }];
  const names = { metrics_found: ['HttpDispatcher'], metrics_not_found: ['OtherTransaction/all'] };
  const body = JSON.stringify({ metric_data: { from, to, ...names, metrics } });
  return { status: 200, headers: {}, body };
}

function aVendor(clock: TurnClock, count: number, state: () => VendorState): RawTransport {
  const answerTo = (text: string): ApiResponse => {
    const { names, refuses } = state();
    if (refuses) {
      const reset = `${Math.floor(clock.wallMs() / 1000) + 60}`;
      return { status: 429, headers: { 'x-ratelimit-reset': reset }, body: '{}' };
    }
    const target = new URL(text, 'http://vendor');
    return target.pathname.endsWith('/data.json')
      ? valuesAnswer(target, clock.monotonicMs())
      : listAnswer(target, count, names);
  };
  return {
    send: async ({ target }) => {
      await new Promise<void>((resolve) => {
        clock.after(latencyMs, resolve);
      });
      const { headers, ...answer } = answerTo(target);
      const date = new Date(clock.wallMs()).toUTCString();
      return { ...answer, headers: { 'content-type': 'application/json', date, ...headers } };
    },
    close: async () => {},
  };
}

function configOf(count: number, labels: Readonly<Record<string, string>>): Config {
  const account = anAccount({
    apiKey: { kind: 'env', name: 'BENCH_KEY' },
    requestsPerMinute: Math.max(800, count),
    concurrency: Math.max(8, Math.ceil(count / 100)),
  });
  return { accounts: [account], apps: [anEntry({ labels })] };
}

interface Phase {
  readonly name: string;
  readonly longestMs: number;
  readonly cpuSeconds: number;
  readonly logLines: number;
}

async function runOnce(count: number): Promise<readonly Phase[]> {
  const turns = createTurns();
  const clock = createTurnClock(turns);
  let state: VendorState = { names: 'application', refuses: false };
  let logLines = 0;
  const fake = createFakePlatform({ env: { BENCH_KEY: 'bench-key-4711' } });
  const platform: Platform = {
    ...fake,
    clock,
    nextTurn: async () => turns.tick(),
    stderr: { write: () => (logLines += 1), on: () => undefined },
    openTransport: async () => aVendor(clock, count, () => state),
  };
  const logger = await createLogger({ logLevel: 'info', logFormat: 'json' }, platform);
  const daemon = await createDaemon(configOf(count, {}), { platform, logger });
  const phases: Phase[] = [];
  const phase = async (name: string, minutes: number, begin: () => void): Promise<void> => {
    await turns.tick();
    turns.longestMs();
    const [cpuBefore, linesBefore] = [cpuMs(), logLines];
    begin();
    for (let ms = 0; ms < minutes * minuteMs; ms += scrapeMs) {
      await clock.advance(scrapeMs);
      await scrape(daemon);
    }
    const cpuSeconds = (cpuMs() - cpuBefore) / 1000;
    const lines = logLines - linesBefore;
    phases.push({ name, longestMs: turns.longestMs(), cpuSeconds, logLines: lines });
  };

  let running: Promise<void> | undefined;
  let applied: Promise<void> | undefined;
  await phase('first polls', 3, () => {
    running = daemon.run(fake.stopSignal);
  });
  await phase('steady', 3, () => undefined);
  await phase('reload of labels', 3, () => {
    applied = daemon.apply(configOf(count, { team: 'payments' }));
  });
  await applied;
  await phase('rename', 3, () => {
    state = { ...state, names: 'service' };
  });
  await phase('429 of everything', 3, () => {
    state = { ...state, refuses: true };
  });
  await phase('recovery', 7, () => {
    state = { ...state, refuses: false };
  });
  await expectAllShown(daemon, count);
  fake.stop();
  await clock.advance(1);
  await running;
  await daemon.close();
  return phases;
}

async function scrape(daemon: Daemon): Promise<void> {
  await daemon.store.page();
  await daemon.metrics.text();
}

/** A bench of a daemon that shows nothing would be fast. */
async function expectAllShown(daemon: Daemon, count: number): Promise<void> {
  const page = (await daemon.store.page()).identity.toString();
  const shown = page.match(
    /^newrelic_application_requests_per_minute\{.*app_name="service .*team="payments"/gmu,
  );
  if (shown?.length === count) return;
  throw new Error(`${shown?.length ?? 0} of ${count} applications are shown with their new name`);
}

process.stdout.write(
  `large-account: one host each, answers take ${latencyMs} ms; ${rounds} rounds, median\n` +
    '  longest turn in ms CPU / CPU seconds of the phase / log lines\n',
);
// What runs for the first time is not optimized yet.
await runOnce(200);
for (const count of sizes) {
  const all: (readonly Phase[])[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(await runOnce(count));
  const parts = (all[0] ?? []).map(({ name }, index) => {
    const of = (value: (one: Phase) => number): number =>
      spreadOf(all.flatMap((phases) => phases.slice(index, index + 1)).map(value)).median;
    const longest = of(({ longestMs }) => longestMs).toFixed(1);
    const cpu = of(({ cpuSeconds }) => cpuSeconds).toFixed(2);
    return `    ${name.padEnd(18)} ${longest.padStart(6)} / ${cpu.padStart(6)} / ${of((one) => one.logLines)}`;
  });
  process.stdout.write([`  N = ${count}`, ...parts, ''].join('\n'));
}
