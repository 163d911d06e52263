import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { ApiResponse, RawTransport } from '../../src/newrelic/calls/transport.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import type { Page } from '../support/daemon-process.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { silentTransport, withServing } from '../support/serving.ts';

const discoveryIntervalMs = 77_000;

interface Served {
  readonly platform: FakePlatform;
  /** Which timers are lost from now on, by their delay. */
  lost: (delayMs: number) => boolean;
  /** Whether nothing that is sent ends, whatever its signal says. */
  isSendingHanging: boolean;
  /** Whether files are not read to the end. */
  isReadingHanging: boolean;
  readonly health: () => Promise<Page>;
}

interface ServedOptions {
  readonly requestsPerMinute?: number;
  readonly applications?: number;
  readonly config?: string;
  readonly wire?: ((wire: RawTransport, clock: FakeClock) => RawTransport) | undefined;
}

function configOf(requestsPerMinute: number): string {
  return [
    'accounts:',
    `  - { name: shops, region: us, api_key_file: /key, requests_per_minute: ${requestsPerMinute} }`,
    'poll: { discovery_interval: 77s, host_names: false }',
    'apps: [{ match: "." }]',
    '',
  ].join('\n');
}

/** A platform that loses timers and never finishes sending or reading when the test wants it to. */
function aFaultyPlatform(options: ServedOptions): Omit<Served, 'health'> {
  const clock = createFakeClock();
  const simulator = createSimulator(
    {
      apiKeys: ['NRAK-A'],
      latencyMs: 100,
      fleet: { applications: options.applications ?? 5, hosts: 20, kinds: ['web'] },
    },
    { clock },
  );
  const wire = options.wire ?? ((raw) => raw);
  const fake = createFakePlatform({
    files: {
      '/key': 'NRAK-A',
      '/config.yaml': options.config ?? configOf(options.requestsPerMinute ?? 800),
    },
    openTransport: async () => {
      const raw = wire(inMemoryTransport(simulator), clock);
      const send: RawTransport['send'] = async (...asked) => {
        while (faults.isSendingHanging) await settle();
        return raw.send(...asked);
      };
      return { ...raw, send };
    },
  });
  const faults: Omit<Served, 'health'> = {
    lost: () => false,
    isSendingHanging: false,
    isReadingHanging: false,
    platform: {
      ...fake,
      clock: {
        ...clock,
        after: (delayMs, fire) => (faults.lost(delayMs) ? () => {} : clock.after(delayMs, fire)),
      },
      readFile: async (path) => {
        while (faults.isReadingHanging) await settle();
        return fake.readFile(path);
      },
    },
  };
  return faults;
}

/** Runs `serve` until the test is done with it. */
async function serving(
  options: ServedOptions,
  use: (served: Served) => Promise<void>,
): Promise<void> {
  const faulty = aFaultyPlatform(options);
  const { platform } = faulty;
  await withServing(['--config.auto-reload-interval=0'], platform, async ({ page }) => {
    try {
      await use(Object.assign(faulty, { health: async () => page('/-/healthy') }));
    } finally {
      faulty.isSendingHanging = false;
      faulty.isReadingHanging = false;
    }
  });
}

/** The status of the probe in each of the next minutes. */
async function probed({ platform, health }: Served, minutes: number): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let minute = 0; minute < minutes; minute += 1) {
    await platform.clock.advance(minuteMs);
    statuses.push((await health()).status);
  }
  return statuses;
}

describe('/-/healthy, when the exporter itself stands still', () => {
  it.each<{ what: string; breakIt: (served: Served) => void; says: RegExp; within: number }>([
    {
      what: 'the timer of the next polls is lost, with all others',
      breakIt: (served) => {
        served.lost = () => true;
      },
      says: /^Unhealthy: account shops: a poll has been due for (\d+) s\. /u,
      within: 8,
    },
    {
      what: 'the timer of the next discovery is lost',
      breakIt: (served) => {
        served.lost = (delayMs) => delayMs === discoveryIntervalMs;
      },
      says: /^Unhealthy: account shops: a discovery has been late for (\d+) s\. /u,
      within: 9,
    },
    {
      what: 'a call does not end, whatever its signal says',
      breakIt: (served) => {
        // With the timer that would end it.
        served.isSendingHanging = true;
        served.lost = (delayMs) => delayMs === 30_000;
      },
      says: /^Unhealthy: account shops: a call has been past its timeout for (\d+) s\. /u,
      within: 11,
    },
  ])('is 503, with the account and for how long: $what', async ({ breakIt, says, within }) => {
    await serving({}, async (served) => {
      const before = await probed(served, 3);
      breakIt(served);
      const statuses = await probed(served, within);
      const { text } = await served.health();

      const firstBad = statuses.indexOf(503);
      expect(new Set(before)).toEqual(new Set([200]));
      expect(firstBad).toBeGreaterThan(3);
      expect(new Set(statuses.slice(firstBad))).toEqual(new Set([503]));
      expect(Number(says.exec(text)?.[1])).toBeGreaterThanOrEqual(300);
      expect(text).toContain('restart the exporter');
    });
  });
});

describe('/-/healthy, with two accounts', () => {
  const config = [
    'accounts:',
    '  - { name: first, region: us, api_key_file: /key }',
    '  - { name: second, region: us, api_key_file: /key }',
    'poll: { host_names: false }',
    'apps:',
    '  - { match: ".", account: first, discovery_interval: 71s }',
    '  - { match: ".", account: second, discovery_interval: 77s }',
    '',
  ].join('\n');

  it.each([
    { account: 'first', lostMs: 71_000 },
    { account: 'second', lostMs: 77_000 },
  ])('is 503 and names the $account when it alone stands still', async ({ account, lostMs }) => {
    await serving({ config }, async (served) => {
      const before = await probed(served, 3);
      served.lost = (delayMs) => delayMs === lostMs;
      const statuses = await probed(served, 9);
      const { text } = await served.health();

      expect(new Set(before)).toEqual(new Set([200]));
      expect(statuses.at(-1)).toBe(503);
      expect(text).toMatch(
        new RegExp(`^Unhealthy: account ${account}: a discovery has been late for \\d+ s\\. `, 'u'),
      );
    });
  });
});

function answering(answer: (clock: FakeClock) => ApiResponse): ServedOptions['wire'] {
  return (raw, clock) => ({ ...raw, send: async () => answer(clock) });
}

describe('/-/healthy, whatever New Relic does', () => {
  it.each<{ what: string; options: ServedOptions }>([
    { what: 'nothing at all', options: {} },
    {
      what: 'pauses of five minutes',
      options: {
        wire: answering((clock) => ({
          status: 429,
          headers: {
            date: new Date(clock.wallMs()).toUTCString(),
            'x-ratelimit-reset': String(Math.round(clock.wallMs() / 1000) + 300),
          },
          body: '{}',
        })),
      },
    },
    {
      what: 'no answer, ever',
      options: { wire: (raw) => ({ ...raw, send: silentTransport.send }) },
    },
    {
      what: 'no connection',
      options: {
        wire: (raw) => ({
          ...raw,
          send: async () => {
            throw new ApiError('connect', 'refused');
          },
        }),
      },
    },
    {
      what: 'only errors',
      options: { wire: answering(() => ({ status: 500, headers: {}, body: '' })) },
    },
    {
      what: 'a refused key',
      options: { wire: answering(() => ({ status: 401, headers: {}, body: '{}' })) },
    },
    { what: 'a budget of one call a minute', options: { requestsPerMinute: 1 } },
    {
      what: 'a list that takes a quarter of an hour',
      options: { requestsPerMinute: 1, applications: 3000 },
    },
  ])('is 200: $what', async ({ options }) => {
    await serving(options, async (served) => {
      const beforeAnything = (await served.health()).status;
      const statuses = await probed(served, 40);

      expect(beforeAnything).toBe(200);
      expect(new Set(statuses)).toEqual(new Set([200]));
    });
  });

  it('is 200 during a long stop', async () => {
    await serving({}, async (served) => {
      await probed(served, 3);
      served.isReadingHanging = true;
      await served.platform.clock.advance(2 * discoveryIntervalMs);
      served.platform.stop();

      expect(new Set(await probed(served, 20))).toEqual(new Set([200]));
    });
  });
});
