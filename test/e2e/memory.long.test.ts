import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { get, startDaemon, stopProgram, until, withFiles } from '../support/daemon-process.ts';
import { onLinux } from '../support/tools.ts';

const key = 'NRAK-MEMORY';
const mebibyte = 1024 * 1024;
/** The memory limit of the chart. */
const limitBytes = 192 * mebibyte;
/**
 * Outside a container Node.js would let the heap grow with the machine; the documents name this. In a
 * container of 192 MiB its young generation is smaller by itself.
 */
const heap = '--max-old-space-size=96 --max-semi-space-size=4';
const badAccounts = ['bad-1', 'bad-2', 'bad-3'];

const blanks = Buffer.alloc(64 * 1024, ' ');

function* times(count: number, part: Buffer): Generator<Buffer> {
  for (let time = 0; time < count; time += 1) yield part;
}

/** `size` bytes of blanks, and then a document. */
function* padded(size: number, document: string): Generator<Buffer> {
  yield* times(Math.floor(size / blanks.length), blanks);
  yield Buffer.from(document);
}

/** A document of so many equal elements. */
function* list(count: number, element: string): Generator<Buffer> {
  const atATime = 1000;
  yield Buffer.from('{"applications":[');
  yield* times(Math.floor(count / atATime), Buffer.from(`${element},`.repeat(atATime)));
  yield Buffer.from(`${element}]}`);
}

const bodies: Readonly<Record<string, () => Iterable<Buffer>>> = {
  'a gigabyte of spaces': () => times(16_384, blanks),
  '15.9 MB of blanks and then valid JSON': () => padded(15.9e6, '{"applications":[]}'),
  '1.9 million small objects': () => list(1_900_000, '{"a":1}'),
  'as many numbers as are taken': () => list(520_000, '12345'),
  'as many objects as are taken, with long ids': () => list(58_000, '{"id":1234567890123456789}'),
};

/** A vendor whose lists are good until `isBad`, and whose other answers never are. */
async function badVendor(
  simulator: Simulator,
  body: () => Iterable<Buffer>,
): Promise<{ readonly url: string; asked(): number; listsAsked(): number; listsAreBad(): void }> {
  let [asked, listsAsked, areListsBad] = [0, 0, false];
  const server = createServer((request: IncomingMessage, response) => {
    response.on('error', () => undefined);
    const isList = request.url?.startsWith('/v2/applications.json') === true;
    if (isList && !areListsBad) {
      simulator.handle(request, response);
      return;
    }
    asked += 1;
    if (isList) listsAsked += 1;
    response.writeHead(200, { 'content-type': 'application/json' });
    pipeline(Readable.from(body()), response).catch(() => undefined);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked: () => asked,
    listsAsked: () => listsAsked,
    listsAreBad: () => {
      areListsBad = true;
    },
  };
}

function configOf(good: string, bad: string): string {
  const account = (name: string, url: string): string =>
    `  - { name: ${name}, base_url: "${url}", api_key_env: KEY, requests_per_minute: 6000 }\n`;
  return [
    'accounts:\n',
    account('good', good),
    ...badAccounts.map((name) => account(name, bad)),
    'poll: { interval: 1s, discovery_interval: 1s }\napps:\n',
    ...['good', ...badAccounts].map((name) => `  - { match: ".", account: ${name} }\n`),
  ].join('');
}

function peakBytes(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/mu.exec(status)?.[1]) * 1024;
}

/** How many polls of an account have ended. */
async function polls(url: string, account: string): Promise<number> {
  const { text } = await get(`${url}/metrics`);
  const line = new RegExp(`^newrelic_exporter_polls_total\\{account="${account}"\\} (\\d+)$`, 'mu');
  return Number(line.exec(text)?.[1] ?? 0);
}

describe.skipIf(onLinux.skip)(`a daemon with the memory of the chart${onLinux.note}`, () => {
  it.each(Object.keys(bodies))(
    'survives three accounts that are answered with %s, and polls the fourth',
    async (what) => {
      const simulator = createSimulator(
        {
          apiKeys: [key],
          ingestDelayMs: 0,
          fleet: { applications: 4, hosts: 10 },
          quotaPerMinute: 1e6,
        },
        { clock: createSystemClock() },
      );
      const { baseUrl } = await simulator.start();
      onTestFinished(async () => simulator.stop());
      const vendor = await badVendor(simulator, bodies[what] ?? (() => []));
      await withFiles({ 'config.yaml': configOf(baseUrl, vendor.url) }, async (directory) => {
        const daemon = await startDaemon([`--config.file=${directory}/config.yaml`], {
          KEY: key,
          NODE_OPTIONS: heap,
        });
        try {
          await until(() => (vendor.asked() >= 60 ? true : undefined));
          vendor.listsAreBad();
          const before = await polls(daemon.url, 'good');
          // The first list of each account, and two repetitions.
          await until(() => (vendor.listsAsked() >= 3 * badAccounts.length ? true : undefined));
          await until(async () =>
            (await polls(daemon.url, 'good')) >= before + 4 ? true : undefined,
          );
          await until(async () =>
            (await get(`${daemon.url}/metrics`)).text.includes('newrelic_up{account="bad-1"} 0')
              ? true
              : undefined,
          );
          const peak = peakBytes(daemon.child.pid);
          const { text } = await get(`${daemon.url}/metrics`);

          expect(daemon.child.exitCode).toBeNull();
          expect(text).toContain('newrelic_up{account="good"} 1');
          expect(peak).toBeLessThan(limitBytes);
        } finally {
          await stopProgram(daemon);
        }
      });
    },
  );
});
