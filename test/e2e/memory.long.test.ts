import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import type { Intercept, SimulatorOptions } from '../../src/simulator/simulator-options.ts';
import { get, startDaemon, stopProgram, until, withFiles } from '../support/daemon-process.ts';
import { onLinux } from '../support/tools.ts';

const key = 'NRAK-MEMORY';
const mebibyte = 1024 * 1024;
/** The chart's memory limit, without what the parent of `--respawn` takes. */
const limitBytes = (192 - 25) * mebibyte;
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
function* list(count: number, element: string, start: string): Generator<Buffer> {
  const atATime = 1000;
  yield Buffer.from(start);
  yield* times(Math.floor(count / atATime), Buffer.from(`${element},`.repeat(atATime)));
  yield Buffer.from(`${element}]}`);
}

const applications = '{"applications":[';
const entities = '{"data":{"actor":{"entitySearch":{"results":{"entities":[';
const rows = '{"data":{"actor":{"account":{"nrql":{"results":[';
const row = '{"facet":["1","host"],"appId":"1","host":"host","calls":1}';

interface Attack {
  readonly source: 'rest' | 'nerdgraph';
  readonly what: string;
  readonly body: () => Iterable<Buffer>;
  /** Whether the body has chunks of its own for the transfer. */
  readonly isRaw?: boolean;
}

const attacks: readonly Attack[] = [
  { source: 'rest', what: 'a gigabyte of spaces', body: () => times(16_384, blanks) },
  {
    source: 'rest',
    what: '2 MB that come byte by byte',
    body: () => times(20, Buffer.from('1\r\n \r\n'.repeat(100_000))),
    isRaw: true,
  },
  {
    source: 'rest',
    what: '15.9 MB of blanks and then valid JSON',
    body: () => padded(15.9e6, '{"applications":[]}'),
  },
  {
    source: 'rest',
    what: '1.9 million small objects',
    body: () => list(1_900_000, '{"a":1}', applications),
  },
  {
    source: 'rest',
    what: 'as many small objects as are taken',
    body: () => list(74_000, '{"a":1234567890}', applications),
  },
  {
    source: 'rest',
    what: 'as many numbers as are taken',
    body: () => list(520_000, '12345', applications),
  },
  {
    source: 'rest',
    what: 'as many objects as are taken, with long ids',
    body: () => list(74_000, '{"id":1234567890123456789}', applications),
  },
  { source: 'nerdgraph', what: 'a gigabyte of spaces', body: () => times(16_384, blanks) },
  {
    source: 'nerdgraph',
    what: 'as many applications as are taken, with long ids',
    body: () => closed(list(24_000, '{"applicationId":1234567890123456789}', entities), 4),
  },
  {
    source: 'nerdgraph',
    what: 'as many rows as are taken',
    body: () => closed(list(29_000, row, rows), 4),
  },
  {
    source: 'nerdgraph',
    what: 'as many rows as are taken, none of which can be read',
    body: () => closed(list(74_000, '{"calls":123456}', rows), 4),
  },
];

/** A document with so many braces more at its end. */
function* closed(document: Iterable<Buffer>, braces: number): Generator<Buffer> {
  yield* document;
  yield Buffer.from('}'.repeat(braces));
}

/** A vendor whose lists are good until `listsAreBad`, and whose other answers never are. */
async function badVendor(
  fleet: SimulatorOptions,
  { body, isRaw = false }: Attack,
): Promise<{ readonly url: string; asked(): number; listsAsked(): number; listsAreBad(): void }> {
  let [asked, listsAsked, areListsBad] = [0, 0, false];
  const intercept: Intercept = ({ path, graphql }, response) => {
    const isList =
      path === '/v2/applications.json' ||
      graphql?.asks.some(({ operation }) => operation === 'entity_search') === true;
    if (isList && !areListsBad) return 'pass';
    asked += 1;
    if (isList) listsAsked += 1;
    response.on('error', () => undefined);
    response.writeHead(200, { 'content-type': 'application/json' });
    const { socket } = response;
    if (isRaw && socket !== null) {
      response.flushHeaders();
      pipeline(Readable.from(body()), socket).catch(() => undefined);
    } else {
      pipeline(Readable.from(body()), response).catch(() => undefined);
    }
    return 'handled';
  };
  const simulator = createSimulator({ ...fleet, intercept }, { clock: createSystemClock() });
  const { baseUrl } = await simulator.start();
  onTestFinished(async () => simulator.stop());
  return {
    url: baseUrl,
    asked: () => asked,
    listsAsked: () => listsAsked,
    listsAreBad: () => {
      areListsBad = true;
    },
  };
}

function configOf(source: Attack['source'], good: string, bad: string): string {
  const account = (name: string, url: string): string =>
    `  - { name: ${name}, base_url: "${url}", api_key_env: KEY, requests_per_minute: 6000, source: ${source}, account_id: 1234567 }\n`;
  return [
    'accounts:\n',
    account('good', good),
    ...badAccounts.map((name) => account(name, bad)),
    'poll: { interval: 1s, discovery_interval: 1s }\napps:\n',
    ...['good', ...badAccounts].map((name) => `  - { match: ".", account: ${name} }\n`),
  ].join('');
}

/**
 * What a container is killed for when it is too much. The pages of the program itself, 50 to 60 MiB with
 * Node.js 24, are not part of it: the kernel drops them and reads them again.
 */
function watchMemory(child: ChildProcess): { peakBytes(): number } {
  let peak = 0;
  const look = (): void => {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    const kilobytes = Number(/^RssAnon:\s+(\d+) kB$/mu.exec(status)?.[1]);
    peak = Math.max(peak, kilobytes * 1024);
  };
  const timer = setInterval(look, 10);
  child.once('exit', () => {
    clearInterval(timer);
  });
  return {
    peakBytes: () => {
      look();
      return peak;
    },
  };
}

/** How many polls of an account have ended. */
async function polls(url: string, account: string): Promise<number> {
  const { text } = await get(`${url}/metrics`);
  const line = new RegExp(`^newrelic_exporter_polls_total\\{account="${account}"\\} (\\d+)$`, 'mu');
  return Number(line.exec(text)?.[1] ?? 0);
}

describe.skipIf(onLinux.skip)(`5.2 a daemon with the memory of the chart${onLinux.note}`, () => {
  it.each(attacks)(
    'survives three accounts of the source $source that are answered with $what, and polls the fourth',
    async (attack) => {
      const { source } = attack;
      const fleet: SimulatorOptions = {
        apiKeys: [key],
        ingestDelayMs: 0,
        fleet: { applications: 4, hosts: 10 },
        quotaPerMinute: 1e6,
        graphql: { nrqlPerMinute: 1e6, repeatsPerMinute: 1e6 },
      };
      const simulator = createSimulator(fleet, { clock: createSystemClock() });
      const { baseUrl } = await simulator.start();
      onTestFinished(async () => simulator.stop());
      const vendor = await badVendor(fleet, attack);
      await withFiles(
        { 'config.yaml': configOf(source, baseUrl, vendor.url) },
        async (directory) => {
          const daemon = await startDaemon([`--config.file=${directory}/config.yaml`], {
            KEY: key,
            NODE_OPTIONS: heap,
          });
          const memory = watchMemory(daemon.child);
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
            const peak = memory.peakBytes();
            const { text } = await get(`${daemon.url}/metrics`);

            expect(daemon.child.exitCode).toBeNull();
            expect(text).toContain('newrelic_up{account="good"} 1');
            expect(peak).toBeLessThan(limitBytes);
          } finally {
            await stopProgram(daemon);
          }
        },
      );
    },
  );
});
