import { createDaemon } from '../../src/daemon/accounts.ts';
import type { Platform } from '../../src/daemon/platform.ts';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import { createLogger } from '../../src/publish/logger.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';

/** Stands in every key, and nowhere else. */
const mark = 'Rotated';
const vendorKey = 'the-key-of-the-simulator';

/** What happens while the key of an account is replaced every hour. */
export interface Rotation {
  /** Calls with a key more than 60 s after it was replaced. */
  readonly late: number;
  /** The most calls that were refused because of one key. */
  readonly mostRefused: number;
  /** Calls that were refused at all: the old key is often revoked at once. */
  readonly refused: number;
  /** Texts that hold a key, or a part of one. */
  readonly leaks: readonly string[];
  /** Replaced keys that the redactor still knows, an hour and more after their end. */
  readonly remembered: number;
  /** Looks at which the values of the application were not shown. */
  readonly gaps: number;
}

function keyOf(hour: number): string {
  return `${mark}${hour}x${Math.imul(hour + 1, 0x9e3779b1) >>> 0}`;
}

/** Replaces the key every hour: every second time the old one is refused at once, else after a minute. */
export async function rotatedHourly(hours: number): Promise<Rotation> {
  const clock = createFakeClock();
  const simulator = createSimulator(
    {
      apiKeys: [vendorKey],
      latencyMs: 100,
      journalLimit: 1,
      fleet: { applications: [{ id: 101, name: 'shop', kind: 'web', hosts: 1 }] },
    },
    { clock },
  );
  const wire = inMemoryTransport(simulator);
  let hour = 0;
  let rotatedMs = 0;
  let late = 0;
  const refusals = new Map<string, number>();
  const leaks: string[] = [];
  const note = (text: string): void => {
    if (text.includes(mark) && leaks.length < 3) leaks.push(text);
  };
  const fake = createFakePlatform();
  const platform: Platform = {
    ...fake,
    clock,
    stderr: { write: note, on: () => undefined },
    readFile: async () => new TextEncoder().encode(keyOf(hour)),
    openTransport: async () => ({
      send: async (request, headers, signal) => {
        const key = headers['Api-Key'] ?? '';
        const ageMs = key === keyOf(hour) ? 0 : clock.monotonicMs() - rotatedMs;
        if (ageMs > minuteMs) late += 1;
        const isValid = key === keyOf(hour) || (hour % 2 === 1 && ageMs <= minuteMs);
        if (isValid) return wire.send(request, { ...headers, 'Api-Key': vendorKey }, signal);
        refusals.set(key, 1 + (refusals.get(key) ?? 0));
        const body = JSON.stringify({ error: { title: `The API key ${key} is invalid` } });
        return { status: 401, headers: { 'content-type': 'application/json' }, body };
      },
      close: async () => {},
    }),
  };
  const logger = await createLogger({ logLevel: 'info', logFormat: 'json' }, platform);
  const account = anAccount({ apiKey: { kind: 'file', path: '/keys/a' }, concurrency: 2 });
  const config = { accounts: [account], apps: [anEntry({ poll: { intervalMs: 10_000 } })] };
  const daemon = await createDaemon(config, { platform, logger });
  const running = daemon.run(fake.stopSignal);
  let gaps = 0;
  for (; hour < hours; ) {
    // Each time in another second of a minute.
    await clock.advance(hourMs + 7000);
    const page = Buffer.concat((await daemon.store.page()).identity).toString();
    if (!/^newrelic_application_requests_per_minute\{/mu.test(page)) gaps += 1;
    for (const text of [page, await daemon.metrics.text()]) note(text);
    note(JSON.stringify([daemon.status(), daemon.applications()]));
    hour += 1;
    rotatedMs = clock.monotonicMs();
  }
  await clock.advance(hourMs);
  const replaced = Array.from({ length: Math.max(0, hours - 2) }, (_, index) => keyOf(index));
  const remembered = replaced.filter((key) => platform.redactor.redact(key) !== key).length;
  fake.stop();
  await clock.advance(0);
  await running;
  await daemon.close();
  const counts = [...refusals.values()];
  return {
    late,
    mostRefused: Math.max(0, ...counts),
    refused: counts.reduce((sum, one) => sum + one, 0),
    leaks,
    remembered,
    gaps,
  };
}
